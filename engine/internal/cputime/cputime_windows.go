package cputime

import (
	"time"

	"golang.org/x/sys/windows"
)

// Total is the CPU time of all threads of the process so far. Unlike wall time, it does
// not depend on the load of the machine.
func Total() time.Duration {
	var created, ended, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(windows.CurrentProcess(), &created, &ended, &kernel, &user); err != nil {
		panic(err) // the handle of the own process is always valid
	}
	return span(kernel) + span(user)
}

// WithChildren is Total: children that have ended leave no time behind.
func WithChildren() time.Duration { return Total() }

// span is a length of time, which Windows counts in units of 100 ns.
func span(t windows.Filetime) time.Duration {
	return time.Duration(int64(t.HighDateTime)<<32|int64(t.LowDateTime)) * 100
}
