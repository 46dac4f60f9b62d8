package wah

import "math/bits"

// The functions of this file read the words from the start up to the answer. For invalid
// words they return arbitrary numbers.

// Count returns the number of ones.
func Count[W Word](words []W) (n uint64) {
	top, lens := GroupBits[W](), value[W]()-1
	groups := uint64(0) // of fills of ones
	for _, w := range words {
		fill := -(w >> top)
		ones := -(w >> (top - 1) & 1) & fill
		n += uint64(bits.OnesCount64(uint64(w &^ fill)))
		groups += uint64(w & lens & ones)
	}
	return n + groups*top
}

// onesOf returns the number of ones of a word.
func onesOf[W Word](w W) uint64 {
	if IsFill(w) {
		group, n := FillOf(w)
		if group == 0 {
			return 0
		}
		return n * GroupBits[W]()
	}
	return uint64(bits.OnesCount64(uint64(w)))
}

// rowsOf returns the number of rows of a word.
func rowsOf[W Word](w W) uint64 {
	if IsFill(w) {
		_, n := FillOf(w)
		return n * GroupBits[W]()
	}
	return GroupBits[W]()
}

// Bit tells whether a row is 1. It is false after the last row.
func Bit[W Word](words []W, row uint64) bool {
	for _, w := range words {
		n := rowsOf(w)
		if row < n {
			if IsFill(w) {
				return w&value[W]() != 0
			}
			return w>>row&1 != 0
		}
		row -= n
	}
	return false
}

// Rank returns the number of ones in the rows below row.
func Rank[W Word](words []W, row uint64) (n uint64) {
	for _, w := range words {
		rows := rowsOf(w)
		if row < rows {
			if !IsFill(w) {
				return n + uint64(bits.OnesCount64(uint64(w)&(1<<row-1)))
			}
			if w&value[W]() != 0 {
				n += row
			}
			return n
		}
		n += onesOf(w)
		row -= rows
	}
	return n
}

// Select returns the row of the one with rank i, counted from 0, and false if the vector
// has fewer ones.
func Select[W Word](words []W, i uint64) (row uint64, ok bool) {
	for _, w := range words {
		ones := onesOf(w)
		if i < ones {
			if IsFill(w) {
				return row + i, true
			}
			for ; i > 0; i-- {
				w &= w - 1
			}
			return row + uint64(bits.TrailingZeros64(uint64(w))), true
		}
		i -= ones
		row += rowsOf(w)
	}
	return 0, false
}
