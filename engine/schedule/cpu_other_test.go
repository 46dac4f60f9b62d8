//go:build !unix

package schedule

import "time"

var began = time.Now()

// cpuTime is the time of the clock: where it cannot be asked for, that of all threads is
// not known.
func cpuTime() time.Duration { return time.Since(began) }
