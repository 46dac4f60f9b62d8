package devicetest

import (
	"encoding/binary"
	"math/rand/v2"

	"heddle/codec"
	"heddle/engine/plan"
)

// Damage changes words, length or number of docIDs of the only list of src.
func Damage(r *rand.Rand, src *plan.Source, h plan.Handle) {
	l := &src.Lists[h]
	switch r.IntN(4) {
	case 0: // words cut off
		l.Words = r.Uint32N(l.Words + 1)
		src.Words = src.Words[:l.Words]
	case 1: // more docIDs than were encoded
		l.Len += r.Uint32N(1 << r.IntN(32))
	case 2: // noise
		bytes := make([]byte, 4)
		for i := range src.Words {
			binary.LittleEndian.PutUint32(bytes, r.Uint32())
			src.Words[i] = binary.LittleEndian.Uint32(bytes)
		}
	}
	for range 1 + r.IntN(8) {
		if len(src.Words) > 0 {
			i := r.IntN(len(src.Words))
			src.Words[i] = [...]uint32{0, 1, 1 << 31, 0xffffffff, src.Words[i] ^ 1<<r.IntN(32), r.Uint32()}[r.IntN(6)]
		}
	}
}

// ListsOf makes a source of lists of so many words, one behind the other.
func ListsOf(words ...uint32) *plan.Source {
	src := &plan.Source{Docs: 1<<32 - 1}
	off := uint64(0)
	for _, n := range words {
		src.Lists = append(src.Lists, plan.List{Off: off, Words: n, Len: n, Codec: codec.Raw})
		off += (uint64(n) + plan.ListAlign - 1) / plan.ListAlign * plan.ListAlign
	}
	return src
}
