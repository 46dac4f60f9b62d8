package bitmap

import (
	"context"
	"fmt"
	"math"

	"heddle/codec"
	"heddle/engine/plan"
)

// verify finds the greatest code of each column once: one above the last one is codec.ErrCorrupt.
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

// even tells whether all codes of a column are multiples of a divisor.
func (s *Store) even(ctx context.Context, v *values, in plan.Input, divisor uint64) (bool, error) {
	if divisor == 1 {
		return true, nil
	}
	key := [2]uint64{uint64(in.Column), divisor}
	if known, ok := s.evens.Load(key); ok {
		return known.(bool), nil
	}
	m := &measuring{store: s, of: &plan.Aggregation{}, places: 1, planes: 3, measured: []measured{{Input: in, plane: 1, flags: columnSum, divisor: divisor}}}
	_, above, err := s.aggregate(ctx, v, everyValue(in.Column), &wideGroups{measuring: m})
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
