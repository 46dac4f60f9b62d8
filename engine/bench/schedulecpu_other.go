//go:build !unix

package bench

import "time"

var started = time.Now()

// cpuTime is the time on the wall where the system is not asked for that of threads.
func cpuTime() time.Duration { return time.Since(started) }
