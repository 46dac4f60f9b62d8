package container

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/edsrzf/mmap-go"

	"heddle/engine/file/mapped"
	"heddle/engine/file/shared"
)

// place is a path below a root, or in the file system if the root is nil.
type place struct {
	root *os.Root
	path string
}

// String returns the path for people.
func (p place) String() string {
	if p.root == nil {
		return p.path
	}
	return filepath.Join(p.root.Name(), p.path)
}

func (p place) open() (*os.File, error) {
	if p.root == nil {
		return shared.Open(p.path)
	}
	return p.root.Open(p.path)
}

func (p place) stat() (fs.FileInfo, error) {
	if p.root == nil {
		return os.Stat(p.path)
	}
	return p.root.Stat(p.path)
}

// contents maps the file at a place into memory, read-only. Where the platform or
// the file system cannot map, it reads the file instead; then info is nil. release gives the memory back.
// damage makes the error for pages that the file loses later.
func contents(at place, damage func(offset int64, reason string) error) (data []byte, info fs.FileInfo, release func() error, err error) {
	path := at.String()
	if info, err = at.stat(); err != nil {
		return nil, nil, nil, err
	}
	if !info.Mode().IsRegular() { // before Open, which waits for the writer of a pipe
		return nil, nil, nil, fmt.Errorf("%s: not a regular file", path)
	}
	f, err := at.open()
	if err != nil {
		return nil, nil, nil, err
	}
	defer f.Close()                       // a mapping outlives the descriptor
	if info, err = f.Stat(); err != nil { // the size of the open file
		return nil, nil, nil, err
	}
	size := info.Size()
	none := func() error { return nil }
	switch {
	case size != int64(int(size)):
		return nil, nil, nil, fmt.Errorf("%s: %d bytes do not fit the address space", path, size)
	case size == 0: // an empty file cannot be mapped
		return nil, nil, none, nil
	}
	if m, err := mmap.Map(f, mmap.RDONLY, 0); err == nil {
		remove := mapped.Add(m, 0, path, info, damage)
		return m, info, func() error {
			remove()
			err := m.Unmap()
			shared.Sweep(path) // it may be aside, and this its last user
			return err
		}, nil
	}
	data = make([]byte, size)
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return data, nil, none, nil
}
