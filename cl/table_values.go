package cl

import (
	"context"
	"fmt"
	"math"

	"heddle/engine/plan"
)

// tableValues are the stored values of all columns of a table on the device.
type tableValues struct {
	arena  *arena
	places []place // of the lower and the upper halves of each column
}

// loadValues uploads the stored values if sel is the first batch that asks for them.
func (s *tableStore) loadValues(ctx context.Context, sel *plan.SelectBatch) error {
	asks := false
	for _, x := range sel.Steps {
		asks = asks || x.Code == plan.StepCheck
	}
	if !asks || s.values.Load() != nil { // here, since method values below are objects
		return nil
	}
	_, err := once(ctx, s.loading, s.closing, s.values.Load, s.values.Store, s.newValues)
	return err
}

// newValues checks the stored values and copies them to the device.
func (s *tableStore) newValues() (*tableValues, error) {
	b, t := s.backend, s.t
	errs := make([]error, len(t.Columns))
	inParallel(len(errs), len(t.Packed), func(c int) {
		low, high, err := t.Codes(uint32(c))
		if err == nil {
			err = low.Validate()
		}
		if err == nil {
			err = high.Validate()
		}
		errs[c] = err
	})
	view := &plan.Source{Words: t.Packed}
	for c, d := range t.Columns {
		if errs[c] != nil {
			return nil, fmt.Errorf("values of column %d: %w", c, errs[c])
		}
		for _, span := range []plan.Span{d.Low, d.High} {
			if span.Words > math.MaxUint32 {
				return nil, fmt.Errorf("cl: values of column %d take %d words: %w", c, span.Words, plan.ErrUnsupported)
			}
			view.Lists = append(view.Lists, plan.List{Off: span.Off, Words: uint32(span.Words)})
		}
	}
	ranges, places, err := layout(view, b.dev.info.MaxAlloc)
	if err != nil {
		return nil, b.outOfMemory("laying out stored values", err)
	}
	arena, err := b.loadArena(view, ranges)
	if err != nil {
		return nil, err
	}
	return &tableValues{arena, places}, nil
}
