// Package sketch decides most comparisons of stored codes by seven bits of each row.
//
// A map divides the codes of a column into slots with about equal numbers of rows. The sketch
// of a row is the number of its slot. A range of codes contains some slots, whose rows need no
// comparison, and cuts at most two slots, whose rows need one (Hentschel et al., Column
// Sketches, SIGMOD 2018). Eight sketches are compared at a time, in one word of 64 bits.
package sketch

import (
	"math"
	"math/bits"
	"slices"

	"heddle/engine/plan"
)

// slots is the greatest number of slots. The highest bit of each byte of a Group is free for
// the comparison.
const slots = 128

// units is the number of units: a unit is an aligned range of codes, and a slot is a sequence of units.
const units = 1 << 12

// Map divides codes into slots. It is read-only after NewMap.
type Map struct {
	unitShift uint // code >> unitShift is the unit of a code
	slot      [units]uint8
	first     []uint64 // the least code of each slot
}

// NewMap returns a map for a column by a sample of its codes. Every sample gives correct
// answers; a sample with the distribution of the column gives slots of equal numbers of rows.
func NewMap(sample []uint64) *Map {
	m := &Map{first: []uint64{0}}
	sample = slices.Sorted(slices.Values(sample))
	if n := len(sample); n > 0 { // one code of 512 may be too large for a unit of its own
		m.unitShift = uint(max(0, bits.Len64(sample[n-1-n/512])-bits.Len(units-1)))
	}
	full := (len(sample) + slots - 1) / slots // codes of the sample in a slot
	at, begin := 0, 0                         // indexes in the sample: the next code, and the first code of the slot
	for u := range m.slot {
		if at > begin && at-begin >= full && len(m.first) < slots {
			m.first, begin = append(m.first, uint64(u)<<m.unitShift), at
		}
		m.slot[u] = uint8(len(m.first) - 1)
		for at < len(sample) && m.unit(sample[at]) == uint64(u) {
			at++
		}
	}
	return m
}

func (m *Map) unit(code uint64) uint64 { return min(code>>m.unitShift, units-1) }

// Group is the sketches of 64 rows. Byte j of word k is the sketch of row 8j+k.
type Group [8]uint64

// Put makes g the sketches of up to 64 codes, whose upper halves are zero if high is nil.
func (m *Map) Put(g *Group, low, high []uint32) {
	*g = Group{}
	for i, code := range low {
		c := uint64(code)
		if high != nil {
			c |= uint64(high[i]) << 32
		}
		g[i%8] |= uint64(m.slot[m.unit(c)]) << (i &^ 7 & 63)
	}
}

// Range finds the rows of groups whose codes lie in a range.
type Range struct {
	touched, inside interval
	some            bool // there are slots inside
	cut             bool // there are slots that the range has only a part of
}

// interval is a range of slots, prepared for the comparison of all bytes of a word.
type interval struct{ above, below uint64 }

const (
	ones = 0x0101010101010101
	tops = 0x80 * ones
)

func intervalOf(from, to int) interval {
	return interval{tops - uint64(from)*ones, tops + uint64(to)*ones}
}

// Range prepares a range of codes.
func (m *Map) Range(r plan.CodeRange) Range {
	a, b := int(m.slot[m.unit(r.Lo)]), int(m.slot[m.unit(r.Hi)])
	from, to := a, b
	if m.first[a] < r.Lo {
		from++
	}
	if m.last(b) > r.Hi {
		to--
	}
	return Range{intervalOf(a, b), intervalOf(from, max(to, 0)), from <= to, a != from || b != to}
}

// last is the greatest code of a slot.
func (m *Map) last(slot int) uint64 {
	if slot+1 < len(m.first) {
		return m.first[slot+1] - 1
	}
	return math.MaxUint64
}

// Find adds rows of a set to kept, if they are inside of the range, and to compare, if their
// codes need a comparison. Both are as long as the set.
func (r *Range) Find(groups []Group, set, kept, compare []uint64) {
	if r.some {
		r.inside.find(groups, set, kept)
	}
	if r.cut {
		r.touched.find(groups, set, compare)
	}
}

// find adds the rows of a set whose slots lie in an interval to a set: byte + 128 - first sets
// the highest bit of a byte if the byte is not below first, and 128 + last - byte sets it if
// the byte is not above last. It stays out of line: inlined, the compiler takes the constants
// apart, which costs more operations for each word.
//
//go:noinline
func (x interval) find(groups []Group, set, to []uint64) {
	groups, to = groups[:len(set)], to[:len(set)]
	for i, rows := range set {
		if rows == 0 {
			continue
		}
		g, in := &groups[i], uint64(0)
		for k := 0; k < len(g); k += 4 {
			a, b, c, d := g[k], g[k+1], g[k+2], g[k+3]
			a = (a + x.above) & (x.below - a) & tops
			b = (b + x.above) & (x.below - b) & tops
			c = (c + x.above) & (x.below - c) & tops
			d = (d + x.above) & (x.below - d) & tops
			in = in>>4 | a>>3 | b>>2 | c>>1 | d
		}
		to[i] |= in & rows
	}
}
