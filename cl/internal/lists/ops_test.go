package lists

import "heddle/cl/internal/device"

// ops are the operations of the tests.
var ops = device.Operations{Operation}
