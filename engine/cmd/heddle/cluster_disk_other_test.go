//go:build !linux && !core

package main

import "testing"

// smallDisk skips the test: only Linux mounts a small disk in one step.
func smallDisk(t *testing.T, _ string, _ int) {
	t.Helper()
	t.Skip("a full disk needs Linux")
}
