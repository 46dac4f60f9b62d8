package cl

import (
	"runtime"
	"sync"
	"unsafe"
)

// MemFlag is the use of a buffer by kernels and the host, and its place.
type MemFlag int

const (
	MemReadWrite     MemFlag = 1 << 0
	MemWriteOnly     MemFlag = 1 << 1
	MemReadOnly      MemFlag = 1 << 2
	MemUseHostPtr    MemFlag = 1 << 3
	MemAllocHostPtr  MemFlag = 1 << 4
	MemCopyHostPtr   MemFlag = 1 << 5
	MemHostWriteOnly MemFlag = 1 << 7
	MemHostReadOnly  MemFlag = 1 << 8
	MemHostNoAccess  MemFlag = 1 << 9
)

// MapFlag states the purpose of a mapping.
type MapFlag int

const (
	MapFlagRead                  MapFlag = 1 << 0
	MapFlagWrite                 MapFlag = 1 << 1
	MapFlagWriteInvalidateRegion MapFlag = 1 << 2 // for writing; the old contents are lost
)

// MemObject is a buffer.
type MemObject struct {
	id uintptr
}

// hostMemory holds the pins of buffers that use memory of the host, by *MemObject.
// A buffer that is never released keeps its memory for good, as the driver does.
var hostMemory sync.Map

// CreateEmptyBuffer makes a buffer of size bytes.
func (ctx *Context) CreateEmptyBuffer(flags MemFlag, size int) (*MemObject, error) {
	return ctx.CreateBufferUnsafe(flags, size, nil)
}

// CreateBuffer makes a buffer of data. With MemUseHostPtr the buffer uses data
// itself, which is pinned until Release; Release only when no command uses it.
func (ctx *Context) CreateBuffer(flags MemFlag, data []byte) (*MemObject, error) {
	return ctx.CreateBufferUnsafe(flags, len(data), unsafe.Pointer(unsafe.SliceData(data)))
}

// CreateBufferUnsafe makes a buffer of the size bytes at dataPtr, as CreateBuffer
// does; a nil dataPtr leaves it empty.
func (ctx *Context) CreateBufferUnsafe(flags MemFlag, size int, dataPtr unsafe.Pointer) (*MemObject, error) {
	if ctx.handle() == 0 {
		return nil, ErrInvalidContext
	}
	if size <= 0 {
		return nil, ErrInvalidBufferSize
	}
	var pinner runtime.Pinner
	keep := flags&MemUseHostPtr != 0 && dataPtr != nil
	if keep {
		pinner.Pin(dataPtr)
	}
	var code int32
	id := clCreateBuffer.call(ctx.id, uintptr(flags), uintptr(size), uintptr(dataPtr), uintptr(unsafe.Pointer(&code)))
	if err := created(id, code); err != nil {
		pinner.Unpin()
		return nil, err
	}
	b := &MemObject{id: id}
	if keep {
		hostMemory.Store(b, &pinner)
	}
	return b, nil
}

// Release gives the buffer back.
func (b *MemObject) Release() {
	if b.handle() == 0 {
		return
	}
	release(clReleaseMemObject, &b.id)
	if pinner, ok := hostMemory.LoadAndDelete(b); ok {
		pinner.(*runtime.Pinner).Unpin()
	}
}

func (b *MemObject) handle() uintptr {
	if b == nil {
		return 0
	}
	return b.id
}

// MappedMemObject is a region of a buffer in the host's address space. It is valid
// from the end of its map command to its unmap command.
type MappedMemObject struct {
	ptr  unsafe.Pointer
	size int
}

// ByteSlice is the region.
func (mb *MappedMemObject) ByteSlice() []byte { return unsafe.Slice((*byte)(mb.ptr), mb.size) }

// Ptr is the region's first byte.
func (mb *MappedMemObject) Ptr() unsafe.Pointer { return mb.ptr }

// Size is the region's length in bytes.
func (mb *MappedMemObject) Size() int { return mb.size }
