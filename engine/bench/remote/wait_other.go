//go:build !linux

package remote

import "time"

// wait is the default of the loop.
var wait func(time.Time)
