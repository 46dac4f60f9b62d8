//go:build !unix

package container

import "io/fs"

// remap is not possible on this system.
func remap(place, fs.FileInfo, Extent, uint64, func(offset int64, reason string) error) ([]uint32, func() error, error) {
	return nil, nil, nil
}
