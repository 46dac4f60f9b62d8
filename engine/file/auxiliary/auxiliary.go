// Package auxiliary reads and replaces small files beside the data: costs, statistics, tuning rows,
// lists of words, manifests. A pipe or a device in their place would block the program or never end.
package auxiliary

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"heddle/engine/file/container"
	"heddle/engine/file/shared"
)

// Errors of Read, for errors.Is.
var (
	ErrNotRegular = errors.New("not a regular file")
	ErrTooLarge   = errors.New("too large")
)

// Read returns the content of the regular file at path, of at most limit bytes. An error names
// the path and the cause: fs.ErrNotExist, ErrNotRegular, ErrTooLarge.
func Read(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path) // before Open, which waits for the writer of a pipe
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %w", path, ErrNotRegular)
	}
	f, err := shared.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%s: %w: more than %d bytes", path, ErrTooLarge, limit)
	}
	return data, nil
}

// Replace writes the content of the file at path. The file appears or changes in one step, and
// outlives a loss of power. A pipe or a device at path gets the content.
func Replace(path string, data []byte) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return os.WriteFile(path, data, 0o666)
	}
	return ReplaceOn(container.OSDisk{}, path, data)
}

// ReplaceOn is Replace on a disk that a test may replace.
func ReplaceOn(disk container.Disk, path string, data []byte) (err error) {
	dir, err := disk.MkdirTemp(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, disk.RemoveAll(dir)) }()
	temp := filepath.Join(dir, filepath.Base(path))
	f, err := disk.Create(temp)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := disk.Rename(temp, path); err != nil {
		return err
	}
	return disk.SyncDir(filepath.Dir(path))
}
