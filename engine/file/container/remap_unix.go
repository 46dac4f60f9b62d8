//go:build unix

package container

import (
	"errors"
	"io/fs"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"heddle/engine/file/mapped"
)

// remap maps the pages of e once more, with room for further words of memory behind them. It
// returns no words if the pages of the system are larger than the pages of a file, or if another
// file than info lies there.
func remap(at place, info fs.FileInfo, e Extent, further uint64, damage func(offset int64, reason string) error) ([]uint32, func() error, error) {
	file, err := at.open()
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	now, err := file.Stat()
	if err != nil || !os.SameFile(now, info) || os.Getpagesize() > PageSize {
		return nil, nil, err
	}
	pages := uintptr(e.End() - e.Offset)
	size := pages + uintptr(4*further)
	p, err := unix.MmapPtr(-1, 0, nil, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, nil, os.NewSyscallError("mmap", err)
	}
	unmap := func() error { return os.NewSyscallError("munmap", unix.MunmapPtr(p, size)) }
	if _, err := unix.MmapPtr(int(file.Fd()), int64(e.Offset), p, pages, unix.PROT_READ, unix.MAP_SHARED|unix.MAP_FIXED); err != nil {
		return nil, nil, errors.Join(os.NewSyscallError("mmap", err), unmap())
	}
	remove := mapped.Add(unsafe.Slice((*byte)(p), pages), int64(e.Offset), at.String(), info, damage)
	return unsafe.Slice((*uint32)(p), size/4), func() error { remove(); return unmap() }, nil
}
