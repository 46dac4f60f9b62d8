package primitive

import "heddle/cl/internal/device"

// primitiveOps are the operations of the tests.
var ops = device.Operations{Operation}
