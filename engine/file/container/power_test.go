package container_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"heddle/engine/file/container"
	"heddle/engine/file/container/containertest"
)

// TestPowerCuts replaces a file whose sections wait in memory and in temporary files.
func TestPowerCuts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.two")
	if err := os.WriteFile(path, containertest.Layout(&two, container.Fields{}, noise(3), noise(5)), 0o600); err != nil {
		t.Fatal(err)
	}
	containertest.PowerCuts(t, path, func(d container.Disk, path string) error {
		w, err := container.Create(d, path, &two)
		if err != nil {
			return err
		}
		return errors.Join(w.Sections[0].Append(noise(300_000)), w.Sections[1].Append(noise(300_000)),
			w.Commit(func() (f container.Fields, err error) { return f, nil }))
	})
}
