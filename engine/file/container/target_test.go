package container_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"heddle/engine/file/container"
)

// TestCheckTarget accepts an absent path, an empty file and files of heddle.
func TestCheckTarget(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x")
	if err := container.CheckTarget(path); err != nil {
		t.Error(err)
	}
	for content, foreign := range map[string]bool{
		"": false, "\x89HDL\r\n\x1a\n": false, "\x89HDB\r\n\x1a\nrest": false, "\x89PNG\r\n\x1a\n": true, "a": true, "some text": true,
	} {
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := container.CheckTarget(path); errors.Is(err, container.ErrForeign) != foreign || (err != nil) != foreign {
			t.Errorf("%q: error %v", content, err)
		}
	}
	if err := container.CheckTarget(dir); err == nil || !strings.Contains(err.Error(), "is a folder") {
		t.Errorf("a folder: error %v", err)
	}
	if err := container.CheckTarget(os.DevNull); err == nil || errors.Is(err, container.ErrForeign) {
		t.Errorf("a device: error %v", err)
	}
}

// TestPermissions: a file keeps its permissions when it is replaced.
func TestPermissions(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such permissions")
	}
	path := filepath.Join(t.TempDir(), "x.two")
	for _, mode := range []os.FileMode{0o600, 0o640, 0o444} {
		w, err := container.Create(container.OSDisk{}, path, &two)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Commit(func() (f container.Fields, err error) { return f, nil }); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if w, err = container.Create(container.OSDisk{}, path, &two); err != nil {
			t.Fatal(err)
		}
		if err := w.Commit(func() (f container.Fields, err error) { return f, nil }); err != nil {
			t.Fatal(err)
		}
		st, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := st.Mode().Perm(); got != mode {
			t.Errorf("permissions %o became %o", mode, got)
		}
	}
}
