package build

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"heddle/engine/file/input"
)

// expand replaces each folder among the inputs by its files, in all its subfolders, in the
// order of their names. It leaves out hidden files and folders, links, files of heddle and
// all but the first file of a pisa collection.
func expand(inputs []string) ([]string, error) {
	var paths []string
	for _, in := range inputs {
		if st, err := os.Stat(in); in == "-" || err != nil || !st.IsDir() {
			paths = append(paths, in)
			continue
		}
		n := len(paths)
		err := filepath.WalkDir(in, func(path string, e fs.DirEntry, err error) error {
			switch hidden := path != in && strings.HasPrefix(e.Name(), "."); {
			case err != nil:
				return err
			case hidden && e.IsDir():
				return filepath.SkipDir
			case !hidden && e.Type().IsRegular() && !accompanies(path):
				paths = append(paths, path)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if len(paths) == n {
			return nil, fmt.Errorf("the folder %s has no input files", in)
		}
	}
	return paths, nil
}

// accompanies reports whether a file of a folder is no input of its own.
func accompanies(path string) bool {
	name := input.TrimSuffix(path)
	suffix := filepath.Ext(name)
	if suffix == ".hdl" || suffix == ".hdb" {
		return true
	}
	if !slices.Contains(tripleSuffixes[1:], suffix) {
		return false
	}
	_, found := input.Find(strings.TrimSuffix(name, suffix) + tripleSuffixes[0])
	return found
}
