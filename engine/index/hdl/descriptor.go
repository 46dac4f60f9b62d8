package hdl

import (
	"encoding/binary"

	"heddle/codec"
)

// descriptor is the place and the length of the two halves of a list that the sections docids
// and freqs hold. Lists lie in the order of their handles without gaps, except for the alignment
// of docIDs.
type descriptor struct {
	off       uint64   // first docID word, from the start of its section, in words
	freqOff   uint64   // first frequency word, likewise
	tokens    uint64   // sum of the frequencies
	words     uint32   // docID words
	freqWords uint32   // frequency words
	len       uint32   // docIDs
	codec     codec.ID // codec of the docIDs
	inline    bool     // the words are in memory alone, made from the postings in section lists
}

// maxInline is the largest number of docIDs of a list in its descriptor, a segment.
const maxInline = codec.SegmentLen

// append appends the descriptor of a list that is not inline.
func (d *descriptor) append(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(d.len)<<1)
	dst = append(dst, byte(d.codec))
	dst = binary.AppendUvarint(dst, uint64(d.words))
	dst = binary.AppendUvarint(dst, uint64(d.freqWords))
	return binary.AppendUvarint(dst, d.tokens-uint64(d.len))
}

// appendInline appends the descriptor of a list with its postings.
func appendInline(dst []byte, docs, freqs []uint32) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(docs))<<1|1)
	next := uint32(0) // docID that a gap of 0 means
	for i, doc := range docs {
		gap := uint64(doc-next) << 1
		if next = doc + 1; freqs[i] == 1 {
			dst = binary.AppendUvarint(dst, gap|1)
		} else {
			dst = binary.AppendUvarint(binary.AppendUvarint(dst, gap), uint64(freqs[i]-2))
		}
	}
	return dst
}

// fields reads numbers from the bytes of descriptors. After bytes that end too early, or a
// number that is too large, bad is true and all numbers are 0.
type fields struct {
	rest []byte
	bad  bool
}

// number reads a number of at most limit.
func (f *fields) number(limit uint64) uint64 {
	v, n := binary.Uvarint(f.rest)
	if n <= 0 || v > limit {
		f.rest, f.bad = nil, true
		return 0
	}
	f.rest = f.rest[n:]
	return v
}
