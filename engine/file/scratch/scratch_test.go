package scratch

import (
	"errors"
	"io/fs"
	"os"
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
