//go:build !linux

package load

import "time"

// wait is the default of the loop.
var wait func(time.Time)
