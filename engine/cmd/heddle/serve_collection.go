package main

import (
	"os"
	"path/filepath"

	"heddle/engine/collection"
)

// takeCollections moves the folders among the files of indexes to dirs.
func takeCollections(files map[string]string) (dirs map[string]string, err error) {
	dirs = map[string]string{}
	for name, path := range files {
		folder, err := isCollection(path)
		if err != nil {
			return nil, err
		}
		if folder {
			dirs[name] = path
			delete(files, name)
		}
	}
	return dirs, nil
}

// collectionsOf returns the collections in a folder, as NAME=FOLDER.
func collectionsOf(dir string) (found []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if path := filepath.Join(dir, e.Name()); collection.Is(path) { // also behind a symbolic link
			found = append(found, e.Name()+"="+path)
		}
	}
	return found, nil
}
