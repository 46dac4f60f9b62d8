package group

import (
	"math"
	"math/bits"
	"slices"

	"heddle/engine/plan"
	"heddle/engine/table/column"
	"heddle/engine/table/exact"
	"heddle/engine/table/gather"
)

// cells are the values of one measure in all groups.
type cells interface {
	grow(groups int)                  // groups that did not exist have no rows
	add(ids []uint32, codes []uint64) // codes of rows in groups ids
	merge(other cells, into []uint32) // group i of other becomes part of group into[i]
}

// newCells returns the cells of a measure of a column, for at most the given number of rows; nil for
// MeasureCount. The window is for floats.
func newCells(m *plan.Measure, of *gather.Column, rows uint32, window exact.Window) cells {
	switch m.Kind {
	case plan.MeasureCount:
		return nil
	case plan.MeasureSum:
		most := plan.Weight{Low: of.Last()}
		for _, w := range m.Weights {
			most.High, most.Low = max(most.High, w.High), max(most.Low, w.Low)
		}
		if high, _ := bits.Mul64(most.Low, uint64(rows)); high == 0 && most.High == 0 {
			return &sums{weights: lows(m.Weights)}
		}
		return &wideSums{weights: m.Weights}
	case plan.MeasureFloats, plan.MeasureFloats32:
		return &floats{of: numbersOf(m), window: window}
	case plan.MeasureLeast:
		return new(least)
	case plan.MeasureGreatest:
		return new(greatest)
	}
	return newCodes(of)
}

// extended returns list with at least n entries.
func extended[T any](list []T, n int) []T {
	if n <= cap(list) {
		return list[:max(n, len(list))]
	}
	longer := make([]T, n, max(n, 2*cap(list)))
	copy(longer, list)
	return longer
}

// counts are numbers of rows.
type counts []uint64

func (c *counts) grow(groups int) { *c = extended(*c, groups) }

func (c *counts) count(ids []uint32) {
	list := *c
	if len(list) == 1 {
		list[0] += uint64(len(ids))
		return
	}
	for _, id := range ids {
		list[id]++
	}
}

func addTo(list, other []uint64, into []uint32) {
	for i, n := range other {
		list[into[i]] += n
	}
}

// sums are sums of codes, or of weights, below 2^64.
type sums struct {
	weights []uint64 // nil: the codes
	list    []uint64
}

// lows are weights below 2^64, in half of the room.
func lows(weights []plan.Weight) []uint64 {
	list := slices.Grow([]uint64(nil), len(weights))
	for _, w := range weights {
		list = append(list, w.Low)
	}
	return list
}

func (s *sums) grow(groups int) { s.list = extended(s.list, groups) }

func (s *sums) add(ids []uint32, codes []uint64) {
	list := s.list
	if s.weights != nil {
		for i, c := range codes {
			list[ids[i]] += s.weights[c]
		}
		return
	}
	if len(list) == 1 { // no store waits for the one before
		for _, c := range codes {
			list[0] += c
		}
		return
	}
	for i, c := range codes {
		list[ids[i]] += c
	}
}

func (s *sums) merge(other cells, into []uint32) { addTo(s.list, other.(*sums).list, into) }

// wideSums are sums of weights, or of codes, of any size.
type wideSums struct {
	weights []plan.Weight
	list    []exact.Integer
}

func (s *wideSums) grow(groups int) { s.list = extended(s.list, groups) }

func (s *wideSums) add(ids []uint32, codes []uint64) {
	for i, c := range codes {
		w := plan.Weight{Low: c}
		if s.weights != nil {
			w = s.weights[c]
		}
		s.list[ids[i]].Add(w.High, w.Low)
	}
}

func (s *wideSums) merge(other cells, into []uint32) {
	for i, n := range other.(*wideSums).list {
		s.list[into[i]].Merge(n)
	}
}

// floats are sums of floats: grains and fixed have most values, rest the values outside of the window.
type floats struct {
	of     column.Column // type, scale and keys alone
	window exact.Window
	grains []int64 // empty without a grain
	fixed  []exact.Fixed
	rest   []exact.Float // empty before the first value outside of the window
	values []float64     // values of one call of add
}

func (s *floats) grow(groups int) {
	if s.fixed = extended(s.fixed, groups); len(s.rest) > 0 {
		s.rest = extended(s.rest, groups)
	}
	if s.window.HasGrain() {
		s.grains = extended(s.grains, groups)
	}
}

func (s *floats) add(ids []uint32, codes []uint64) {
	s.values = s.of.AppendFloats(s.values[:0], codes)
	values := s.values
	if s.window.HasGrain() { // the values of a batch up to the first with more bits
		n := s.window.AddGrains(s.grains, ids, values)
		ids, values = ids[n:], values[n:]
	}
	for len(values) > 0 {
		n := s.window.Add(s.fixed, ids, values)
		if n < len(values) {
			s.rest = extended(s.rest, len(s.fixed))
			s.rest[ids[n]].Add(values[n])
			n++
		}
		ids, values = ids[n:], values[n:]
	}
}

// numbersOf is a column with the floats of a measure: type, scale and keys alone.
func numbersOf(m *plan.Measure) column.Column {
	if m.Kind == plan.MeasureFloats32 {
		return column.Column{Type: column.Float32, Base: m.Base, Unit: m.Unit, Ranks: m.Keys}
	}
	return column.Column{Type: column.Float, Base: m.Base, Unit: m.Unit, Ranks: m.Keys, Scale: m.Scale}
}

// merge takes cells with the same window.
func (s *floats) merge(other cells, into []uint32) {
	o := other.(*floats)
	for i, x := range o.fixed {
		s.fixed[into[i]].Merge(x)
	}
	for i, n := range o.grains {
		s.grains[into[i]] += n
	}
	if len(o.rest) > 0 {
		s.rest = extended(s.rest, len(s.fixed))
	}
	for i := range o.rest {
		s.rest[into[i]].Merge(&o.rest[i])
	}
}

// sum sets sum to the sum of the group at a place.
func (s *floats) sum(at uint32, sum *exact.Float) {
	sum.Reset()
	if len(s.rest) > 0 {
		sum.Merge(&s.rest[at])
	}
	sum.AddFixed(s.window, s.fixed[at])
	if s.window.HasGrain() {
		sum.AddGrain(s.window, s.grains[at])
	}
}

// least are the least codes, as their complements: a group without rows has 0.
type least struct{ greatest }

func (s *least) add(ids []uint32, codes []uint64) {
	for i, c := range codes {
		s.list[ids[i]] = max(s.list[ids[i]], math.MaxUint64-c)
	}
}

func (s *least) merge(other cells, into []uint32) { s.greatest.merge(&other.(*least).greatest, into) }

// greatest are the greatest codes.
type greatest struct{ list []uint64 }

func (s *greatest) grow(groups int) { s.list = extended(s.list, groups) }

func (s *greatest) add(ids []uint32, codes []uint64) {
	for i, c := range codes {
		s.list[ids[i]] = max(s.list[ids[i]], c)
	}
}

func (s *greatest) merge(other cells, into []uint32) {
	for i, c := range other.(*greatest).list {
		s.list[into[i]] = max(s.list[into[i]], c)
	}
}
