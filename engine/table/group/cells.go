package group

import (
	"fmt"
	"math"
	"math/bits"

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
		fits, frequencies := len(list) == g.places, []uint64(nil)
		if c.Codes != nil && c.Codes[i] != nil {
			frequencies = c.Codes[i]
			fits = uint64(len(frequencies)) == uint64(g.places)*newNumbers(g.columns[m.Input]).size()
		}
		switch to := to.(type) {
		case *least:
			for _, code := range list {
				to.list = append(to.list, math.MaxUint64-code)
			}
		case *greatest:
			to.list = list
		case *sums:
			if to.list = list; frequencies != nil {
				to.list = make([]uint64, g.places)
				g.weigh(frequencies, func(at int, code, rows uint64) { to.list[at] += rows * to.weights[code] })
			}
		case *wideSums:
			to.grow(g.places)
			if frequencies == nil {
				if fits = fits && c.High != nil && len(c.High[i]) == g.places; fits {
					for at, low := range list {
						to.list[at] = exact.Integer{Low: low, Middle: c.High[i][at]}
					}
				}
				break
			}
			g.weigh(frequencies, func(at int, code, rows uint64) {
				w := to.weights[code]
				high, middle := bits.Mul64(w.High, rows)
				to.list[at].AddProduct(w.Low, rows)
				to.list[at].Merge(exact.Integer{Middle: middle, High: high})
			})
		case *floats:
			if frequencies != nil {
				to.weigh(g, frequencies)
				break
			}
			counts := g.rows
			if v := g.values[m.Input]; len(v) > 0 {
				counts = v
			}
			fits = fits && to.take(m, counts, list)
		case *codes:
			to.take(frequencies)
			fits = fits && frequencies != nil
		default:
			fits = false
		}
		if !fits {
			return fmt.Errorf("measure %d has no cells", i)
		}
	}
	return nil
}

// weigh yields the codes of the groups, with their rows.
func (g *Groups) weigh(frequencies []uint64, yield func(at int, code, rows uint64)) {
	size := len(frequencies) / g.places
	for i, rows := range frequencies {
		if number := i % size; rows > 0 && number > 0 {
			yield(i/size, uint64(number-1), rows)
		}
	}
}

// weigh sets the sums of all groups from the rows of their codes.
func (s *floats) weigh(g *Groups, frequencies []uint64) {
	s.grow(g.places)
	s.rest = extended(s.rest, g.places)
	g.weigh(frequencies, func(at int, code, rows uint64) {
		s.values = s.of.AppendFloats(s.values[:0], []uint64{code})
		s.rest[at].AddTimes(s.values[0], uint32(rows))
	})
}

// take sets the rows of all pairs of groups and codes.
func (s *codes) take(frequencies []uint64) {
	s.counts, s.waiting = make([]uint32, len(frequencies)), nil
	for pair, rows := range frequencies {
		if number := uint64(pair) % s.size; rows > 0 && number > 0 {
			s.counts[pair] = uint32(rows)
			s.used++
		}
	}
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
