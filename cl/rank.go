package cl

import (
	"context"
	"fmt"

	"heddle/engine/plan"
)

// Rank answers r.
func (s *Store) Rank(ctx context.Context, r *plan.Ranks, out *plan.TopK) error {
	return fmt.Errorf("cl: ranking: %w", plan.ErrUnsupported)
}
