//go:build unix

package drivers

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// signalOf returns the name of the signal that ended a process, or "".
func signalOf(p *os.ProcessState) string {
	if s, ok := p.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return unix.SignalName(s.Signal())
	}
	return ""
}

// addressSpace returns the limit of the address space in bytes, if there is one.
func addressSpace() (bytes uint64, limited bool) {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &l); err != nil {
		return 0, false
	}
	return uint64(l.Cur), uint64(l.Cur) < 1<<60
}
