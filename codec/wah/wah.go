// Package wah is the word-aligned hybrid code of bit vectors (Wu et al. 2002, Nelson
// et al. 2020): groups of 31 bits in 32-bit words, or of 63 bits in 64-bit words. It
// is a set of pure functions on slices of words; the caller owns them.
//
// A vector of n bits has ceil(n/G) groups, G being 31 or 63; row r is bit r%G of
// group r/G, counted from the least significant. A word is, by its highest bit,
//
//	0  a literal: the lower G bits are those of one group
//	1  a fill: the next bit is the value of all its bits, the other 30 or 62 are the
//	   number of groups that it stands for, at least 1
//
// Bits of the last group beyond n are 0. A group of which all bits are equal is part
// of a fill, and no fill follows one of its own value that could hold it too: there is
// one code of a vector. A last group that is not whole is therefore a literal, unless
// it is all 0.
//
// Validate and Decompress take any words: they give the vector or an ErrCorrupt. All
// else is for words that are valid; others it takes for some vector, without an error,
// and reads none of them more often than it would.
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

// The parts of a word.
func flag[W Word]() W  { return W(1) << GroupBits[W]() }       // of fills
func value[W Word]() W { return W(1) << (GroupBits[W]() - 1) } // of the bits of a fill

// MaxFill returns the number of groups that one word can stand for.
func MaxFill[W Word]() uint64 { return uint64(value[W]() - 1) }

// Ones returns a literal of ones, which only stands for a value: in a vector it is a fill.
func Ones[W Word]() W { return flag[W]() - 1 }

// IsFill tells fills from literals.
func IsFill[W Word](w W) bool { return w&flag[W]() != 0 }

// FillOf returns the bits of one of the groups of a fill, and their number.
func FillOf[W Word](w W) (group W, n uint64) {
	if w&value[W]() != 0 {
		group = Ones[W]()
	}
	return group, uint64(w & (value[W]() - 1))
}

// Groups returns the number of groups of a vector of so many bits.
func Groups[W Word](bits uint64) uint64 {
	g := GroupBits[W]()
	return bits/g + (bits%g+g-1)/g
}

// ErrCorrupt is what errors.Is finds where words are no vector.
var ErrCorrupt = codec.ErrCorrupt

func corrupt[W Word](word int, format string, args ...any) error {
	return fmt.Errorf("wah%d: word %d: %s: %w", GroupBits[W]()+1, word, fmt.Sprintf(format, args...), ErrCorrupt)
}

// Validate checks that words are the code of a vector of so many bits, as AppendTo of
// a Builder writes it.
func Validate[W Word](words []W, bits uint64) error {
	groups, at, before := Groups[W](bits), uint64(0), W(0)
	flag, top, lens := flag[W](), GroupBits[W](), value[W]()-1
	for i, w := range words { // with no branch on what nobody can foresee
		fill := -(w >> top) // no bits of a literal
		n := w&lens&fill | 1&^fill
		equal := ((w - 1) | (w + 1)) &^ fill // has the flag of a literal of equal bits
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

// fault says what is wrong with word i, behind at groups, if anything is.
func fault[W Word](words []W, i int, groups, at uint64) error {
	w, n := words[i], uint64(1)
	if IsFill(w) {
		if _, n = FillOf(w); n == 0 {
			return corrupt[W](i, "a fill of no groups")
		}
		if i > 0 && IsFill(words[i-1]) && (words[i-1]^w)&value[W]() == 0 {
			if _, before := FillOf(words[i-1]); before < MaxFill[W]() {
				return corrupt[W](i, "a fill that goes on with the one before")
			}
		}
	} else if w == 0 || w == Ones[W]() {
		return corrupt[W](i, "a literal of equal bits")
	}
	if n > groups-at {
		return corrupt[W](i, "%d groups, the vector has %d and %d are behind", n, groups, at)
	}
	return nil
}
