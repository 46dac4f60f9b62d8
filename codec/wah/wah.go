// Package wah compresses bit vectors with the word-aligned hybrid code (Wu et al. 2002,
// Nelson et al. 2020). Groups are 31 bits in 32-bit words, or 63 bits in 64-bit words.
// The package has pure functions on slices of words, which the caller owns.
//
// A vector of n bits has ceil(n/G) groups, where G is 31 or 63. Row r is bit r%G of group
// r/G, counted from the least significant bit. The highest bit of a word tells its kind:
//
//	0  a literal: the lower G bits are the bits of one group
//	1  a fill: the next bit is the value of all its bits, the lower 30 or 62 bits are
//	   its number of groups, at least 1
//
// Bits of the last group beyond n are 0. A group of equal bits is part of a fill. A fill
// follows a fill of the same value only if that one is full. So each vector has exactly
// one code, and an incomplete last group is a literal unless all its bits are 0.
//
// Validate and Decompress take any words and return the vector or ErrCorrupt. All other
// functions require valid words. For invalid words they return the answer for some vector,
// without an error, in no more time.
package wah

import (
	"fmt"

	"heddle/codec"
)

// Word is a word of a vector.
type Word interface{ uint32 | uint64 }

// GroupBits returns the number of rows of a group: 31 or 63.
func GroupBits[W Word]() uint64 {
	if ^W(0)>>31>>1 != 0 {
		return 63
	}
	return 31
}

// flag is the highest bit of a word: it is set in a fill.
func flag[W Word]() W { return W(1) << GroupBits[W]() }

// value is the second highest bit of a fill: the value of its rows.
func value[W Word]() W { return W(1) << (GroupBits[W]() - 1) }

// MaxFill returns the greatest number of groups of one fill.
func MaxFill[W Word]() uint64 { return uint64(value[W]() - 1) }

// Ones returns a group of ones. In a vector such a group is part of a fill.
func Ones[W Word]() W { return flag[W]() - 1 }

// IsFill tells whether a word is a fill.
func IsFill[W Word](w W) bool { return w&flag[W]() != 0 }

// FillOf returns the bits of each group of a fill, and the number of groups.
func FillOf[W Word](w W) (group W, n uint64) {
	if w&value[W]() != 0 {
		group = Ones[W]()
	}
	return group, uint64(w & (value[W]() - 1))
}

// Groups returns the number of groups of a vector of bits bits.
func Groups[W Word](bits uint64) uint64 {
	g := GroupBits[W]()
	return bits/g + (bits%g+g-1)/g
}

// ErrCorrupt matches, through errors.Is, every error about invalid words.
var ErrCorrupt = codec.ErrCorrupt

func corrupt[W Word](word int, format string, args ...any) error {
	return fmt.Errorf("wah%d: word %d: %s: %w", GroupBits[W]()+1, word, fmt.Sprintf(format, args...), ErrCorrupt)
}

// Validate checks that words are the code of a vector of bits bits.
func Validate[W Word](words []W, bits uint64) error {
	groups, at, before := Groups[W](bits), uint64(0), W(0)
	flag, top, lens := flag[W](), GroupBits[W](), value[W]()-1
	for i, w := range words { // without unpredictable branches
		fill := -(w >> top) // all ones for a fill, 0 for a literal
		n := w&lens&fill | 1&^fill
		equal := ((w - 1) | (w + 1)) &^ fill // has the flag for a literal of equal bits
		goesOn := w & before &^ ((w ^ before) << 1)
		before = w
		if at += uint64(n); (equal|goesOn)&flag != 0 || n == 0 || at > groups {
			if err := fault(words, i, groups, at-uint64(n)); err != nil {
				return err
			}
		}
	}
	if at != groups {
		return corrupt[W](len(words), "ends after %d of %d groups", at, groups)
	}
	if r := bits % GroupBits[W](); r != 0 {
		group := before
		if IsFill(group) {
			group, _ = FillOf(group)
		}
		if group>>r != 0 {
			return corrupt[W](len(words)-1, "bits beyond the %d of the vector", bits)
		}
	}
	return nil
}

// fault returns the mistake in word i, which follows at groups, or nil.
func fault[W Word](words []W, i int, groups, at uint64) error {
	w, n := words[i], uint64(1)
	if IsFill(w) {
		if _, n = FillOf(w); n == 0 {
			return corrupt[W](i, "a fill of no groups")
		}
		if i > 0 && IsFill(words[i-1]) && (words[i-1]^w)&value[W]() == 0 {
			if _, before := FillOf(words[i-1]); before < MaxFill[W]() {
				return corrupt[W](i, "a fill that continues the fill before it")
			}
		}
	} else if w == 0 || w == Ones[W]() {
		return corrupt[W](i, "a literal of equal bits")
	}
	if n > groups-at {
		return corrupt[W](i, "%d groups after %d of %d", n, at, groups)
	}
	return nil
}
