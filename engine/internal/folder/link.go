package folder

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"heddle/engine/file/auxiliary"
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

// partSuffix ends the names of copies that are not complete, which begin with a point.
const partSuffix = ".part"

// copied is link by a copy, for files of another file system. The copy has a lock until it has its name.
func copied(dir, path, to string) (err error) {
	from, err := os.Open(path)
	if err != nil {
		return err
	}
	defer from.Close()
	taken := &fs.PathError{Op: "append", Path: to, Err: fs.ErrExist}
	part := filepath.Join(dir, "."+filepath.Base(to)+partSuffix)
	temp, err := locked(part)
	if errors.Is(err, auxiliary.ErrLocked) { // another process adds a file of this name
		return taken
	} else if err != nil {
		return err
	}
	defer drop(temp)
	_, err = io.Copy(temp, from)
	if err = errors.Join(err, temp.Chmod(0o644), temp.Sync()); err != nil {
		return err
	}
	if err := os.Link(part, to); err == nil || errors.Is(err, fs.ErrExist) {
		return err // unlike a rename, a link never replaces a file
	}
	if _, err := os.Lstat(to); err == nil { // the file system has no links
		return taken
	}
	if err := temp.Close(); err != nil { // Windows renames no open file
		return err
	}
	return os.Rename(part, to)
}

// locked returns an empty file at path with its lock.
func locked(path string) (*os.File, error) {
	for {
		f, err := auxiliary.Lock(path)
		if err != nil {
			return nil, err
		}
		have, err := f.Stat()
		if now, wrong := os.Lstat(path); err == nil && wrong == nil && os.SameFile(have, now) {
			return f, f.Truncate(0)
		}
		if err := errors.Join(err, f.Close()); err != nil {
			return nil, err
		} // removed before the lock
	}
}

// drop removes a file and its lock.
func drop(f *os.File) {
	err := os.Remove(f.Name())
	f.Close() // nothing of it is needed
	if err != nil {
		os.Remove(f.Name()) // Windows removes no open file
	}
}

// clean removes the copies of processes that have ended.
func clean(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if name := e.Name(); !strings.HasPrefix(name, ".") || !strings.HasSuffix(name, Suffix+partSuffix) {
			continue
		}
		if f, err := auxiliary.Lock(filepath.Join(dir, e.Name())); err == nil {
			drop(f)
		}
	}
	return err
}
