package group

import (
	"cmp"
	"slices"

	"heddle/engine/plan"
	"heddle/engine/table/exact"
)

// merge adds the groups of other, which is not used again.
func (g *Groups) merge(other *Groups) {
	into := make([]uint32, len(other.rows))
	for i := range into {
		into[i] = uint32(i)
		if g.keys != nil {
			into[i] = g.keys.id(g.translate(other, other.keys.keys[i]))
		}
	}
	if g.keys != nil {
		g.grow(len(g.keys.keys))
	}
	addTo(g.rows, other.rows, into)
	for i := range g.values {
		addTo(g.values[i], other.values[i], into)
	}
	for i, c := range g.cells {
		if c != nil {
			c.merge(other.cells[i], into)
		}
	}
}

// translate is the key here of a key of other.
func (g *Groups) translate(other *Groups, key uint64) uint64 {
	of := other.numbers(key)
	for k, n := range g.by {
		of[k] = uint64(n.translate(other.by[k], uint32(of[k])))
	}
	return g.key(&of)
}

// rank is the place of a group in the order of groups.
type rank struct {
	codes   [plan.MaxGroupings]uint64
	missing [plan.MaxGroupings]bool
	at      uint32
}

func (a rank) compare(b rank) int {
	for k := range a.codes {
		switch {
		case a.missing[k] != b.missing[k]:
			if a.missing[k] {
				return 1
			}
			return -1
		case a.codes[k] != b.codes[k]:
			return cmp.Compare(a.codes[k], b.codes[k])
		}
	}
	return 0
}

// sort finds the order of the groups.
func (g *Groups) sort() {
	if g.keys == nil {
		g.inPlaces()
		return
	}
	ranks := make([]rank, 0, len(g.rows))
	for i := range g.rows {
		r := rank{at: uint32(i)}
		for k := range g.by {
			code, ok := g.code(k, r.at)
			r.codes[k], r.missing[k] = code, !ok
		}
		ranks = append(ranks, r)
	}
	slices.SortFunc(ranks, rank.compare)
	g.order = make([]uint32, len(ranks))
	for i, r := range ranks {
		g.order[i] = r.at
	}
}

// inPlaces is sort for groups with a place for all possible numbers, which have the order of the codes.
// Only number 0, of missing values, comes last.
func (g *Groups) inPlaces() {
	g.order = make([]uint32, 0, len(g.rows))
	g.append(0, 0)
}

// append appends the groups to the order whose numbers in the first k columns have a key.
func (g *Groups) append(k int, key uint64) {
	if k == len(g.by) {
		if g.rows[key] > 0 || k == 0 {
			g.order = append(g.order, uint32(key))
		}
		return
	}
	for n := uint64(1); n <= g.sizes[k]; n++ {
		g.append(k+1, key*g.sizes[k]+n%g.sizes[k])
	}
}

// code is the code of the group at a place in grouping k; ok is false for missing values.
func (g *Groups) code(k int, at uint32) (code uint64, ok bool) {
	key := uint64(at)
	if g.keys != nil {
		key = g.keys.keys[at]
	}
	number := g.numbers(key)[k]
	if number == 0 {
		return 0, false
	}
	return g.by[k].code(uint32(number)), true
}

// Len is the number of groups.
func (g *Groups) Len() int { return len(g.order) }

// Code is the code of group i in grouping k; ok is false for rows without a value.
func (g *Groups) Code(k, i int) (code uint64, ok bool) { return g.code(k, g.order[i]) }

// Rows is the number of rows of group i.
func (g *Groups) Rows(i int) uint64 { return g.rows[g.order[i]] }

// Count is the number of rows of group i with a value of measure m.
func (g *Groups) Count(m, i int) uint64 {
	if list := g.values[g.of.Measures[m].Input]; len(list) > 0 {
		return list[g.order[i]]
	}
	return g.Rows(i)
}

// Sum is the sum of group i, of a MeasureSum.
func (g *Groups) Sum(m, i int) exact.Integer {
	if list, ok := g.cells[m].(*sums); ok {
		return exact.Integer{Low: list.list[g.order[i]]}
	}
	return g.cells[m].(*wideSums).list[g.order[i]]
}

// Floats sets sum to the sum of group i, of a MeasureFloats or MeasureFloats32.
func (g *Groups) Floats(m, i int, sum *exact.Float) { g.cells[m].(*floats).sum(g.order[i], sum) }

// Extreme is the code of group i, of a MeasureLeast or MeasureGreatest. A group without a
// value has any code.
func (g *Groups) Extreme(m, i int) uint64 {
	if list, ok := g.cells[m].(*least); ok {
		return ^list.list[g.order[i]]
	}
	return g.cells[m].(*greatest).list[g.order[i]]
}

// Frequency is a number of rows with one code.
type Frequency struct{ Code, Rows uint64 }

// Codes are the codes of all groups, of a MeasureCodes, ascending in each group.
func (g *Groups) Codes(m int) [][]Frequency {
	groups := g.cells[m].(*codes).of(len(g.rows))
	ordered := make([][]Frequency, len(g.order))
	for i, at := range g.order {
		ordered[i] = groups[at]
	}
	return ordered
}
