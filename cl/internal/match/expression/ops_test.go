package expression

import (
	"heddle/cl/internal/device"
	"heddle/cl/internal/lists"
)

// exprOps are the operations of the tests.
var ops = device.Operations{lists.Operation, Operation}
