//go:build unix

package cputime

import (
	"syscall"
	"time"
)

// Total is the CPU time of all threads of the process so far. Unlike wall time, it does
// not depend on the load of the machine.
func Total() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // it takes no argument that could be wrong
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
