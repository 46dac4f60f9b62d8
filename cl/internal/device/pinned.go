package device

import (
	"context"
	"math/bits"
	"unsafe"

	ocl "github.com/jgillich/go-opencl/cl"
)

// Pinned is host memory that the driver allocated and a device reads and writes directly.
// Asynchronous transfers use only such memory, because the driver keeps the pointer after
// the call.
type Pinned struct {
	buffer *ocl.MemObject
	mapped *ocl.MappedMemObject
	Words  []uint32
}

// NewPinned makes pinned memory of n bytes, rounded up to 16.
func (rt *Runtime) NewPinned(n int) (*Pinned, error) {
	n = (n + 15) / 16 * 16
	m, err := rt.Buffer(ocl.MemReadWrite|ocl.MemAllocHostPtr, uint64(n), "a staging buffer")
	if err != nil {
		return nil, err
	}
	p := &Pinned{buffer: m}
	err = rt.await(context.Background(), rt.Transfer, nil, func() (e *ocl.Event, err error) {
		p.mapped, e, err = rt.Transfer.EnqueueMapBuffer(m, false, ocl.MapFlagRead|ocl.MapFlagWrite, 0, n, nil)
		return e, err
	})
	if err != nil {
		m.Release()
		return nil, rt.failAlloc("mapping a staging buffer", err)
	}
	p.Words = unsafe.Slice((*uint32)(p.mapped.Ptr()), n/4)
	return p, nil
}

// Grow replaces p by pinned memory of at least the given number of words if it has fewer,
// and copies the first keep words. No command may use p. The size is a power of two,
// because drivers stop the work of all queues while they allocate or free pinned memory:
// about 10 ms on an H200.
func (rt *Runtime) Grow(p **Pinned, words, keep int) error {
	if (*p).has(words) {
		return nil
	}
	grown, err := rt.NewPinned(4 << bits.Len(uint(max(words, 1)-1)))
	if err != nil {
		return err
	}
	if *p != nil {
		copy(grown.Words, (*p).Words[:keep])
		(*p).Release(rt)
	}
	*p = grown
	return nil
}

func (p *Pinned) has(words int) bool { return p != nil && words <= len(p.Words) }

// Release unmaps and frees the memory. The words must not be touched after it.
func (p *Pinned) Release(rt *Runtime) {
	// After a failure to unmap, freeing is all that is left to do.
	_ = rt.await(context.Background(), rt.Transfer, nil, func() (*ocl.Event, error) { return rt.Transfer.EnqueueUnmapMemObject(p.buffer, p.mapped, nil) })
	p.buffer.Release()
	p.Words = nil
}
