package cl

import (
	"context"
	"fmt"
	"math"

	"heddle/engine/plan"
)

// tableValues holds the stored values of all columns on the device.
type tableValues struct {
	arena  *arena
	places []place // of the lower and the upper half of each column
}

// loadValues uploads the stored values for the first batch that needs them.
func (s *tableStore) loadValues(ctx context.Context, sel *plan.SelectBatch) error {
	asks := false
	for _, x := range sel.Steps {
		asks = asks || x.Code == plan.StepCheck
	}
	if !asks || s.values.Load() != nil { // without the method values below, which allocate
		return nil
	}
	_, err := once(ctx, s.loading, s.closing, s.values.Load, s.values.Store, s.newValues)
	return err
}

// newValues checks the stored values and copies them to the device.
func (s *tableStore) newValues() (*tableValues, error) {
	b, t := s.rt, s.t
	err := inParallel(len(t.Columns), len(t.Packed), func(c int) error {
		low, high, err := t.Codes(uint32(c))
		if err == nil {
			err = low.Validate()
		}
		if err == nil {
			err = high.Validate()
		}
		if err != nil {
			return fmt.Errorf("values of column %d: %w", c, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	view := &plan.Source{Words: t.Packed}
	for c, d := range t.Columns {
		for _, span := range []plan.Span{d.Low, d.High} {
			if span.Words > math.MaxUint32 {
				return nil, fmt.Errorf("cl: values of column %d take %d words: %w", c, span.Words, plan.ErrUnsupported)
			}
			view.Lists = append(view.Lists, plan.List{Off: span.Off, Words: uint32(span.Words)})
		}
	}
	ranges, places, err := layout(view, b.info.MaxAlloc)
	if err != nil {
		return nil, b.outOfMemory("laying out stored values", err)
	}
	arena, err := loadArena(b, view, ranges)
	if err != nil {
		return nil, err
	}
	return &tableValues{arena, places}, nil
}
