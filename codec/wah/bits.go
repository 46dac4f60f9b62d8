package wah

import "math/bits"

// The functions of this file read the words from the start up to the answer. For invalid
// words they return arbitrary numbers.

// Count returns the number of ones.
func Count[W Word](words []W) (n uint64) {
	top, lens := GroupBits[W](), value[W]()-1
	groups := uint64(0) // groups in fills of ones
	for _, w := range words {
		fill := -(w >> top)
		ones := -(w >> (top - 1) & 1) & fill
		n += uint64(bits.OnesCount64(uint64(w &^ fill)))
		groups += uint64(w & lens & ones)
	}
	return n + groups*top
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
