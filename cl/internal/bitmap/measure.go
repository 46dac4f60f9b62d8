package bitmap

import (
	"context"
	"fmt"
	"math/bits"
	"slices"

	"heddle/cl/internal/device"
	"heddle/engine/plan"
)

const (
	measureColumns = 16 // MEASURE_COLUMNS of kernels/measure.cl, TOTAL_COLUMNS of kernels/totals.cl
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
	return s.measureAll(ctx, sel, a, plan.Dense)
}

// measureAll is measure for some number of groups at most.
func (s *Store) measureAll(ctx context.Context, sel *plan.SelectBatch, a *plan.Aggregation, groups int) (*plan.Cells, error) {
	v, err := s.allValues(ctx)
	if err != nil {
		return nil, err
	}
	m, err := s.newMeasuring(ctx, v, a, groups)
	if err != nil {
		return nil, err
	}
	if err := m.verify(ctx, v); err != nil {
		return nil, err
	}
	cells, _, err := s.aggregate(ctx, v, sel, m.way(v, sel))
	if err == nil && slices.Contains(m.counted, true) {
		err = m.countCodes(ctx, sel, cells)
	}
	return cells, err
}

// aggregate returns the answer of a kernel, and the number of codes that it found above the last one of their column.
func (s *Store) aggregate(ctx context.Context, v *values, sel *plan.SelectBatch, way aggregator) (cells *plan.Cells, above uint32, err error) {
	if s.dir.tiles == 0 || len(sel.Selection(0)) == 0 { // no row
		cells, above = way.take(make([]uint32, way.words()-way.cellsAt()))
		return cells, above, nil
	}
	one := *sel
	one.Output = plan.OutputResident
	with := v.features()
	fused := way.fused()
	if fused {
		if inSlices(sel.Selection(0)) {
			one.Output = plan.OutputCounts // without bits
		}
		if looksUp(sel.Steps) || !s.lean() {
			with |= useCodes
		}
	}
	if _, err := s.rt.ProgramOf(way.prepare(with)); err != nil {
		return nil, 0, err
	}
	const part = 4 // words of 64 rows that a work-item reads together: see kernels/slice.cl
	out := plan.Rows{Counts: make([]uint32, 1), Stride: (plan.FilterWords(s.t.Rows) + part - 1) / part * part}
	err = s.onSlot(ctx, &one, func(x *slot) error {
		x.after = &after{way.up(), way.words(), way.room(), fused, func(up []uint32, at int) { way.write(x, up, at) }, func(at int) error { return way.send(x, at) }}
		err := x.run(ctx, &one, &out)
		if x.after = nil; err == nil {
			cells, above = way.take(x.Down.Words[x.cut.words+way.cellsAt():][:way.words()-way.cellsAt()])
			cells.Stats = out.Stats
		}
		return err
	})
	return cells, above, err
}

// aggregator is how a kernel computes an aggregation.
type aggregator interface {
	prepare(with device.Features) device.KernelID // chooses the program
	fused() bool                                  // the kernel selects the rows
	words() int                                   // size of its part of the batch
	cellsAt() int                                 // the word from which on the answer comes back
	up() int                                      // words of the upload
	room() int                                    // words that the device has
	write(x *slot, up []uint32, at int)           // makes the upload, which begins at word `at` of the upload of the slot
	send(x *slot, at int) error                   // enqueues the kernel
	take(back []uint32) (*plan.Cells, uint32)     // the answer, and the number of codes above the last one of their column
}

// measuring is an aggregation that some kernel takes.
type measuring struct {
	store     *Store
	of        *plan.Aggregation
	groupings []plan.Input
	measured  []measured
	counted   []bool // by measure: codes are counted in place of it (countCodes)
	places    int
	planes    int // of cells, each with a number for each place
}

// measured is a column with measures.
type measured struct {
	plan.Input
	input   int // its number among the inputs of the aggregation
	plane   int // its first plane of cells; plane 0 has the numbers of rows
	flags   uint32
	divisor uint64 // the kernel divides codes by it (plan.Measure.Binary); 1: it sums the codes
}

// inverse is the factor that divides a multiple of the divisor, which is odd, in 64 bits. It makes codes that
// are no multiples greater than any multiple divided.
func (c *measured) inverse() uint64 {
	x := c.divisor // right in three bits; each step doubles them
	for range 5 {
		x *= 2 - c.divisor*x
	}
	return x
}

// newMeasuring returns an error that is plan.ErrUnsupported for an aggregation that no kernel takes, or of more than the
// given number of groups.
func (s *Store) newMeasuring(ctx context.Context, v *values, a *plan.Aggregation, groups int) (*measuring, error) {
	m := &measuring{store: s, of: a, counted: make([]bool, len(a.Measures)), places: 1, planes: 1}
	for _, i := range a.Groupings {
		in := a.Inputs[i]
		top := in.Top()
		if top >= uint64(groups) || m.places*int(top+2) > groups {
			return nil, fmt.Errorf("more than %d groups: %w", groups, plan.ErrUnsupported)
		}
		m.groupings, m.places = append(m.groupings, in), m.places*int(top+2)
	}
	for i, in := range a.Inputs {
		if err := m.measure(ctx, v, i, in); err != nil {
			return nil, err
		}
	}
	if columns := len(m.groupings) + len(m.measured); columns > measureColumns || m.planes*m.places > mostCells {
		return nil, fmt.Errorf("%d columns, %d cells: %w", columns, m.planes*m.places, plan.ErrUnsupported)
	}
	return m, nil
}

// measure adds the measures of an input.
func (m *measuring) measure(ctx context.Context, v *values, input int, in plan.Input) error {
	flags, divisor, halves := uint32(0), uint64(1), false
	for i, x := range m.of.Measures {
		if x.Input != input {
			continue
		}
		if v.columns[in.Column].lacks {
			flags |= columnValues
		}
		if x.Kind == plan.MeasureCount {
			continue
		}
		if x.Kind == plan.MeasureLeast || x.Kind == plan.MeasureGreatest {
			switch {
			case in.Bounds != nil:
				return fmt.Errorf("measure of column %d: %w", in.Column, plan.ErrUnsupported)
			case len(m.of.Groupings) == 0:
				flags |= columnEnds
			case x.Kind == plan.MeasureLeast:
				flags |= columnLeast
			default:
				flags |= columnGreatest
			}
			continue
		}
		by, wide, ok := m.store.divisor(in, &x)
		if ok {
			var err error
			if ok, err = m.store.even(ctx, v, in, by); err != nil {
				return err
			}
		}
		if !ok || flags&columnSum != 0 && by != divisor {
			if in.Bounds != nil || in.Last >= mostCells || m.places*int(in.Last+2) > mostCells || len(m.groupings) == measureColumns {
				return fmt.Errorf("measure of column %d: %w", in.Column, plan.ErrUnsupported)
			}
			m.counted[i] = true
			continue
		}
		divisor, halves, flags = by, wide, flags|columnSum
	}
	switch {
	case flags == 0:
		return nil
	case halves:
		m.add(measured{Input: in, input: input, flags: flags | columnLower, divisor: 1})
		m.add(measured{Input: in, input: input, flags: columnSum | columnUpper, divisor: 1})
	default:
		m.add(measured{Input: in, input: input, flags: flags, divisor: divisor})
	}
	return nil
}

// add adds a column behind all planes.
func (m *measuring) add(c measured) {
	c.plane = m.planes
	m.measured = append(m.measured, c)
	m.planes += bits.OnesCount32(c.flags&columnValues) + 2*bits.OnesCount32(c.flags&(columnSum|columnLeast|columnGreatest))
}

// divisor is the divisor of the codes of a column that the kernel sums for a measure, if it sums them. A wide sum has 128 bits.
func (s *Store) divisor(in plan.Input, x *plan.Measure) (by uint64, wide, ok bool) {
	if by, ok = 1, x.Kind == plan.MeasureSum && x.Weights == nil; x.Kind == plan.MeasureFloats {
		_, by, ok = x.Binary()
	}
	if !ok || in.Bounds != nil {
		return 0, false, false
	}
	high, _ := bits.Mul64(in.Last/by, uint64(s.t.Rows))
	return by, high > 0, high == 0 || x.Kind == plan.MeasureSum
}

// way chooses the kernel.
func (m *measuring) way(v *values, sel *plan.SelectBatch) aggregator {
	if len(m.groupings) == 0 {
		return &totals{measuring: m}
	}
	if p := newPair(m, v, sel); p != nil {
		return p
	}
	narrow := true
	for _, in := range m.groupings {
		narrow = narrow && v.columns[in.Column].narrow && in.Bounds == nil
	}
	for _, c := range m.measured {
		narrow = narrow && v.columns[c.Column].narrow && c.flags&(columnLower|columnUpper) == 0
	}
	if g := newGroups(m, v); narrow && g.passes <= groupPasses {
		return g
	}
	return &wideGroups{measuring: m}
}

var _ plan.Measurer = (*Store)(nil)
