package scratch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestFile(t *testing.T) {
	dir := t.TempDir()
	f, err := New(dir, "x-*.tmp")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("text"); err != nil {
		t.Fatal(err)
	}
	var b [4]byte
	if _, err := f.ReadAt(b[:], 0); err != nil || string(b[:]) != "text" {
		t.Fatalf("%q, error %v", b, err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); !errors.Is(err, os.ErrClosed) {
		t.Fatalf("closed twice: error %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Fatalf("left behind: %v, error %v", left, err)
	}
	if _, err := New(dir+"/none", "x"); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("error %v, want that there is no folder", err)
	}
}

// TestRemoveByPath removes a folder with files, folders and a link, whose target stays.
func TestRemoveByPath(t *testing.T) {
	dir, outside := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "file")
	if err := errors.Join(os.MkdirAll(filepath.Join(dir, "b", "c"), 0o755), os.WriteFile(filepath.Join(dir, "b", "file"), nil, 0o444),
		os.WriteFile(outside, nil, 0o644), os.Symlink(outside, filepath.Join(dir, "link"))); err != nil {
		t.Fatal(err)
	}
	if err := removeByPath(dir); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder is there: %v", err)
	}
	if _, err := os.Stat(outside); err != nil {
		t.Error(err)
	}
}
