package harness

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestRealFolder(t *testing.T) {
	dir := t.TempDir()
	if err := realFolder(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing folder: %v", err)
	}
	path := filepath.Join(dir, "file")
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := realFolder(path); err == nil {
		t.Error("a file in place of a folder: no error")
	}
}
