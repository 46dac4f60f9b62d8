package match

import (
	"context"

	"heddle/cl/internal/device"
	"heddle/cl/internal/lists"
	"heddle/cl/internal/primitive"
	"heddle/engine/plan"
)

// ops are the operations of the tests.
var ops = device.Operations{lists.Operation, Operation, primitive.Operation}

// loadFor loads src for matching alone, with the rounds and slots of the device's row.
func loadFor(ctx context.Context, rt *device.Runtime, src *plan.Source) (*Matcher, error) {
	return load(ctx, rt, src, rt.Tuning.RoundTiles, rt.Tuning.Slots)
}
