//go:build !noopencl

package cl

import (
	"sync"
	"syscall"
	"unsafe"
)

// handler is the kernel's struct sigaction.
type handler struct{ function, flags, restorer, mask uintptr }

// faults are the signals of memory faults.
var faults = [...]syscall.Signal{syscall.SIGSEGV, syscall.SIGBUS}

// keepFaults returns a function that gives memory faults back to the handlers that they have at the first call, Go's:
// libraries install their own (LLVM in PoCL 7, which prints a trace and ends the process), and a fault of a mapped file
// would be no error of Go any more.
var keepFaults = sync.OnceValue(func() (restore func()) {
	var own [len(faults)]handler
	for i, s := range faults {
		handle(s, nil, &own[i])
	}
	return func() {
		for i, s := range faults {
			handle(s, &own[i], nil)
		}
	}
})

// handle sets the handler of a signal, unless to is nil, and stores the former one, unless was is nil. It cannot fail
// for signals that may be caught.
func handle(s syscall.Signal, to, was *handler) {
	const maskBytes = 8
	_, _, _ = syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(s), uintptr(unsafe.Pointer(to)), uintptr(unsafe.Pointer(was)), maskBytes, 0, 0)
}
