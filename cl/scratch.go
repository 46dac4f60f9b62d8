package cl

import (
	"sync/atomic"

	ocl "github.com/jgillich/go-opencl/cl"
)

// scratch is a device buffer that grows with the work. Its content is lost when it grows.
type scratch struct {
	buffer *ocl.MemObject
	words  int
}

// scratchMemory makes the scratch buffers of the slots of one kind. It is safe for
// concurrent use on different buffers.
type scratchMemory struct {
	on   *opened
	from *budget
	used *atomic.Uint64 // bytes of all slots
	op   string         // for errors
}

// newScratchMemory makes scratch memory out of a budget. used counts the bytes of all slots,
// op names the operation in errors.
func newScratchMemory(rt *opened, memory *budget, used *atomic.Uint64, op string) scratchMemory {
	return scratchMemory{rt, memory, used, op}
}

// reserve takes bytes of the budget and counts them.
func (s scratchMemory) reserve(bytes uint64, what string) error {
	err := s.from.reserve(bytes, what)
	if err == nil {
		s.used.Add(bytes)
	}
	return err
}

// unreserve gives bytes back.
func (s scratchMemory) unreserve(bytes uint64) {
	s.from.unreserve(bytes)
	s.used.Add(-bytes)
}

// room gives m room for at least the given number of words. If most is above 0, it doubles
// the size up to most, where memory allows. No command may use m.
func (s scratchMemory) room(m *scratch, words, most int, what string) error {
	if words <= m.words {
		return nil
	}
	words = (words + pad - 1) / pad * pad
	if err := s.on.fits(4*uint64(words), what, s.op); err != nil {
		return err
	}
	more := words
	if most > 0 {
		more = max(words, min(2*m.words, most), 1<<10)
	}
	s.drop(m) // before the new buffer, since both may be large
	if s.on.fits(4*uint64(more), what, s.op) != nil || s.reserve(4*uint64(more), what) != nil {
		more = words
		if err := s.reserve(4*uint64(more), what); err != nil {
			return err
		}
	}
	buffer, err := s.on.buffer(ocl.MemReadWrite, 4*uint64(more), what)
	if err != nil {
		s.unreserve(4 * uint64(more))
		return err
	}
	*m = scratch{buffer, more}
	return nil
}

// drop frees the buffer of m.
func (s scratchMemory) drop(m *scratch) {
	if m.buffer != nil {
		m.buffer.Release()
		s.unreserve(4 * uint64(m.words))
		*m = scratch{}
	}
}
