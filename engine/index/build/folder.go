package build

import (
	"path/filepath"
	"slices"
	"strings"

	"heddle/engine/file/input"
)

// expand replaces each folder among the inputs by its files (input.Expand), without files of
// heddle and all but the first file of a pisa collection.
func expand(inputs []string) ([]string, error) {
	return input.Expand(inputs, func(path string) bool { return !accompanies(path) })
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
