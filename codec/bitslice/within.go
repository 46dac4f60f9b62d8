package bitslice

import (
	"math"
	"math/bits"
)

// Zone is what the bounds of a tile say about its rows.
type Zone uint8

const (
	Some Zone = iota // nothing
	None             // no row is in the ranges
	All              // all rows are
)

// Zone compares the bounds of t with ranges, which ascend and are disjoint.
func (t *Tile) Zone(ranges []Range) Zone {
	if t.Valid == 0 {
		return None
	}
	for _, r := range ranges {
		switch {
		case r.Hi < t.Min:
			continue
		case r.Lo > t.Max():
			return None
		case r.Lo <= t.Min && t.Max() <= r.Hi && t.Flags&FlagMissing == 0:
			return All
		}
		return Some
	}
	return None
}

// FewRanges is the number of ranges up to which Within reads the slices. With more it decodes the codes, which
// costs the same for any number.
const FewRanges = 12

// Within keeps the rows of a tile that have a value and a code in ranges, which ascend and are
// disjoint, and reports whether any is left.
func (c Column) Within(tile int, ranges []Range, rows *Set) bool {
	t := &c.Tiles[tile]
	for len(ranges) > 0 && ranges[0].Hi < t.Min {
		ranges = ranges[1:]
	}
	for len(ranges) > 0 && ranges[len(ranges)-1].Lo > t.Max() {
		ranges = ranges[:len(ranges)-1]
	}
	switch zone := t.Zone(ranges); {
	case zone == None:
		clear(rows[:])
		return false
	case zone == All:
		return !rows.empty()
	}
	var s search
	if !s.start(t, c.words(t), rows) {
		clear(rows[:])
		return false
	}
	switch {
	case len(ranges) == 1:
		s.within(ranges[0], &s.rows)
		copy(s.found[:], s.rows[:])
	case len(ranges) <= FewRanges:
		s.tree(s.rows, ranges, 0, int(t.Width)-1)
	default:
		var codes [TileRows]uint64
		c.Decode(tile, &codes)
		s.among(ranges, &codes)
	}
	return s.end(rows)
}

func (s *Set) empty() bool {
	left := uint64(0)
	for _, w := range s {
		left |= w
	}
	return left == 0
}

// search evaluates ranges on words of the rows of a tile: on all, or on few that have candidates.
type search struct {
	tile  *Tile
	words []uint32
	n     int // words, a multiple of 4
	few   bool
	at    [fewWords]uint8 // by word, if few: its place in the tile
	rows  Set             // candidates
	found Set
	buf   pairs
}

// fewWords is the greatest number of words that are gathered from slices.
const fewWords = 16

// start takes the candidates that have a value. It returns false if there are none.
func (s *search) start(t *Tile, words []uint32, rows *Set) bool {
	s.tile, s.words, s.n = t, words, TileWords
	active := 0
	for g, w := range rows {
		if w != 0 {
			if active < fewWords {
				s.at[active] = uint8(g)
			}
			active++
		}
	}
	if s.few = active <= fewWords; s.few {
		s.n = (active + 3) &^ 3
		for k, g := range s.at[:active] {
			s.rows[k] = rows[g]
		}
	} else {
		s.rows = *rows
	}
	if t.Flags&FlagMissing != 0 {
		return s.agree(s.slice(0), 1, &s.rows)
	}
	return active > 0
}

// end writes the rows that were found and reports whether there are any.
func (s *search) end(rows *Set) bool {
	if !s.few {
		*rows = s.found
		return !rows.empty()
	}
	clear(rows[:])
	left := uint64(0)
	for k := range s.n {
		left |= s.found[k]
		rows[s.at[k]] |= s.found[k]
	}
	return left != 0
}

// slice returns the words of a slice.
func (s *search) slice(i int) *pairs {
	p := s.tile.slice(s.words, i, &s.buf)
	if !s.few {
		return p
	}
	var few [fewWords][2]uint32
	for k, g := range s.at[:s.n] {
		few[k] = p[g%TileWords]
	}
	copy(s.buf[:], few[:])
	return &s.buf
}

// within keeps the rows in e whose code lies in r.
func (s *search) within(r Range, e *Set) {
	t := s.tile
	lo, hi := max(r.Lo, t.Min)-t.Min, min(r.Hi, t.Max())-t.Min
	first, bit := t.slices()-int(t.Width), int(t.Width)-1
	for ; bit >= 0 && lo>>bit&1 == hi>>bit&1; bit-- { // the bits that both bounds have in common
		if !s.agree(s.slice(first+int(t.Width)-1-bit), lo>>bit&1, e) {
			return
		}
	}
	if bit < 0 {
		return
	}
	// The rows that agree with lo so far, those that agree with hi, and those between.
	var low, high, in Set
	s.split(s.slice(first+int(t.Width)-1-bit), e, &low, &high)
	lows, highs := true, true
	for bit--; ; bit-- {
		rest := uint64(1)<<(bit+1) - 1 // mask of the bits that were not compared
		if lows && lo&rest == 0 {
			s.add(&low, &in)
			lows = false
		}
		if highs && hi&rest == rest {
			s.add(&high, &in)
			highs = false
		}
		if !lows && !highs {
			break
		}
		p := s.slice(first + int(t.Width) - 1 - bit)
		if lows {
			lows = s.bound(p, lo>>bit&1, 1, &low, &in)
		}
		if highs {
			highs = s.bound(p, hi>>bit&1, 0, &high, &in)
		}
	}
	*e = in
}

// tree finds the rows whose code, less the minimum of the tile, lies in ranges. The codes of the rows have the bits
// of prefix above bit. Ranges share the bits that their bounds have in common.
func (s *search) tree(rows Set, ranges []Range, prefix uint64, bit int) {
	least := s.tile.Min
	for {
		last := min(prefix|(1<<(bit+1)-1), math.MaxUint64-least)
		for len(ranges) > 0 && ranges[0].Hi < least+prefix {
			ranges = ranges[1:]
		}
		for len(ranges) > 0 && ranges[len(ranges)-1].Lo > least+last {
			ranges = ranges[:len(ranges)-1]
		}
		if len(ranges) == 0 {
			return
		}
		if ranges[0].Lo <= least+prefix && ranges[0].Hi >= least+last {
			s.add(&rows, &s.found)
			return
		}
		slice, middle := s.slice(s.tile.slices()-1-bit), prefix|1<<bit
		if middle <= last && ranges[len(ranges)-1].Hi >= least+middle {
			if ranges[0].Lo < least+middle {
				if low := rows; s.agree(slice, 0, &low) {
					s.tree(low, ranges, prefix, bit-1)
					slice = s.slice(s.tile.slices() - 1 - bit) // tree may have used its memory
				}
			}
			prefix = middle
		}
		if !s.agree(slice, prefix>>bit&1, &rows) {
			return
		}
		bit--
	}
}

// agree keeps the rows whose bit in p is bit, and reports whether any is left.
func (s *search) agree(p *pairs, bit uint64, rows *Set) bool { return s.take(p, bit, rows, rows) }

// take sets to to the rows whose bit in p is bit, and reports whether there are any.
func (s *search) take(p *pairs, bit uint64, rows, to *Set) bool {
	left, flip, n := uint64(0), bit-1, s.n
	for g := 0; g <= TileWords-4; g += 4 {
		if g >= n {
			break
		}
		a, b, c, d := p.four(g)
		a, b, c, d = (a^flip)&rows[g], (b^flip)&rows[g+1], (c^flip)&rows[g+2], (d^flip)&rows[g+3]
		to[g], to[g+1], to[g+2], to[g+3] = a, b, c, d
		left |= a | b | c | d
	}
	return left != 0
}

// split divides rows by their bit in p.
func (s *search) split(p *pairs, rows, low, high *Set) {
	n := s.n
	for g := 0; g <= TileWords-4; g += 4 {
		if g >= n {
			break
		}
		a, b, c, d := p.four(g)
		high[g], high[g+1], high[g+2], high[g+3] = a&rows[g], b&rows[g+1], c&rows[g+2], d&rows[g+3]
		low[g], low[g+1], low[g+2], low[g+3] = rows[g]&^a, rows[g+1]&^b, rows[g+2]&^c, rows[g+3]&^d
	}
}

// add adds rows to in.
func (s *search) add(rows, in *Set) {
	n := s.n
	for g := 0; g <= TileWords-4; g += 4 {
		if g >= n {
			break
		}
		in[g] |= rows[g]
		in[g+1] |= rows[g+1]
		in[g+2] |= rows[g+2]
		in[g+3] |= rows[g+3]
	}
}

// bound compares rows, which agree with a bound so far, with its next bit. side is 1 for a lower bound, whose rows
// with a greater bit move to in, and 0 for an upper bound, whose rows with a smaller bit do. Rows beyond the bound go.
// It reports whether any still agrees.
func (s *search) bound(p *pairs, bit, side uint64, rows, in *Set) bool {
	if bit == side {
		return s.agree(p, bit, rows)
	}
	left, flip, n := uint64(0), side-1, s.n
	for g := 0; g <= TileWords-4; g += 4 {
		if g >= n {
			break
		}
		a, b, c, d := p.four(g)
		a, b, c, d = a^flip, b^flip, c^flip, d^flip
		in[g] |= rows[g] & a
		in[g+1] |= rows[g+1] & b
		in[g+2] |= rows[g+2] & c
		in[g+3] |= rows[g+3] & d
		a, b, c, d = rows[g]&^a, rows[g+1]&^b, rows[g+2]&^c, rows[g+3]&^d
		rows[g], rows[g+1], rows[g+2], rows[g+3] = a, b, c, d
		left |= a | b | c | d
	}
	return left != 0
}

// four returns words g to g+3.
func (p *pairs) four(g int) (a, b, c, d uint64) {
	return uint64(p[g][0]) | uint64(p[g][1])<<32, uint64(p[g+1][0]) | uint64(p[g+1][1])<<32,
		uint64(p[g+2][0]) | uint64(p[g+2][1])<<32, uint64(p[g+3][0]) | uint64(p[g+3][1])<<32
}

// among finds the candidates whose code lies in ranges.
func (s *search) among(ranges []Range, codes *[TileRows]uint64) {
	for k := range s.n {
		at := 64 * k
		if s.few {
			at = 64 * int(s.at[k])
		}
		for w := s.rows[k]; w != 0; w &= w - 1 {
			if Contains(ranges, codes[at+bits.TrailingZeros64(w)]) {
				s.found[k] |= w & -w
			}
		}
	}
}

// Contains tells whether a code lies in one of ranges, which ascend and are disjoint.
func Contains(ranges []Range, code uint64) bool {
	lo, hi := 0, len(ranges)
	for lo < hi { // the first range that does not end before code
		if mid := (lo + hi) / 2; ranges[mid].Hi < code {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo < len(ranges) && ranges[lo].Lo <= code
}
