package bitmap

import (
	"context"
	"fmt"
	"math"
	"math/bits"

	"heddle/cl/internal/device"
	"heddle/codec"
	"heddle/engine/plan"
)

const (
	measureSpan    = 1024 // words of bits of a work-group
	measureCells   = 3840 // MEASURE_CELLS of kernels/measure.cl
	measureColumns = 16   // MEASURE_COLUMNS
	mostCells      = 1 << 20
)

// Measure implements plan.Measurer. It takes aggregations of 2^20 cells and 16 columns at most.
func (s *Store) Measure(ctx context.Context, sel *plan.SelectBatch, a *plan.Aggregation) (*plan.Cells, error) {
	if sel.Len() != 1 {
		return nil, fmt.Errorf("groups of %d selections, want 1", sel.Len())
	}
	if err := s.check(ctx, sel); err != nil {
		return nil, err
	}
	if err := selfTestMeasures(ctx, s.rt); err != nil {
		return nil, err
	}
	return s.measure(ctx, sel, a)
}

// measure is Measure without a check of its arguments and a self-test.
func (s *Store) measure(ctx context.Context, sel *plan.SelectBatch, a *plan.Aggregation) (*plan.Cells, error) {
	m, err := s.newMeasuring(ctx, a)
	if err != nil {
		return nil, err
	}
	if s.dir.tiles == 0 || len(sel.Selection(0)) == 0 { // no row
		cells := m.result(make([]uint32, m.cells))
		m.takeEnds(nil, cells)
		return cells, nil
	}
	v, err := s.allValues(ctx)
	if err != nil {
		return nil, err
	}
	m.kernel = measureGroups.For(v.features())
	if _, err := s.rt.ProgramOf(m.kernel.KernelID); err != nil {
		return nil, err
	}
	one := *sel
	one.Output = plan.OutputResident
	out := plan.Rows{Counts: make([]uint32, 1), Stride: plan.FilterWords(s.t.Rows)}
	var cells *plan.Cells
	err = s.onSlot(ctx, &one, func(x *slot) error {
		x.after = &after{m.words(), m.write, func(at int) error { return m.send(x, at) }}
		err := x.run(ctx, &one, &out)
		if x.after = nil; err != nil {
			return err
		}
		back := x.Down.Words[x.cut.words+m.cellsAt():][:m.words()-m.cellsAt()]
		if n := back[m.cells]; n > 0 {
			return m.fail(n)
		}
		if cells = m.result(back); m.ends > 0 {
			if n := m.takeEnds(back[m.cells+1:], cells); n > 0 {
				return m.fail(n)
			}
		}
		cells.Stats = out.Stats
		return nil
	})
	return cells, err
}

// measuring is the work of kernels/measure.cl for an aggregation.
type measuring struct {
	store     *Store
	kernel    device.Kernel[measureGroupsArguments]
	of        *plan.Aggregation
	groupings []storedColumn
	measured  []measured
	places    int
	cells     int
	ends      int // work-groups that find least and greatest codes
	bounds    int // bounds of the bins of all groupings
}

// measured is a column with measures.
type measured struct {
	storedColumn
	input   int // its number among the inputs of the aggregation
	plane   int // its first plane of cells; plane 0 has the numbers of rows
	flags   uint32
	divisor uint64 // the kernel divides codes by it (plan.Measure.Binary); 1: it sums the codes
}

// inverse is the factor that divides a multiple of the divisor, which is odd, in 64 bits. It makes codes that
// are no multiples greater than any multiple divided: the kernel counts them as codes above the last one.
func (c *measured) inverse() uint64 {
	x := c.divisor // right in three bits; each step doubles them
	for range 5 {
		x *= 2 - c.divisor*x
	}
	return x
}

// fail is the error of n rows with codes above the last one. Columns of floats have them, so that pure Go
// sums these from now on.
func (m *measuring) fail(n uint32) error {
	err := fmt.Errorf("%d rows have codes above the last one of their column: %w", n, codec.ErrCorrupt)
	for _, c := range m.measured {
		if c.divisor > 1 {
			m.store.uneven.Store(c.Column, true)
			err = fmt.Errorf("floats of column %d: %w", c.Column, plan.ErrUnsupported)
		}
	}
	return err
}

// newMeasuring returns an error that is plan.ErrUnsupported for an aggregation that the kernel does not take.
func (s *Store) newMeasuring(ctx context.Context, a *plan.Aggregation) (*measuring, error) {
	m := &measuring{store: s, of: a, places: 1}
	for _, i := range a.Groupings {
		c, err := s.stored(ctx, a.Inputs[i])
		if err != nil {
			return nil, err
		}
		top := c.Top()
		if top >= plan.Dense || m.places*int(top+2) > plan.Dense {
			return nil, fmt.Errorf("more than %d groups: %w", plan.Dense, plan.ErrUnsupported)
		}
		m.groupings, m.places, m.bounds = append(m.groupings, c), m.places*int(top+2), m.bounds+len(c.Bounds)
	}
	plane := 1
	for i, in := range a.Inputs {
		flags, divisor := uint32(0), uint64(1)
		for _, x := range a.Measures {
			if x.Input != i {
				continue
			}
			if in.Missing {
				flags |= columnValues
			}
			if x.Kind == plan.MeasureCount {
				continue
			}
			if x.Kind == plan.MeasureLeast || x.Kind == plan.MeasureGreatest {
				if len(a.Groupings) > 0 || in.Bounds != nil {
					return nil, fmt.Errorf("measure of column %d: %w", in.Column, plan.ErrUnsupported)
				}
				m.ends, flags = (2*plan.FilterWords(s.t.Rows)+measureSpan-1)/measureSpan, flags|columnEnds
				continue
			}
			by, ok := s.divisor(in, &x)
			if !ok || flags&columnSum != 0 && by != divisor {
				return nil, fmt.Errorf("measure of column %d: %w", in.Column, plan.ErrUnsupported)
			}
			divisor, flags = by, flags|columnSum
		}
		if flags == 0 {
			continue
		}
		c, err := s.stored(ctx, in)
		if err != nil {
			return nil, err
		}
		m.measured = append(m.measured, measured{c, i, plane, flags, divisor})
		plane += bits.OnesCount32(flags&columnValues) + 2*bits.OnesCount32(flags&columnSum)
	}
	m.cells = plane * m.places
	if len(m.groupings)+len(m.measured) > measureColumns || m.cells > mostCells {
		return nil, fmt.Errorf("%d columns, %d cells: %w", len(m.groupings)+len(m.measured), m.cells, plan.ErrUnsupported)
	}
	return m, nil
}

// divisor is the divisor of the codes of a column that the kernel sums for a measure, if it sums them.
func (s *Store) divisor(in plan.Input, x *plan.Measure) (by uint64, ok bool) {
	if by, ok = 1, x.Kind == plan.MeasureSum && x.Weights == nil; x.Kind == plan.MeasureFloats {
		if _, by, ok = x.Binary(); ok {
			_, uneven := s.uneven.Load(in.Column)
			ok = !uneven
		}
	}
	if !ok || in.Bounds != nil {
		return 0, false
	}
	high, _ := bits.Mul64(in.Last/by, uint64(s.t.Rows))
	return by, high == 0
}

// boundsAt and cellsAt are words behind the head of the upload.
func (m *measuring) boundsAt() int { return 4 + columnWords*(len(m.groupings)+len(m.measured)) }
func (m *measuring) cellsAt() int  { return m.boundsAt() + 2*m.bounds }

// words is the size of the upload.
func (m *measuring) words() int { return m.cellsAt() + m.cells + 1 + 4*m.ends*len(m.measured) }

// write makes the upload, which begins at word `at`.
func (m *measuring) write(up []uint32, at int) {
	up[0], up[1], up[2], up[3] = uint32(len(m.groupings)), uint32(len(m.groupings)+len(m.measured)), uint32(m.places), uint32(m.cells)
	records, bounds := up[4:], m.boundsAt()
	for i := range m.groupings {
		c := &m.groupings[i]
		c.write(records, 0, (at+bounds)/2, 0)
		c.writeBounds(up[bounds:])
		records, bounds = records[columnWords:], bounds+2*len(c.Bounds)
	}
	for i := range m.measured {
		c := &m.measured[i]
		c.write(records, c.plane, 0, c.flags)
		last, factor := c.Last/c.divisor, c.inverse()
		records[8], records[9], records[10], records[11] = uint32(last), uint32(last>>32), uint32(factor), uint32(factor>>32)
		records = records[columnWords:]
	}
}

// send enqueues the kernel behind the one that writes the rows of a slot.
func (m *measuring) send(x *slot, at int) error {
	v := m.store.values.Load().buffers(m.store.t)
	filters := v.a0 // any buffer
	for _, c := range m.groupings {
		filters = c.filters(x.Device, filters)
	}
	for _, c := range m.measured {
		filters = c.filters(x.Device, filters)
	}
	words := x.cut.bits
	args := measureGroupsArguments{slicesBuffers: v, batch: x.batch.Buffer, at: at / 4, bits: x.rows.Buffer, words: words, span: measureSpan,
		filters: filters, counts: x.batch.Buffer, cellsAt: at + m.cellsAt()}
	return m.kernel.Launch(&x.Flight, args, (words+measureSpan-1)/measureSpan, facetGroup(x.Device.Tuning), device.ProbeTime)
}

// takeEnds takes the least and greatest codes of all work-groups. It returns the number of those above the last code.
func (m *measuring) takeEnds(words []uint32, r *plan.Cells) (above uint32) {
	r.Ends = make([][]uint64, len(m.of.Measures))
	for k, c := range m.measured {
		least, greatest := uint64(math.MaxUint64), uint64(0)
		for g := 4 * k; g < len(words) && c.flags&columnEnds != 0; g += 4 * len(m.measured) {
			least = min(least, uint64(words[g])|uint64(words[g+1])<<32)
			greatest = max(greatest, uint64(words[g+2])|uint64(words[g+3])<<32)
		}
		if greatest > c.Last {
			above++
		}
		for i, x := range m.of.Measures {
			switch {
			case x.Input == c.input && x.Kind == plan.MeasureLeast:
				r.Ends[i] = []uint64{least}
			case x.Input == c.input && x.Kind == plan.MeasureGreatest:
				r.Ends[i] = []uint64{greatest}
			}
		}
	}
	return above
}

// result makes the answer from all cells.
func (m *measuring) result(cells []uint32) *plan.Cells {
	plane := func(n int) []uint64 {
		all := make([]uint64, m.places)
		for i, x := range cells[n*m.places:][:m.places] {
			all[i] = uint64(x)
		}
		return all
	}
	r := &plan.Cells{Rows: plane(0), Values: make([][]uint64, len(m.of.Inputs)), Sums: make([][]uint64, len(m.of.Measures))}
	for _, c := range m.measured {
		next := c.plane
		if c.flags&columnValues != 0 {
			r.Values[c.input] = plane(next)
			next++
		}
		if c.flags&columnSum == 0 {
			continue
		}
		sums := plane(next)
		for i, high := range cells[(next+1)*m.places:][:m.places] {
			sums[i] |= uint64(high) << 32
		}
		for i, x := range m.of.Measures {
			if x.Kind != plan.MeasureCount && x.Input == c.input {
				r.Sums[i] = sums
			}
		}
	}
	return r
}

var _ plan.Measurer = (*Store)(nil)
