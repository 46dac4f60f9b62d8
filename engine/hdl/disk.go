package hdl

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// disk is what the Writer needs of the operating system; tests put one in its
// place that fails.
type disk interface {
	// mkdirTemp makes a directory beside path, named after it.
	mkdirTemp(path string) (dir string, err error)
	create(path string) (diskFile, error)
	rename(from, to string) error
	syncDir(dir string) error
	removeAll(dir string) error
}

type diskFile interface {
	io.ReadWriteSeeker
	io.Closer
	Sync() error
}

type osDisk struct{}

func (osDisk) mkdirTemp(path string) (string, error) {
	return os.MkdirTemp(filepath.Dir(path), filepath.Base(path)+".tmp")
}

func (osDisk) create(path string) (diskFile, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
}

func (osDisk) rename(from, to string) error { return os.Rename(from, to) }
func (osDisk) removeAll(dir string) error   { return os.RemoveAll(dir) }

// syncDir makes a rename in dir durable, where the system can: Windows does not
// open directories and some file systems do not sync them.
func (osDisk) syncDir(dir string) error {
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
