package cl

import (
	"context"
	"heddle/engine/plan"
)

// matchOps are the operations of the tests.
var matchOps = operations{listsOperation, matchOperation, primitiveOperation}

// loadFor loads src for matching alone, with the rounds and slots of the device's row.
func loadFor(ctx context.Context, rt *opened, src *plan.Source) (*matcher, error) {
	return loadMatcher(ctx, rt, src, rt.tuning.RoundTiles, rt.tuning.Slots)
}
