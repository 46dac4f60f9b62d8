package cl

import (
	"unsafe"

	ocl "github.com/jgillich/go-opencl/cl"
)

// pinned is host memory that a device reads and writes directly: the mapped
// content of a buffer that the driver allocated. Only such memory takes part in
// asynchronous transfers, since the driver keeps the pointer after the call.
type pinned struct {
	buffer *ocl.MemObject
	mapped *ocl.MappedMemObject
	words  []uint32
}

// newPinned makes pinned memory of n bytes, rounded up to words.
func (b *Backend) newPinned(n int) (*pinned, error) {
	n = (n + 15) / 16 * 16
	m, err := b.buffer(ocl.MemReadWrite|ocl.MemAllocHostPtr, uint64(n), "a staging buffer")
	if err != nil {
		return nil, err
	}
	p := &pinned{buffer: m}
	err = b.do(func() error {
		mapped, e, err := b.transfer.EnqueueMapBuffer(m, true, ocl.MapFlagRead|ocl.MapFlagWrite, 0, n, nil)
		if err != nil {
			return err
		}
		e.Release()
		p.mapped = mapped
		return nil
	})
	if err != nil {
		m.Release()
		return nil, b.failAlloc("mapping a staging buffer", err)
	}
	p.words = unsafe.Slice((*uint32)(p.mapped.Ptr()), n/4)
	return p, nil
}

// release unmaps and frees; the words must not be touched after it.
func (p *pinned) release(b *Backend) {
	_ = b.do(func() error { // a failing unmap leaves nothing to do but to free
		e, err := b.transfer.EnqueueUnmapMemObject(p.buffer, p.mapped, nil)
		if err != nil {
			return err
		}
		e.Release()
		return b.transfer.Finish()
	})
	p.buffer.Release()
	p.words = nil
}
