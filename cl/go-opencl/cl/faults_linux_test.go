//go:build !noopencl

package cl

import (
	"syscall"
	"testing"
)

// TestFaults: a handler of memory faults that a call installs ends with the call.
func TestFaults(t *testing.T) {
	var before, inside, after handler
	restore := keepFaults()
	handle(syscall.SIGBUS, nil, &before)
	handle(syscall.SIGBUS, &handler{}, nil) // the default: the process ends
	handle(syscall.SIGBUS, nil, &inside)
	restore()
	handle(syscall.SIGBUS, nil, &after)
	if inside.function != 0 || before.function == 0 || after != before {
		t.Errorf("the handler was %x, became %x, and is %x", before, inside, after)
	}
}
