//go:build unix

package cl

import (
	"io/fs"
	"os"
	"syscall"
)

// isOwn reports whether a file belongs to the caller.
func isOwn(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid()
}
