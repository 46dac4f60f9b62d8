package cl

import (
	"context"
	"fmt"

	"heddle/engine/plan"
)

// Evaluate is not on devices: callers take the next backend.
func (s *Store) Evaluate(context.Context, *plan.Formulas, *plan.Results) error {
	return fmt.Errorf("%s: formulas: %w", s.backend.dev, plan.ErrUnsupported)
}
