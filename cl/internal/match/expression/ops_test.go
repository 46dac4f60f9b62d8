package expression

import (
	"heddle/cl/internal/device"
	"heddle/cl/internal/filter"
	"heddle/cl/internal/lists"
)

// ops are the operations of the tests.
var ops = device.Operations{lists.Operation, Operation, filter.Operation}
