//go:build unix && !solaris && !netbsd && !openbsd && !aix

package fetch

import "golang.org/x/sys/unix"

// Free returns the number of bytes that a user may still write to the disk of a folder; 0 if it
// is unknown.
func Free(folder string) uint64 {
	var s unix.Statfs_t
	if unix.Statfs(folder, &s) != nil {
		return 0
	}
	return uint64(s.Bavail) * uint64(s.Bsize)
}
