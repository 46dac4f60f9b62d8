package shared

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/edsrzf/mmap-go"
)

// TestReplace replaces a file three times while each version is open, or mapped, or both.
func TestReplace(t *testing.T) {
	for _, by := range []struct {
		name         string
		open, mapped bool
	}{{"none", false, false}, {"open", true, false}, {"mapped", false, true}, {"open and mapped", true, true}} {
		t.Run(by.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "x.hdl")
			var versions [][]byte
			var release []func() error
			for i := range 3 {
				content := bytes.Repeat([]byte{byte('a' + i)}, 10000)
				replace(t, path, content)
				f, err := Open(path)
				if err != nil {
					t.Fatal(err)
				}
				if by.mapped {
					m, err := mmap.Map(f, mmap.RDONLY, 0)
					if err != nil {
						t.Fatal(err)
					}
					versions, release = append(versions, m), append(release, m.Unmap)
				}
				if by.open {
					release = append(release, f.Close)
				} else if err := f.Close(); err != nil {
					t.Fatal(err)
				}
				if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, content) {
					t.Fatalf("version %d: %.3q, error %v", i, got, err)
				}
			}
			for i, v := range versions {
				if v[0] != byte('a'+i) || v[9999] != byte('a'+i) {
					t.Errorf("the map of version %d has the bytes %c and %c", i, v[0], v[9999])
				}
			}
			for _, f := range release {
				if err := f(); err != nil {
					t.Error(err)
				}
			}
			Sweep(path)
			if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
				t.Errorf("left: %v, error %v", left, err)
			}
		})
	}
}

// replace gives the file at path a content, from a folder beside it as a Writer does.
func replace(t *testing.T, path string, content []byte) {
	t.Helper()
	temp, err := os.MkdirTemp(filepath.Dir(path), "x.hdl.tmp")
	if err != nil {
		t.Fatal(err)
	}
	from := filepath.Join(temp, "docids")
	if err := os.WriteFile(from, content, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Replace(from, path); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(temp); err != nil {
		t.Fatal(err)
	}
}

// TestReaders reads a file while it is replaced: a reader gets one version as a whole. Windows may have no
// file between two renames.
func TestReaders(t *testing.T) {
	path := filepath.Join(t.TempDir(), "manifest.json")
	replace(t, path, bytes.Repeat([]byte{'a'}, 1000))
	stop, failed := make(chan struct{}), make(chan error, 1)
	go func() {
		defer close(failed)
		for {
			select {
			case <-stop:
				return
			default:
			}
			if err := read(path); err != nil && !(runtime.GOOS == "windows" && errors.Is(err, fs.ErrNotExist)) {
				failed <- err
				return
			}
		}
	}()
	for i := range 30 {
		replace(t, path, bytes.Repeat([]byte{byte('a' + i%26)}, 1000))
	}
	close(stop)
	if err := <-failed; err != nil {
		t.Error(err)
	}
}

func read(path string) error {
	f, err := Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(f); err != nil {
		return err
	}
	if b.Len() != 1000 || !bytes.Equal(b.Bytes(), bytes.Repeat(b.Bytes()[:1], 1000)) {
		return fmt.Errorf("%d bytes of several versions: %.20q", b.Len(), b.Bytes())
	}
	return nil
}

func TestErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none")
	if _, err := Open(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("open: %v", err)
	}
	if err := Replace(path, path+"2"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("replace: %v", err)
	}
}

// TestLongPath replaces and opens a file whose path is longer than 260 characters, the limit of old programs
// on Windows.
func TestLongPath(t *testing.T) {
	dir := t.TempDir()
	for range 4 {
		dir = filepath.Join(dir, strings.Repeat("d", 100))
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "x.hdl")
	for _, content := range []string{"a", "b"} {
		replace(t, path, bytes.Repeat([]byte(content), 1000))
		if err := read(path); err != nil {
			t.Error(err)
		}
	}
}
