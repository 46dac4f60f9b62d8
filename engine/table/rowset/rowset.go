// Package rowset converts between sets of rows: plain bitsets (results of stores), lists
// of row ids, ranges, Roaring bitmaps and compressed vectors. In a plain bitset row r is
// bit r%64 of word r/64. Its functions are pure; results share no memory with arguments.
package rowset

import (
	"fmt"
	"iter"
	"math/bits"
	"slices"

	"heddle/codec/wah"
)

// AppendIDs appends the rows of a bitset to dst, ascending.
func AppendIDs(dst []uint32, set []uint64) []uint32 {
	n := 0
	for _, w := range set {
		n += bits.OnesCount64(w)
	}
	dst = slices.Grow(dst, n)
	for i, w := range set {
		for ; w != 0; w &= w - 1 {
			dst = append(dst, uint32(64*i+bits.TrailingZeros64(w)))
		}
	}
	return dst
}

// FromIDs is the bitset of some of so many rows, whose ids may come in any order.
func FromIDs(ids []uint32, rows uint32) ([]uint64, error) {
	set := make([]uint64, wah.Bitset(uint64(rows)))
	for i, id := range ids {
		if id >= rows {
			return nil, fmt.Errorf("id %d of the list is row %d, there are %d", i, id, rows)
		}
		set[id/64] |= 1 << (id % 64)
	}
	return set, nil
}

// Ranges yields the rows of a bitset as ranges, ascending and as long as they are: the
// first and the last row of each.
func Ranges(set []uint64) iter.Seq2[uint32, uint32] {
	return func(yield func(first, last uint32) bool) {
		for end := 0; ; {
			first := next(set, end, 0)
			if end = next(set, first, ^uint64(0)); first == end || !yield(uint32(first), uint32(end-1)) {
				return
			}
		}
	}
}

// next is the first one in set XOR flip from bit at on, or the end.
func next(set []uint64, at int, flip uint64) int {
	below := uint64(1)<<(at%64) - 1
	for i := at / 64; i < len(set); i++ {
		if w := (set[i] ^ flip) &^ below; w != 0 {
			return 64*i + bits.TrailingZeros64(w)
		}
		below = 0
	}
	return 64 * len(set)
}
