package harness

import (
	"fmt"
	"os"
	"path/filepath"
)

// realFolder reports a folder that does not exist.
func realFolder(path string) error {
	if path == "" {
		return nil
	}
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is no folder", path)
	}
	return err
}

// RealFiles returns the files that match a pattern in the folder of real data, or
// one folder below it. Without a folder there are none.
func RealFiles(folder, pattern string) (paths []string, err error) {
	if folder == "" {
		return nil, nil
	}
	for _, dir := range []string{"", "*"} {
		found, err := filepath.Glob(filepath.Join(folder, dir, pattern))
		if err != nil {
			return nil, err
		}
		paths = append(paths, found...)
	}
	return paths, nil
}
