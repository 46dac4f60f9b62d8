package docset

import "math/bits"

// WordDocs is the least mean number of docIDs in a word for which a list has Words.
const WordDocs = 3

// Words is a list as a bitset without zero words: bit x%64 of Bits[i] is docID x with
// x/64 = Index[i]. Indexes ascend.
type Words struct {
	Index []uint32
	Bits  []uint64
}

// CountWords returns the number of words of docs.
func CountWords(docs []uint32) int {
	n := min(len(docs), 1)
	for i := 1; i < len(docs); i++ {
		n += 1 - Equal(docs[i-1]/64, docs[i]/64)
	}
	return n
}

// NewWords returns the n words of ascending docs.
func NewWords(docs []uint32, n int) Words {
	w := Words{make([]uint32, 0, n), make([]uint64, 0, n)}
	for i, x := range docs {
		if i == 0 || x/64 != docs[i-1]/64 {
			w.Index, w.Bits = append(w.Index, x/64), append(w.Bits, 0)
		}
		w.Bits[len(w.Bits)-1] |= 1 << (x % 64)
	}
	return w
}

// And writes the words of w AND set that are not zero to the front of dst, which is as long as w
// and may be w, and returns them and the number of bits set.
func (w Words) And(dst Words, set []uint32) (and Words, n int) {
	index, from := dst.Index[:len(w.Index)], w.Bits[:len(w.Index)]
	some := dst.Bits[:len(index)]
	words := 0
	for i, k := range w.Index {
		x := uint64(0)
		if at := 2 * int(k); at+1 < len(set) {
			x = from[i] & (uint64(set[at]) | uint64(set[at+1])<<32)
		}
		index[words], some[words] = k, x
		if x != 0 {
			words++
		}
		n += bits.OnesCount64(x)
	}
	return Words{index[:words], some[:words]}, n
}

// CountAnd returns the number of bits set in w AND set.
func (w Words) CountAnd(set []uint32) (n int) {
	from := w.Bits[:len(w.Index)]
	for i, k := range w.Index {
		if at := 2 * int(k); at+1 < len(set) {
			n += bits.OnesCount64(from[i] & (uint64(set[at]) | uint64(set[at+1])<<32))
		}
	}
	return n
}

// NonZero writes the words of set that are not zero to the front of dst, which is as long as set, and
// returns them. The first word has index first.
func NonZero(dst Words, set []uint64, first uint32) Words {
	index, some := dst.Index[:len(set)], dst.Bits[:len(set)]
	n := 0
	for i, x := range set {
		index[n], some[n] = first+uint32(i), x
		if x != 0 {
			n++
		}
	}
	return Words{index[:n], some[:n]}
}

// Expand writes the docIDs of w to dst and returns their number. dst has room for Slack more.
func (w Words) Expand(dst []uint32) (n int) {
	set := w.Bits[:len(w.Index)]
	for i, k := range w.Index {
		left := bits.OnesCount64(set[i])
		if left <= fewBits {
			expandFew((*[fewBits]uint32)(dst[n:]), set[i], 64*k)
		} else {
			expandWord((*[64]uint32)(dst[n:]), set[i], 64*k)
		}
		n += left
	}
	return n
}

// Or adds the words from at on, up to index last, to acc, and returns the position of the
// next word. acc begins at a multiple of ChunkDocs.
func (w Words) Or(acc *Chunk, at int, last uint32) int {
	index := w.Index[at:]
	set := w.Bits[at:][:len(index)]
	for i, k := range index {
		if k > last {
			return at + i
		}
		acc[k%(ChunkDocs/64)] |= set[i]
	}
	return at + len(index)
}

// Filter copies the candidates that the list contains to the front of dst, which is at least
// as long as cand and may be cand, and returns their number. It goes through both in order,
// from word at on; next is the at of the next call.
func (w Words) Filter(dst, cand []uint32, at int) (n, next int) {
	for len(cand) > 0 {
		k := cand[0] / 64
		if at += Gallop(w.Index[at:], k); at == len(w.Index) {
			break
		}
		if k = w.Index[at]; cand[0]/64 != k {
			cand = cand[Gallop(cand, k*64):]
			continue
		}
		set := w.Bits[at]
		in := 0
		if set == ^uint64(0) {
			if in = Gallop(cand, k*64+63); in < len(cand) && cand[in] == k*64+63 {
				in++
			}
			n += copy(dst[n:], cand[:in])
		} else {
			for ; in < len(cand) && cand[in]/64 == k; in++ {
				x := cand[in]
				dst[n] = x
				n += int(set >> (x % 64) & 1)
			}
		}
		cand = cand[in:]
	}
	return n, at
}
