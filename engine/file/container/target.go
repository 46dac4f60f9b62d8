package container

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"heddle/engine/file/shared"
)

// family starts every file of heddle.
const family = "\x89HD"

// ErrForeign is the cause of the error for a file of another program, for errors.Is.
var ErrForeign = errors.New("not a file of heddle")

// CheckTarget reports why a file must not be written at path: a folder, a device or a file
// of another program is there. An empty file may be replaced.
func CheckTarget(path string) error {
	old, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case old.IsDir():
		return fmt.Errorf("%s is a folder", path)
	case !old.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", path)
	}
	f, err := shared.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, int64(len(family))))
	if err == nil && len(head) > 0 && !bytes.Equal(head, []byte(family)) {
		err = fmt.Errorf("%s is %w: choose another output, or remove it", path, ErrForeign)
	}
	return err
}
