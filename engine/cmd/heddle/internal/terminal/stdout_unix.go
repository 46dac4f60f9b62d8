//go:build unix

package terminal

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// answers is the standard output of the command. Drivers print to descriptor 1, which therefore
// becomes standard error: only heddle writes to its answers.
type answers struct{ file *os.File }

// OwnStdout moves standard output to a descriptor of its own.
func OwnStdout() (answers, error) {
	fd, err := unix.FcntlInt(1, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return answers{os.Stdout}, err // it is closed, for example
	}
	if err := dup(2, 1); err != nil {
		return answers{os.Stdout}, errors.Join(err, unix.Close(fd))
	}
	return answers{os.NewFile(uintptr(fd), "/dev/stdout")}, nil
}

// Write ends the process by SIGPIPE if the reader of a pipe has gone, as Go does for descriptor 1.
func (a answers) Write(b []byte) (int, error) {
	n, err := a.file.Write(b)
	if errors.Is(err, syscall.EPIPE) && a.file != os.Stdout && dup(int(a.file.Fd()), 1) == nil {
		return os.Stdout.Write(b)
	}
	return n, err
}

// Fd returns the descriptor, by which a terminal is known.
func (a answers) Fd() uintptr { return a.file.Fd() }
