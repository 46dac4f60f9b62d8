// Package scratch makes temporary files.
package scratch

import (
	"errors"
	"io/fs"
	"os"
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
