package cl

import (
	"context"
	"fmt"

	"heddle/engine/plan"
)

// LoadTable copies the vectors and values of t to the device.
func (b *Backend) LoadTable(ctx context.Context, t *plan.Table) (plan.TableStore, error) {
	return nil, fmt.Errorf("%s: tables: %w", b.dev, plan.ErrUnsupported)
}
