//go:build unix

package auxiliary

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lock takes the lock of a file.
func lock(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}
