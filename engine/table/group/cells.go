package group

import (
	"fmt"
	"math"

	"heddle/engine/plan"
	"heddle/engine/table/exact"
)

// take sets the quantities of all groups, which keep the lists of c.
func (g *Groups) take(c *plan.Cells) error {
	fits := g.keys == nil && len(c.Rows) == g.places
	for _, n := range g.by {
		fits = fits && n.codes == nil
	}
	if !fits {
		return fmt.Errorf("%d cells do not fit the groups", len(c.Rows))
	}
	g.rows = c.Rows
	for i, list := range c.Values {
		if list == nil || !g.columns[i].HasMissing() {
			continue
		}
		if g.values[i] = list; len(list) != g.places {
			return fmt.Errorf("%d numbers of values for %d groups", len(list), g.places)
		}
	}
	for i, to := range g.cells {
		if to == nil {
			continue
		}
		m, list := &g.of.Measures[i], c.Sums[i]
		if m.Kind == plan.MeasureLeast || m.Kind == plan.MeasureGreatest {
			list = c.Ends[i]
		}
		fits := len(list) == g.places
		switch to := to.(type) {
		case *least:
			for _, code := range list {
				to.list = append(to.list, math.MaxUint64-code)
			}
		case *greatest:
			to.list = list
		case *sums:
			to.list = list
		case *floats:
			counts := g.rows
			if v := g.values[m.Input]; len(v) > 0 {
				counts = v
			}
			fits = fits && to.take(m, counts, list)
		default:
			fits = false
		}
		if !fits {
			return fmt.Errorf("measure %d has no cells", i)
		}
	}
	return nil
}

// take sets the sums of a measure that is plan.Measure.Binary, from the numbers of values and the sums of
// all groups. It returns false if the measure is not, or a sum does not fit.
func (s *floats) take(m *plan.Measure, counts, sums []uint64) bool {
	first, divisor, ok := m.Binary()
	if !ok {
		return false
	}
	s.window = exact.Units(-int(m.Scale))
	s.grow(len(sums))
	factor := m.Factor(divisor)
	for at, n := range sums {
		sum := exact.Integer{Low: n}.Times(factor)
		sum.AddTimes(counts[at], uint64(first>>63), uint64(first))
		high, low, fits := sum.Wide()
		s.fixed[at] = exact.FixedOf(high, low)
		ok = ok && fits
	}
	return ok
}
