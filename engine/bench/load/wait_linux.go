package load

import (
	"runtime"
	"syscall"
	"time"
)

// wait returns at a time, or about a tenth of a millisecond later. It sleeps in the kernel, because
// a timer of the runtime may be late by a millisecond, and the server may need the processor.
func wait(t time.Time) {
	runtime.Gosched() // requests that have arrived come first
	for d := time.Until(t); d > 0; d = time.Until(t) {
		pause := syscall.NsecToTimespec(int64(d))
		_ = syscall.Nanosleep(&pause, nil) // a signal ends it early
	}
}
