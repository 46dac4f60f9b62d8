//go:build !core

package main

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
