//go:build !windows

package shared

import "os"

// Open opens the file at path for reading. Other processes can rename, replace and delete it meanwhile.
func Open(path string) (*os.File, error) { return os.Open(path) }

// Replace renames a file. It replaces the file at to, which may be open or mapped.
func Replace(from, to string) error { return os.Rename(from, to) }

// Sweep deletes the files that Replace has moved aside for path and that are in use no more. It moves none
// on this system.
func Sweep(string) {}
