package folder

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"heddle/engine/file/container"
)

// link makes the file at path visible as to, a file of a folder, and fixes the name on the disk.
func link(dir, path, to string) error {
	err := os.Link(path, to)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		err = copied(dir, path, to)
	}
	if err != nil {
		return err
	}
	return container.OSDisk{}.SyncDir(dir)
}

// copied is link by a copy, for files of another file system.
func copied(dir, path, to string) (err error) {
	from, err := os.Open(path)
	if err != nil {
		return err
	}
	defer from.Close()
	temp, err := os.CreateTemp(dir, ".*.part")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) // the other name stays
	_, err = io.Copy(temp, from)
	if err = errors.Join(err, temp.Chmod(0o644), temp.Sync(), temp.Close()); err != nil {
		return err
	}
	if err := os.Link(temp.Name(), to); err == nil || errors.Is(err, fs.ErrExist) {
		return err // unlike a rename, a link never replaces a file
	}
	if _, err := os.Lstat(to); err == nil { // the file system has no links
		return &fs.PathError{Op: "append", Path: to, Err: fs.ErrExist}
	}
	return os.Rename(temp.Name(), to)
}
