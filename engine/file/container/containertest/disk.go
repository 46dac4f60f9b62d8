// Package containertest helps to test file formats: a disk that fails, and edits of the
// bytes of a file.
package containertest

import (
	"errors"

	"heddle/engine/file/container"
)

// ErrFault is the error of a Disk.
var ErrFault = errors.New("no space left on the test's device")

// Disk fails at the operation number Fail, counted from 0.
type Disk struct {
	container.OSDisk
	Fail, Count int
	Renamed     bool // the file has its name
	// Dead lets all later operations fail as well, without any effect, as if the process had ended.
	Dead bool
}

func (d *Disk) step() error {
	d.Count++
	if d.Count-1 == d.Fail || d.Dead && d.Count > d.Fail {
		return ErrFault
	}
	return nil
}

func (d *Disk) MkdirTemp(path string) (string, error) {
	if err := d.step(); err != nil {
		return "", err
	}
	return d.OSDisk.MkdirTemp(path)
}

func (d *Disk) Mkdir(path string) error {
	if err := d.step(); err != nil {
		return err
	}
	return d.OSDisk.Mkdir(path)
}

func (d *Disk) Create(path string) (container.DiskFile, error) {
	if err := d.step(); err != nil {
		return nil, err
	}
	f, err := d.OSDisk.Create(path)
	return &file{f, d}, err
}

func (d *Disk) Rename(from, to string) error {
	if err := d.step(); err != nil {
		return err
	}
	d.Renamed = true
	return d.OSDisk.Rename(from, to)
}

func (d *Disk) RemoveAll(dir string) error {
	if d.Dead && d.Count > d.Fail {
		return ErrFault
	}
	return d.OSDisk.RemoveAll(dir)
}

func (d *Disk) SyncDir(dir string) error {
	if err := d.step(); err != nil {
		return err
	}
	return d.OSDisk.SyncDir(dir)
}

type file struct {
	container.DiskFile
	disk *Disk
}

// Write writes half when it fails, as a full disk does.
func (f *file) Write(p []byte) (int, error) {
	if err := f.disk.step(); err != nil {
		n, _ := f.DiskFile.Write(p[:len(p)/2])
		return n, err
	}
	return f.DiskFile.Write(p)
}

func (f *file) Read(p []byte) (int, error) {
	if err := f.disk.step(); err != nil {
		return 0, err
	}
	return f.DiskFile.Read(p)
}

func (f *file) Seek(offset int64, whence int) (int64, error) {
	if err := f.disk.step(); err != nil {
		return 0, err
	}
	return f.DiskFile.Seek(offset, whence)
}

func (f *file) Sync() error {
	if err := f.disk.step(); err != nil {
		return err
	}
	return f.DiskFile.Sync()
}

func (f *file) Close() error {
	return errors.Join(f.disk.step(), f.DiskFile.Close())
}
