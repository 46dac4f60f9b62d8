package fetch

import (
	"fmt"
	"path/filepath"

	"heddle/engine/file/container"
)

// ChecksumError says that a source delivered other bytes than the manifest describes.
type ChecksumError struct {
	File        string
	Want, Found string
}

func (e *ChecksumError) Error() string {
	return fmt.Sprintf("%s has the checksum %s, but the manifest says %s", e.File, e.Found, e.Want)
}

// Is makes errors.Is(err, container.ErrCorrupt) true.
func (e *ChecksumError) Is(target error) bool { return target == container.ErrCorrupt }

// DiskFullError says that a file does not fit on the disk. The part that fits is kept.
type DiskFullError struct {
	File       string
	Need, Free uint64
	Err        error
}

func (e *DiskFullError) Error() string {
	return fmt.Sprintf("%s: the disk is full: the file has %d bytes, and %d bytes are free: %v", e.File, e.Need, e.Free, e.Err)
}

func (e *DiskFullError) Unwrap() error { return e.Err }

// full wraps an error that says that the disk has no space left.
func full(err error, path string, need uint64) error {
	if !container.IsFull(err) {
		return err
	}
	return &DiskFullError{File: path, Need: need, Free: Free(filepath.Dir(path)), Err: err}
}
