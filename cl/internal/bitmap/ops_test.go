package bitmap

import (
	"heddle/cl/internal/device"
	"heddle/cl/internal/filter"
	"heddle/cl/internal/primitive"
)

// ops are the operations of the tests.
var ops = device.Operations{Operation, filter.Operation, primitive.Operation}
