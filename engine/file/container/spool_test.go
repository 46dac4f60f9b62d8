package container_test

import (
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"heddle/engine/file/container"
)

// short is a disk whose temporary files end early, or fail, when they are read.
type short struct {
	container.OSDisk
	err error
}

func (d short) Create(path string) (container.DiskFile, error) {
	f, err := d.OSDisk.Create(path)
	return shortFile{f, d.err}, err
}

type shortFile struct {
	container.DiskFile
	err error
}

func (f shortFile) Read(p []byte) (int, error) {
	n, err := f.DiskFile.Read(p[:min(len(p), 1000)])
	if err != nil {
		return n, err
	}
	return n, f.err
}

// TestShort: a temporary file that ends early, or cannot be read, fails the file that needs its bytes.
func TestShort(t *testing.T) {
	for _, want := range []error{io.EOF, errors.New("a bad sector")} {
		path := filepath.Join(t.TempDir(), "x.two")
		w, err := container.Create(short{err: want}, path, &two)
		if err != nil {
			t.Fatal(err)
		}
		err = errors.Join(w.Sections[1].Append(noise(300_000)), w.Commit(func() (f container.Fields, err error) { return f, nil }))
		if err == nil || !strings.Contains(err.Error(), "1000 of 303104 bytes of a temporary file copied") || want != io.EOF && !errors.Is(err, want) {
			t.Errorf("reads end with %v: error %v", want, err)
		}
	}
}
