package bitmap

import (
	"context"
	"fmt"
	"math"

	"heddle/cl/internal/device"
	"heddle/cl/internal/lists"
	"heddle/engine/plan"
)

// values holds the stored values of all columns on the device.
type values struct {
	arena  *lists.Arena
	places []lists.Place // the lower half, then the upper half of each column
}

// loadValues uploads the stored values for the first batch that needs them.
func (s *Store) loadValues(ctx context.Context, sel *plan.SelectBatch) error {
	asks := false
	for _, x := range sel.Steps {
		asks = asks || x.Code == plan.StepCheck
	}
	if !asks {
		return nil
	}
	_, err := s.allValues(ctx)
	return err
}

// allValues returns the stored values and uploads them on first use.
func (s *Store) allValues(ctx context.Context) (*values, error) {
	if v := s.values.Load(); v != nil { // without the method values below, which allocate
		return v, nil
	}
	return device.Once(ctx, s.loading, s.closing, s.values.Load, s.values.Store, s.newValues)
}

// newValues checks the stored values and copies them to the device.
func (s *Store) newValues() (*values, error) {
	b, t := s.rt, s.t
	if err := s.checkValues(); err != nil {
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
	ranges, places, err := lists.Layout(view, b.Info.MaxAlloc, lists.MaxArenas)
	if err != nil {
		return nil, b.OutOfMemory("laying out stored values", err)
	}
	arena, err := lists.LoadArena(b, view, ranges)
	if err != nil {
		return nil, err
	}
	return &values{arena, places}, nil
}

// checkValues checks the stored values, until the first success. Its caller holds the token of
// s.loading.
func (s *Store) checkValues() error {
	if s.checked {
		return nil
	}
	t := s.t
	err := device.InParallel(len(t.Columns), len(t.Packed), func(c int) error {
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
	s.checked = err == nil
	return err
}
