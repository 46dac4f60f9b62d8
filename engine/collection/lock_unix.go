//go:build unix

package collection

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lock takes the lock of a file, which ends with the process at the latest.
func lock(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}
