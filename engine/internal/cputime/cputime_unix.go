//go:build unix

package cputime

import (
	"syscall"
	"time"
)

// Total is the CPU time of all threads of the process so far. Unlike wall time, it does
// not depend on the load of the machine.
func Total() time.Duration { return used(syscall.RUSAGE_SELF) }

// WithChildren is Total and the CPU time of the child processes that have ended.
func WithChildren() time.Duration { return Total() + used(syscall.RUSAGE_CHILDREN) }

func used(who int) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(who, &u); err != nil {
		panic(err) // it takes no argument that could be wrong
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
