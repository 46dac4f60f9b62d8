package bitmap

import (
	"heddle/cl/internal/device"
	"heddle/cl/internal/primitive"
)

// ops are the operations of the tests.
var ops = device.Operations{Operation, primitive.Operation}
