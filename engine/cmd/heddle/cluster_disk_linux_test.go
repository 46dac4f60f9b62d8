//go:build !core

package main

import (
	"fmt"
	"testing"

	"golang.org/x/sys/unix"
)

// smallDisk mounts a disk of so many bytes at a folder.
func smallDisk(t *testing.T, dir string, bytes int) {
	t.Helper()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", bytes)); err != nil {
		t.Skipf("a full disk needs the right to mount: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
}
