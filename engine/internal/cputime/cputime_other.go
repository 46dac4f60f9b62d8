//go:build !unix && !windows

package cputime

import "time"

var started = time.Now()

// Total is wall time on systems without support for the time of threads.
func Total() time.Duration { return time.Since(started) }

// WithChildren is Total.
func WithChildren() time.Duration { return Total() }
