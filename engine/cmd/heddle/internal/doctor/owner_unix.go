//go:build unix

package doctor

import (
	"io/fs"
	"syscall"
)

// owner returns the user and the group of a file.
func owner(info fs.FileInfo) (uid, gid int) {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Uid), int(s.Gid)
	}
	return -1, -1
}
