package input

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrNoInputs is the cause of the error for a folder without a file to read.
var ErrNoInputs = errors.New("has no input files")

// Expand replaces each folder among paths by its files, in the order of their names, with the
// files of all subfolders. It leaves out files that keep does not accept, hidden files and
// folders, and links.
func Expand(paths []string, keep func(path string) bool) ([]string, error) {
	var files []string
	for _, in := range paths {
		if st, err := os.Stat(in); in == "-" || err != nil || !st.IsDir() {
			files = append(files, in)
			continue
		}
		n := len(files)
		err := filepath.WalkDir(in, func(path string, e fs.DirEntry, err error) error {
			switch hidden := path != in && strings.HasPrefix(e.Name(), "."); {
			case err != nil:
				return err
			case hidden && e.IsDir():
				return filepath.SkipDir
			case !hidden && e.Type().IsRegular() && keep(path):
				files = append(files, path)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if len(files) == n {
			return nil, fmt.Errorf("the folder %s %w", in, ErrNoInputs)
		}
	}
	return files, nil
}
