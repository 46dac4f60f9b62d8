//go:build unix

package peers

import (
	"math"

	"golang.org/x/sys/unix"
)

// descriptors returns the limit of open files of the process; 0 if it has none.
func descriptors() uint64 {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil || uint64(l.Cur) > math.MaxInt32 {
		return 0
	}
	return uint64(l.Cur)
}
