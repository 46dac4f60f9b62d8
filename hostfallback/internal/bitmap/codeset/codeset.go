// Package codeset tests whether the codes of rows lie in a set of many ranges. A binary search
// of the ranges takes a mispredicted branch at each step; a set takes one memory access for
// most codes.
package codeset

import (
	"math/bits"

	"heddle/codec/bitslice"
	"heddle/engine/plan"
)

// Set is the codes of some ranges, in one of three forms:
//
//   - a bitmap of all codes from the first to the last one, if they are not too many
//   - a hashed filter of single codes: a code whose bit is zero is not one of them, any other code is
//     searched. The single codes are the ranges, or the gaps between ranges (NOT IN)
//   - the ranges alone
//
// The zero value is an empty set. A Set is read-only after Fill and then safe for concurrent
// use.
type Set struct {
	ranges    []plan.CodeRange
	first     uint64
	span      uint64 // the last code, less first
	form      form
	hashShift uint // hash >> hashShift is the bit of a code in a filter
	words     []uint64
}

type form uint8

const (
	searched form = iota
	mapped
	filtered // a filter of single codes
	omitted  // a filter of single gaps
)

const (
	smallBits   = 1 << 18 // a bitmap of this size is quicker than a filter: 32 KiB
	maxBits     = 1 << 27 // the greatest size of a bitmap: 16 MiB
	bitsPerRow  = 4       // the greatest size of a bitmap for each row that is tested
	bitsPerCode = 64      // the size of a filter for each code: one code in 64 that is not in the set is searched
)

// multiplier spreads codes over the bits of a filter: 2^64 divided by the golden ratio.
const multiplier = 0x9e3779b97f4a7c15

// Fill makes s the set of the ranges, which ascend, are disjoint and stay unchanged in use. At
// most so many rows are tested; with 0 rows there is no large bitmap. It reuses the memory of s.
func (s *Set) Fill(ranges []plan.CodeRange, rows uint64) {
	*s = Set{ranges: ranges, words: s.words[:0]}
	if len(ranges) == 0 {
		return
	}
	s.first = ranges[0].Lo
	s.span = ranges[len(ranges)-1].Hi - s.first
	single, gaps := true, true
	for i, r := range ranges {
		single = single && r.Lo == r.Hi
		gaps = gaps && (i == 0 || r.Lo-ranges[i-1].Hi <= 2)
	}
	switch {
	case s.span < min(smallBits, max(rows, 64)*bitsPerRow):
		s.fillMap()
	case single:
		s.fillFilter(filtered)
	case gaps:
		s.fillFilter(omitted)
	case s.span < min(maxBits, rows*bitsPerRow):
		s.fillMap()
	}
}

// Bytes is the memory that s holds beside the ranges.
func (s *Set) Bytes() uint64 { return 8 * uint64(cap(s.words)) }

// zeros makes n words of zeros.
func (s *Set) zeros(n int) {
	if cap(s.words) < n {
		s.words = make([]uint64, n)
		return
	}
	s.words = s.words[:n]
	clear(s.words)
}

// fillMap makes the bitmap. One bit behind the last is zero: it stands for all codes outside.
func (s *Set) fillMap() {
	s.form = mapped
	s.zeros(int((s.span+1)/64 + 1))
	for _, r := range s.ranges {
		lo, hi := r.Lo-s.first, r.Hi-s.first
		first, last := ^uint64(0)<<(lo%64), ^uint64(0)>>(63-hi%64)
		if lo/64 == hi/64 {
			s.words[lo/64] |= first & last
			continue
		}
		s.words[lo/64] |= first
		for i := lo/64 + 1; i < hi/64; i++ {
			s.words[i] = ^uint64(0)
		}
		s.words[hi/64] |= last
	}
}

// fillFilter makes the filter of the ranges, or of the gaps between them.
func (s *Set) fillFilter(f form) {
	s.form = f
	size := max(6, bits.Len(uint(len(s.ranges)*bitsPerCode-1)))
	s.hashShift = uint(64 - size)
	s.zeros(1 << (size - 6))
	for i, r := range s.ranges {
		if f == filtered {
			s.put(r.Lo)
		} else if i > 0 && r.Lo-s.ranges[i-1].Hi == 2 {
			s.put(r.Lo - 1)
		}
	}
}

func (s *Set) put(code uint64) {
	at := code * multiplier >> s.hashShift
	s.words[at/64] |= 1 << (at % 64)
}

// Has reports whether a code is in the set.
func (s *Set) Has(code uint64) bool {
	d := code - s.first
	if d > s.span || len(s.ranges) == 0 {
		return false
	}
	switch s.form {
	case mapped:
		return s.words[d/64]>>(d%64)&1 != 0
	case filtered, omitted:
		at := code * multiplier >> s.hashShift
		if s.words[at/64]>>(at%64)&1 == 0 {
			return s.form == omitted
		}
	}
	return bitslice.Contains(s.ranges, code)
}

// Keep returns the rows of a word whose codes are in the set.
func (s *Set) Keep(rows uint64, codes *[64]uint64) uint64 {
	if rows == 0 || len(s.ranges) == 0 {
		return 0
	}
	const few = 8 // rows for which it pays to go from row to row
	kept := uint64(0)
	if bits.OnesCount64(rows) > few {
		switch s.form {
		case mapped:
			return rows & s.mapped(codes)
		case filtered:
			in, _ := s.hashed(codes)
			rows &= in
		case omitted:
			in, outside := s.hashed(codes)
			kept = rows &^ in &^ outside
			rows &= in
		}
	}
	for x := rows; x != 0; x &= x - 1 {
		if s.Has(codes[bits.TrailingZeros64(x)&63]) {
			kept |= x & -x
		}
	}
	return kept
}

// hashed returns one bit for each code: in is set for codes whose bit of the filter is set, outside for codes below
// the first or above the last of the set. It has no branches that depend on codes.
func (s *Set) hashed(codes *[64]uint64) (in, outside uint64) {
	words, shift := s.words, s.hashShift
	for i, code := range codes {
		at := code * multiplier >> (shift & 63)
		in |= words[at/64] >> (at % 64) & 1 << (i & 63)
		_, below := bits.Sub64(s.span, code-s.first, 0)
		outside |= below << (i & 63)
	}
	return in, outside
}

// mapped returns one bit for each code, set for codes in the bitmap. It has no branches that depend on codes.
func (s *Set) mapped(codes *[64]uint64) (in uint64) {
	words, end := s.words, s.span+1
	for i, code := range codes {
		d := code - s.first
		_, borrow := bits.Sub64(end, d, 0)
		d = d&(borrow-1) | end&-borrow
		in |= words[d/64] >> (d % 64) & 1 << (i & 63)
	}
	return in
}
