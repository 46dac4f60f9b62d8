package cl

import (
	"unsafe"

	ocl "github.com/jgillich/go-opencl/cl"
)

// pinned is host memory that the driver allocated and a device reads and writes directly.
// Asynchronous transfers use only such memory, because the driver keeps the pointer after
// the call.
type pinned struct {
	buffer *ocl.MemObject
	mapped *ocl.MappedMemObject
	words  []uint32
}

// newPinned makes pinned memory of n bytes, rounded up to 16.
func (rt *opened) newPinned(n int) (*pinned, error) {
	n = (n + 15) / 16 * 16
	m, err := rt.buffer(ocl.MemReadWrite|ocl.MemAllocHostPtr, uint64(n), "a staging buffer")
	if err != nil {
		return nil, err
	}
	p := &pinned{buffer: m}
	err = rt.do(func() error {
		mapped, e, err := rt.transfer.EnqueueMapBuffer(m, true, ocl.MapFlagRead|ocl.MapFlagWrite, 0, n, nil)
		if err != nil {
			return err
		}
		e.Release()
		p.mapped = mapped
		return nil
	})
	if err != nil {
		m.Release()
		return nil, rt.failAlloc("mapping a staging buffer", err)
	}
	p.words = unsafe.Slice((*uint32)(p.mapped.Ptr()), n/4)
	return p, nil
}

// grow replaces p by pinned memory of room words if it has fewer than words, and copies
// the first keep words. No command may use p.
func (rt *opened) grow(p **pinned, words, room, keep int) error {
	if *p != nil && words <= len((*p).words) {
		return nil
	}
	grown, err := rt.newPinned(4 * room)
	if err != nil {
		return err
	}
	if *p != nil {
		copy(grown.words, (*p).words[:keep])
		(*p).release(rt)
	}
	*p = grown
	return nil
}

// release unmaps and frees the memory. The words must not be touched after it.
func (p *pinned) release(rt *opened) {
	_ = rt.do(func() error { // after a failure to unmap, freeing is all that is left to do
		e, err := rt.transfer.EnqueueUnmapMemObject(p.buffer, p.mapped, nil)
		if err != nil {
			return err
		}
		e.Release()
		return rt.transfer.Finish()
	})
	p.buffer.Release()
	p.words = nil
}
