// Package rowset converts between sets of rows: plain bitsets (results of stores), lists
// of row ids, ranges, Roaring bitmaps and compressed vectors. In a plain bitset row r is
// bit r%64 of word r/64. Its functions are pure; results share no memory with arguments.
package rowset

import (
	"fmt"
	"iter"
	"math"
	"math/bits"
	"slices"

	"heddle/codec/wah"
)

// Count returns the number of rows of a bitset.
func Count(set []uint64) (n int) {
	for _, w := range set {
		n += bits.OnesCount64(w)
	}
	return n
}

// All returns the bitset of all of n rows.
func All(n uint32) []uint64 {
	set := make([]uint64, wah.Bitset(uint64(n)))
	for i := range set {
		set[i] = ^uint64(0)
	}
	if n %= 64; n > 0 {
		set[len(set)-1] = 1<<n - 1
	}
	return set
}

// AppendIDs appends the rows of a bitset to dst, ascending.
func AppendIDs(dst []uint32, set []uint64) []uint32 {
	n := Count(set)
	return AppendFirst(slices.Grow(dst, n), set, n)
}

// AppendFirst appends the first n rows of a bitset to dst, ascending; all if there are fewer. It reads the words up to
// row n once. Runs are faster if dst has room for them.
func AppendFirst(dst []uint32, set []uint64, n int) []uint32 {
	end := n + len(dst)
	if end < n { // n is as good as no limit
		end = math.MaxInt
	}
	for i := next(set, 0, 0) / 64; i < len(set) && len(dst) < end; i++ {
		w := set[i]
		if w == ^uint64(0) && min(end, cap(dst))-len(dst) >= 64 { // within a run
			dst = dst[:len(dst)+64]
			run := (*[64]uint32)(dst[len(dst)-64:])
			for k := 0; k < len(run); k += 8 {
				r, id := (*[8]uint32)(run[k:]), uint32(64*i+k)
				r[0], r[1], r[2], r[3] = id, id+1, id+2, id+3
				r[4], r[5], r[6], r[7] = id+4, id+5, id+6, id+7
			}
			continue
		}
		for ; w != 0 && len(dst) < end; w &= w - 1 {
			dst = append(dst, uint32(64*i+bits.TrailingZeros64(w)))
		}
	}
	return dst
}

// FromIDs is the bitset of some rows of a table with the given number of rows. Ids may come in any order.
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
		for len(set)-i > 8 { // eight words at a time
			if s := (*[8]uint64)(set[i+1:]); (s[0]^flip)|(s[1]^flip)|(s[2]^flip)|(s[3]^flip)|(s[4]^flip)|(s[5]^flip)|(s[6]^flip)|(s[7]^flip) != 0 {
				break
			}
			i += 8
		}
	}
	return 64 * len(set)
}
