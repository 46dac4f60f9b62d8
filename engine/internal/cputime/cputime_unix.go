//go:build unix

package cputime

import (
	"syscall"
	"time"
)

// Total is what all threads of the process have worked so far: neighbours of the
// machine do not count.
func Total() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // it takes no argument that could be wrong
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
