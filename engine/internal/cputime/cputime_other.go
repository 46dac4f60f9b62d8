//go:build !unix

package cputime

import "time"

var started = time.Now()

// Total is the time on the wall where the system is not asked for that of threads.
func Total() time.Duration { return time.Since(started) }
