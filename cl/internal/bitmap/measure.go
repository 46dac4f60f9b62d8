package bitmap

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/bits"

	"heddle/cl/internal/device"
	"heddle/codec"
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
	v, err := s.allValues(ctx)
	if err != nil {
		return nil, err
	}
	m, err := s.newMeasuring(v, a)
	if err != nil {
		return nil, err
	}
	if err := m.verify(ctx, v); err != nil {
		return nil, err
	}
	cells, _, err := s.aggregate(ctx, v, sel, m.way(v))
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

// verify finds the greatest code of each column once: one above the last one is codec.ErrCorrupt. Codes that are to be divided
// must be multiples of the divisor; else the error is plan.ErrUnsupported.
func (m *measuring) verify(ctx context.Context, v *values) error {
	for _, in := range m.groupings {
		if err := m.store.verifyLast(ctx, v, in); err != nil {
			return err
		}
	}
	for i := range m.measured {
		c := &m.measured[i]
		if err := m.store.verifyLast(ctx, v, c.Input); err != nil {
			return err
		}
		if even, err := m.store.even(ctx, v, c); err != nil || !even {
			return cmp.Or(err, fmt.Errorf("floats of column %d: %w", c.Column, plan.ErrUnsupported))
		}
	}
	return nil
}

func (s *Store) verifyLast(ctx context.Context, v *values, in plan.Input) error {
	known := v.columns[in.Column].greatest
	if known.Load() == nil {
		m := &measuring{store: s, of: &plan.Aggregation{Measures: []plan.Measure{{Kind: plan.MeasureGreatest}}}, places: 1,
			measured: []measured{{Input: in, flags: columnEnds, divisor: 1}}}
		cells, _, err := s.aggregate(ctx, v, everyValue(in.Column), &totals{measuring: m})
		if err != nil {
			return err
		}
		known.Store(&cells.Ends[0][0])
	}
	if code := *known.Load(); code > in.Last {
		return fmt.Errorf("column %d has codes up to %d, above the last one, %d: %w", in.Column, code, in.Last, codec.ErrCorrupt)
	}
	return nil
}

// even tells whether all codes of a column are multiples of its divisor.
func (s *Store) even(ctx context.Context, v *values, c *measured) (bool, error) {
	if c.divisor == 1 {
		return true, nil
	}
	key := [2]uint64{uint64(c.Column), c.divisor}
	if known, ok := s.evens.Load(key); ok {
		return known.(bool), nil
	}
	m := &measuring{store: s, of: &plan.Aggregation{}, places: 1, planes: 3, measured: []measured{{Input: c.Input, plane: 1, flags: columnSum, divisor: c.divisor}}}
	_, above, err := s.aggregate(ctx, v, everyValue(c.Column), &wideGroups{measuring: m})
	if err == nil {
		s.evens.Store(key, above == 0)
	}
	return above == 0, err
}

// everyValue selects the rows with a value in a column.
func everyValue(column uint32) *plan.SelectBatch {
	var sel plan.SelectBatch
	sel.Do(plan.StepAll)
	sel.Check(column, plan.CodeRange{Hi: math.MaxUint64})
	sel.End()
	return &sel
}

// newMeasuring returns an error that is plan.ErrUnsupported for an aggregation that no kernel takes.
func (s *Store) newMeasuring(v *values, a *plan.Aggregation) (*measuring, error) {
	m := &measuring{store: s, of: a, places: 1, planes: 1}
	for _, i := range a.Groupings {
		in := a.Inputs[i]
		top := in.Top()
		if top >= plan.Dense || m.places*int(top+2) > plan.Dense {
			return nil, fmt.Errorf("more than %d groups: %w", plan.Dense, plan.ErrUnsupported)
		}
		m.groupings, m.places = append(m.groupings, in), m.places*int(top+2)
	}
	for i, in := range a.Inputs {
		flags, divisor := uint32(0), uint64(1)
		for _, x := range a.Measures {
			if x.Input != i {
				continue
			}
			if v.columns[in.Column].lacks {
				flags |= columnValues
			}
			if x.Kind == plan.MeasureCount {
				continue
			}
			if x.Kind == plan.MeasureLeast || x.Kind == plan.MeasureGreatest {
				if len(a.Groupings) > 0 || in.Bounds != nil {
					return nil, fmt.Errorf("measure of column %d: %w", in.Column, plan.ErrUnsupported)
				}
				flags |= columnEnds
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
		m.measured = append(m.measured, measured{in, i, m.planes, flags, divisor})
		m.planes += bits.OnesCount32(flags&columnValues) + 2*bits.OnesCount32(flags&columnSum)
	}
	if columns := len(m.groupings) + len(m.measured); columns > measureColumns || m.planes*m.places > mostCells {
		return nil, fmt.Errorf("%d columns, %d cells: %w", columns, m.planes*m.places, plan.ErrUnsupported)
	}
	return m, nil
}

// divisor is the divisor of the codes of a column that the kernel sums for a measure, if it sums them.
func (s *Store) divisor(in plan.Input, x *plan.Measure) (by uint64, ok bool) {
	if by, ok = 1, x.Kind == plan.MeasureSum && x.Weights == nil; x.Kind == plan.MeasureFloats {
		_, by, ok = x.Binary()
	}
	if !ok || in.Bounds != nil {
		return 0, false
	}
	high, _ := bits.Mul64(in.Last/by, uint64(s.t.Rows))
	return by, high == 0
}

// way chooses the kernel.
func (m *measuring) way(v *values) aggregator {
	if len(m.groupings) == 0 {
		return &totals{measuring: m}
	}
	narrow := true
	for _, in := range m.groupings {
		narrow = narrow && v.columns[in.Column].narrow && in.Bounds == nil
	}
	for _, c := range m.measured {
		narrow = narrow && v.columns[c.Column].narrow
	}
	if g := newGroups(m, v); narrow && g.passes <= groupPasses {
		return g
	}
	return &wideGroups{measuring: m}
}

// answer is the answer without numbers.
func (m *measuring) answer() *plan.Cells {
	return &plan.Cells{Rows: make([]uint64, m.places), Values: make([][]uint64, len(m.of.Inputs)), Sums: make([][]uint64, len(m.of.Measures))}
}

// setSums gives the sums of a column to its measures, divided.
func (m *measuring) setSums(cells *plan.Cells, c *measured, sums []uint64) {
	for i, by := 0, c.inverse(); i < len(sums); i++ {
		sums[i] *= by
	}
	for i, x := range m.of.Measures {
		if x.Input == c.input && (x.Kind == plan.MeasureSum || x.Kind == plan.MeasureFloats) {
			cells.Sums[i] = sums
		}
	}
}

var _ plan.Measurer = (*Store)(nil)
