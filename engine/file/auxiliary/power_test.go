package auxiliary_test

import (
	"os"
	"path/filepath"
	"testing"

	"heddle/engine/file/auxiliary"
	"heddle/engine/file/container"
	"heddle/engine/file/container/containertest"
)

// TestPowerCuts replaces a file.
func TestPowerCuts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	containertest.PowerCuts(t, path, func(d container.Disk, path string) error { return auxiliary.ReplaceOn(d, path, []byte("the next one")) })
}

// TestFaults lets each operation on the disk fail.
func TestFaults(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	containertest.Faults(t, path, 6, func(d container.Disk) error { return auxiliary.ReplaceOn(d, path, []byte("next")) }, func(written bool) {
		data, err := os.ReadFile(path)
		if want := map[bool]string{false: "old", true: "next"}[written]; err != nil || string(data) != want {
			t.Fatalf("the file has %q, want %q: %v", data, want, err)
		}
	})
}
