package bitslice

import (
	"math"
	"math/bits"
)

// Sum is the sum of the codes of rows of a tile, which have a value.
func (c Column) Sum(tile int, rows *Set) (high, low uint64) {
	t := &c.Tiles[tile]
	words, first := c.words(t), t.slices()-int(t.Width)
	n := 0
	for _, w := range rows {
		n += bits.OnesCount64(w)
	}
	high, low = bits.Mul64(uint64(n), t.Min)
	var buf pairs
	for bit := range int(t.Width) {
		p, n := t.slice(words, first+int(t.Width)-1-bit, &buf), 0
		if p == allZeros {
			continue
		}
		for g := 0; g <= TileWords-4; g += 4 {
			x0, x1, x2, x3 := p.four(g)
			n += bits.OnesCount64(x0&rows[g]) + bits.OnesCount64(x1&rows[g+1]) + bits.OnesCount64(x2&rows[g+2]) + bits.OnesCount64(x3&rows[g+3])
		}
		var carry uint64
		low, carry = bits.Add64(low, uint64(n)<<bit, 0)
		high += uint64(n)>>(64-bit) + carry
	}
	return high, low
}

// Greatest is the greatest code of rows of a tile, if one of them has a value and a code above a bound.
func (c Column) Greatest(tile int, rows *Set, above uint64) (code uint64, ok bool) {
	t := &c.Tiles[tile]
	return c.extreme(tile, rows, 1, func(prefix uint64, bits int) bool { return t.plus(prefix|mask(uint8(bits))) <= above })
}

// Least is the least code of rows of a tile, if one of them has a value and a code below a bound.
func (c Column) Least(tile int, rows *Set, below uint64) (code uint64, ok bool) {
	t := &c.Tiles[tile]
	return c.extreme(tile, rows, 0, func(prefix uint64, _ int) bool { return t.plus(prefix) >= below })
}

// extreme descends the slices of a tile: it keeps the rows of a set whose next bit is side if there are any. It gives up if
// beyond holds for the bits so far, with so many bits to come.
func (c Column) extreme(tile int, of *Set, side uint64, beyond func(prefix uint64, bits int) bool) (code uint64, ok bool) {
	t := &c.Tiles[tile]
	var s search
	if beyond(0, int(t.Width)) || !s.start(t, c.words(t), of) {
		return 0, false
	}
	prefix, rows, rest := uint64(0), &s.rows, &s.found
	for bit := int(t.Width) - 1; bit >= 0; bit-- {
		has := side
		if s.take(s.slice(t.slices()-1-bit), side, rows, rest) {
			rows, rest = rest, rows
		} else {
			has = 1 - side
		}
		if prefix |= has << bit; beyond(prefix, bit) {
			return 0, false
		}
	}
	return t.Min + prefix, true
}

// Order divides the rows of a tile by the order of base plus their code in c, and other plus their code in d. Rows
// without both values are anywhere; the sums of the other rows are below 2^64.
func (c Column) Order(d Column, tile int, base, other uint64, less, greater *Set) {
	t, u := &c.Tiles[tile], &d.Tiles[tile]
	by, below := bits.Sub64(base+t.Min, other+u.Min, 0)
	if below != 0 {
		d.Order(c, tile, other, base, greater, less)
		return
	}
	clear(greater[:])
	if by > mask(u.Width) {
		clear(less[:])
		for g := range greater {
			greater[g] = rowsOf(t, g)
		}
		return
	}
	width := 64 // of the sums of by and a code less the minimum
	if sum, carry := bits.Add64(mask(t.Width), by, 0); carry == 0 {
		width = max(bits.Len64(sum), int(u.Width))
	}
	words, others := c.words(t), d.words(u)
	var buf, otherBuf pairs
	var carry, differ Set
	for bit := range width { // from the lowest bit on
		p, q := allZeros, allZeros
		if bit < int(t.Width) {
			p = t.slice(words, t.slices()-1-bit, &buf)
		}
		if bit < int(u.Width) {
			q = u.slice(others, u.slices()-1-bit, &otherBuf)
		}
		if by == 0 {
			for g := range greater {
				a, b := p.word(g), q.word(g)
				greater[g] = greater[g]&^(a^b) | a&^b
				differ[g] |= a ^ b
			}
			continue
		}
		one := -(by >> bit & 1) // all bits of by's bit
		for g := range greater {
			a, b, k := p.word(g), q.word(g), carry[g]
			carry[g] = a&k | (a|k)&one
			a ^= k ^ one
			greater[g] = greater[g]&^(a^b) | a&^b
			differ[g] |= a ^ b
		}
	}
	for g := range less {
		less[g] = differ[g] &^ greater[g]
	}
}

// word returns word g.
func (p *pairs) word(g int) uint64 { return uint64(p[g][0]) | uint64(p[g][1])<<32 }

// plus is Min + x, at most math.MaxUint64.
func (t *Tile) plus(x uint64) uint64 {
	if sum := t.Min + x; sum >= x {
		return sum
	}
	return math.MaxUint64
}
