package rank

import (
	"heddle/cl/internal/device"
	"heddle/cl/internal/lists"
)

// rankOps are the operations of the tests.
var ops = device.Operations{lists.Operation, Operation}
