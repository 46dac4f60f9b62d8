package container

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"heddle/engine/file/scratch"
	"heddle/engine/file/shared"
)

// Disk is the operating system as a Writer uses it; tests replace it by a disk that fails.
type Disk interface {
	// MkdirTemp makes a directory beside path, named after it.
	MkdirTemp(path string) (dir string, err error)
	// Mkdir makes the directory path.
	Mkdir(path string) error
	Create(path string) (DiskFile, error)
	Rename(from, to string) error
	SyncDir(dir string) error
	RemoveAll(dir string) error
}

// DiskFile is an open file of a Disk.
type DiskFile interface {
	io.ReadWriteSeeker
	io.Closer
	Sync() error
}

// OSDisk is the operating system's.
type OSDisk struct{}

func (OSDisk) MkdirTemp(path string) (string, error) {
	return os.MkdirTemp(filepath.Dir(path), filepath.Base(path)+".tmp")
}

func (OSDisk) Mkdir(path string) error { return os.Mkdir(path, 0o777) }

func (OSDisk) Create(path string) (DiskFile, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
}

// Rename keeps the permissions of a file that it replaces.
func (OSDisk) Rename(from, to string) error {
	if old, err := os.Stat(to); err == nil {
		if err := os.Chmod(from, old.Mode().Perm()); err != nil {
			return err
		}
	}
	return shared.Replace(from, to)
}

func (OSDisk) RemoveAll(dir string) error { return scratch.RemoveAll(dir) }

// SyncDir makes a rename in dir durable, where the system can: Windows does not
// open directories and some file systems do not sync them.
func (OSDisk) SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) || errors.Is(err, os.ErrPermission) {
		err = nil
	}
	return errors.Join(err, d.Close())
}
