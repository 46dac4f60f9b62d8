package lists

import "heddle/cl/internal/device"

// listsOps are the operations of the tests.
var ops = device.Operations{Operation}
