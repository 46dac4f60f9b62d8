package shared

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/windows"
)

// Open opens the file at path for reading. Other processes can rename, replace and delete it meanwhile.
func Open(path string) (*os.File, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err == nil {
		var h windows.Handle
		// The flag opens folders, too, as os.Open does.
		h, err = windows.CreateFile(name, windows.GENERIC_READ, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE,
			nil, windows.OPEN_EXISTING, windows.FILE_ATTRIBUTE_NORMAL|windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
		if err == nil {
			return os.NewFile(uintptr(h), path), nil
		}
	}
	return nil, &fs.PathError{Op: "open", Path: path, Err: err}
}

// Replace renames a file. It replaces the file at to, which may be open or mapped.
func Replace(from, to string) error {
	err := rename(from, to)
	for wait := time.Millisecond; inUse(err) && wait < time.Second; wait *= 2 {
		if err = around(from, to); err == nil {
			break
		}
		time.Sleep(wait) // scanners of new files open them for a moment, without leave to rename
		err = rename(from, to)
	}
	if err == nil {
		Sweep(to)
	}
	return err
}

// rename replaces to in one step, also while it is open: a rename below a root has POSIX semantics, where
// the system and the file system have them.
func rename(from, to string) error {
	dir, name := filepath.Split(to)
	if below, err := filepath.Rel(filepath.Clean(dir), from); err == nil && filepath.IsLocal(below) {
		if root, err := os.OpenRoot(filepath.Clean(dir)); err == nil {
			defer root.Close()
			if root.Rename(below, name) == nil {
				return nil
			}
		}
	}
	return os.Rename(from, to)
}

// around moves to aside and renames from to to.
func around(from, to string) error {
	aside := fmt.Sprintf("%s%s%d", to, suffix, time.Now().UnixNano())
	if err := os.Rename(to, aside); err != nil {
		return err
	}
	err := os.Rename(from, to)
	if err != nil {
		back := os.Rename(aside, to)
		for wait := time.Millisecond; back != nil && wait < time.Second; wait *= 2 {
			time.Sleep(wait)
			back = os.Rename(aside, to)
		}
		err = errors.Join(err, back)
	}
	return err
}

// suffix stands between the name of a file and the number of a file aside.
const suffix = ".replaced"

// inUse tells whether err may come from another process that has the file.
func inUse(err error) bool {
	for _, e := range []error{windows.ERROR_ACCESS_DENIED, windows.ERROR_SHARING_VIOLATION, windows.ERROR_LOCK_VIOLATION, windows.ERROR_USER_MAPPED_FILE} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// Sweep deletes the files that Replace has moved aside for path and that are in use no more.
func Sweep(path string) {
	if _, err := os.Lstat(path); err != nil { // a file aside may be the only one
		return
	}
	dir, name := filepath.Split(path)
	entries, _ := os.ReadDir(filepath.Clean(dir))
	for _, e := range entries {
		number, found := strings.CutPrefix(e.Name(), name+suffix)
		if found && len(number) == 19 && strings.Trim(number, "0123456789") == "" {
			_ = os.Remove(filepath.Join(dir, e.Name())) // it may be in use
		}
	}
}
