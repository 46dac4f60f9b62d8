package device

import (
	"sync/atomic"

	ocl "github.com/jgillich/go-opencl/cl"
)

// Scratch is a device buffer that grows with the work. Its content is lost when it grows.
type Scratch struct {
	Buffer *ocl.MemObject
	Words  int
}

// ScratchMemory makes the scratch buffers of the slots of one kind. It is safe for
// concurrent use on different buffers.
type ScratchMemory struct {
	on   *Runtime
	from *Budget
	used *atomic.Uint64 // bytes of all slots
	op   string         // for errors
}

// NewScratchMemory makes scratch memory out of a budget. used counts the bytes of all slots,
// op names the operation in errors.
func NewScratchMemory(rt *Runtime, memory *Budget, used *atomic.Uint64, op string) ScratchMemory {
	return ScratchMemory{rt, memory, used, op}
}

// Reserve takes bytes of the budget and counts them.
func (s ScratchMemory) Reserve(bytes uint64, what string) error {
	err := s.from.Reserve(bytes, what)
	if err == nil {
		s.used.Add(bytes)
	}
	return err
}

// Unreserve gives bytes back.
func (s ScratchMemory) Unreserve(bytes uint64) {
	s.from.Unreserve(bytes)
	s.used.Add(-bytes)
}

// Room gives m room for at least the given number of words. If most is above 0, it doubles
// the size up to most, where memory allows. No command may use m.
func (s ScratchMemory) Room(m *Scratch, words, most int, what string) error {
	if words <= m.Words {
		return nil
	}
	words = (words + pad - 1) / pad * pad
	if err := s.on.Fits(4*uint64(words), what, s.op); err != nil {
		return err
	}
	more := words
	if most > 0 {
		more = max(words, min(2*m.Words, most), 1<<10)
	}
	s.Drop(m) // before the new buffer, since both may be large
	if more > words && s.on.Fits(4*uint64(more), what, s.op) == nil {
		if err := s.fill(m, more, what); !IsExceeded(err) {
			return err
		}
	}
	return s.fill(m, words, what)
}

// fill makes the buffer of m, which has none.
func (s ScratchMemory) fill(m *Scratch, words int, what string) error {
	bytes := 4 * uint64(words)
	if err := s.Reserve(bytes, what); err != nil {
		return err
	}
	buffer, err := s.on.Buffer(ocl.MemReadWrite, bytes, what)
	if err != nil {
		s.Unreserve(bytes)
		return err
	}
	*m = Scratch{buffer, words}
	return nil
}

// Drop frees the buffer of m.
func (s ScratchMemory) Drop(m *Scratch) {
	if m.Buffer != nil {
		m.Buffer.Release()
		s.Unreserve(4 * uint64(m.Words))
		*m = Scratch{}
	}
}

// ReleaseBuffers releases buffers, some of which may be nil.
func ReleaseBuffers(buffers ...*ocl.MemObject) {
	for _, m := range buffers {
		if m != nil {
			m.Release()
		}
	}
}
