// Package scratch makes temporary files, and removes temporary folders.
package scratch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
)

// File is a temporary file. Where the system allows it, it loses its name at once, so
// that not even a killed process leaves it behind.
type File struct{ *os.File }

// New makes a file in a folder; pattern has the syntax of os.CreateTemp.
func New(dir, pattern string) (*File, error) {
	f, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return nil, err
	}
	_ = os.Remove(f.Name()) // Windows refuses while it is open; Close tries again
	return &File{f}, nil
}

// Close closes and removes the file.
func (f *File) Close() error {
	err := f.File.Close()
	if gone := os.Remove(f.Name()); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
}

// RemoveAll is os.RemoveAll. Wine, and some file systems of Windows, lack the call that it makes there,
// so the files go by their paths if it fails.
func RemoveAll(dir string) error {
	err := os.RemoveAll(dir)
	if err == nil || runtime.GOOS != "windows" {
		return err
	}
	return removeByPath(dir)
}

func removeByPath(dir string) error {
	var paths []string // parents before their children
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		paths = append(paths, path)
		return err
	})
	for _, path := range slices.Backward(paths) {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}
