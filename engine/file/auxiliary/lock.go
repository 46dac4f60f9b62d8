package auxiliary

import (
	"errors"
	"os"
)

// ErrLocked is the error of Lock for a file that another process has locked.
var ErrLocked = errors.New("another process has the lock")

// Lock locks the file at path, which it creates if it is absent, until the result is closed or the process
// ends. Only calls of Lock respect the lock.
func Lock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	if err := lock(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
