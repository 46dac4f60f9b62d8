package hdl

import (
	"encoding/binary"

	"heddle/codec"
)

// listSize is the size of a list descriptor, in bytes.
const listSize = 40

// descriptor is the place and the length of the two halves of a list. Lists lie in the
// order of their handles without gaps, except for the alignment of docIDs.
type descriptor struct {
	off       uint64   // first docID word, from the start of its section, in words
	freqOff   uint64   // first frequency word, likewise
	tokens    uint64   // sum of the frequencies
	words     uint32   // docID words
	freqWords uint32   // frequency words
	len       uint32   // docIDs
	codec     codec.ID // of the docIDs
	reserved  uint32   // three zero bytes
}

func (d *descriptor) append(dst []byte) []byte {
	le := binary.LittleEndian
	dst = le.AppendUint64(dst, d.off)
	dst = le.AppendUint64(dst, d.freqOff)
	dst = le.AppendUint64(dst, d.tokens)
	dst = le.AppendUint32(dst, d.words)
	dst = le.AppendUint32(dst, d.freqWords)
	dst = le.AppendUint32(dst, d.len)
	return le.AppendUint32(dst, uint32(d.codec)|d.reserved<<8)
}

// descriptorAt reads descriptor i of a section.
func descriptorAt(lists []byte, i uint32) (d descriptor) {
	p := lists[uint64(i)*listSize:][:listSize]
	le := binary.LittleEndian
	d.off, d.freqOff, d.tokens = le.Uint64(p), le.Uint64(p[8:]), le.Uint64(p[16:])
	d.words, d.freqWords, d.len = le.Uint32(p[24:]), le.Uint32(p[28:]), le.Uint32(p[32:])
	tail := le.Uint32(p[36:])
	d.codec, d.reserved = codec.ID(tail), tail>>8
	return d
}
