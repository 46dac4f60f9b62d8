package cl

import (
	"cmp"
	"fmt"
	"slices"
	"unsafe"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/engine/plan"
)

// maxArenas is the number of arena buffers that kernels take: an allocation is
// often capped at a quarter of device memory.
const maxArenas = 4

// arena is where the lists live: consecutive ranges of the source's words, one
// buffer each, so that lists go to the device as they lie in the file.
type arena struct {
	buffers [maxArenas]*ocl.MemObject // all set; unused ones repeat the first
	memory  *budget
	bytes   uint64
}

// place is where a list lies: buffer, offset in units of four words, and the words
// beyond those units, none of an aligned list.
type place struct {
	buffer uint32
	off    uint32
	rest   uint32
}

type wordRange struct{ from, to uint64 }

// layout cuts the source's words at list boundaries into ranges of at most
// maxAlloc bytes and says where every list lies.
func layout(src *plan.Source, maxAlloc uint64) ([]wordRange, []place, error) {
	order := make([]plan.Handle, len(src.Lists))
	for i := range order {
		order[i] = plan.Handle(i)
	}
	if !slices.IsSortedFunc(src.Lists, func(a, b plan.List) int { return cmp.Compare(a.Off, b.Off) }) {
		slices.SortFunc(order, func(a, b plan.Handle) int { return cmp.Compare(src.Lists[a].Off, src.Lists[b].Off) })
	}
	// Offsets count four words, kept in 32 bits; a pad of four words lets
	// kernels load whole uint4 at the end.
	maxWords := min(maxAlloc/4, (1<<32-1)*4) - plan.ListAlign
	var ranges []wordRange
	places := make([]place, len(src.Lists))
	for _, h := range order {
		l := src.Lists[h]
		end := l.Off + uint64(l.Words)
		if uint64(l.Words) > maxWords {
			return nil, nil, fmt.Errorf("list %d takes %d bytes, the largest buffer has %d", h, 4*uint64(l.Words), maxAlloc)
		}
		if len(ranges) == 0 || end-ranges[len(ranges)-1].from > maxWords {
			ranges = append(ranges, wordRange{l.Off, l.Off})
		}
		r := &ranges[len(ranges)-1]
		r.to = max(r.to, end)
		places[h] = place{uint32(len(ranges) - 1), uint32((l.Off - r.from) / 4), uint32((l.Off - r.from) % 4)}
	}
	if len(ranges) > maxArenas {
		return nil, nil, fmt.Errorf("lists need %d buffers of at most %d bytes, there are %d", len(ranges), maxAlloc, maxArenas)
	}
	return ranges, places, nil
}

// arenaBytes is what the buffers of ranges take.
func arenaBytes(ranges []wordRange) uint64 {
	n := uint64(0)
	for _, r := range ranges {
		n += 4 * (r.to - r.from + plan.ListAlign)
	}
	return max(n, 16)
}

// newArena makes the buffers, of so many bytes each.
func (b *Backend) newArena(memory *budget, sizes []uint64) (*arena, error) {
	a := &arena{memory: memory}
	for _, n := range sizes {
		a.bytes += n
	}
	if err := memory.reserve(a.bytes, "lists"); err != nil {
		return nil, err
	}
	for i := range a.buffers {
		if i >= len(sizes) {
			a.buffers[i] = a.buffers[0]
			continue
		}
		m, err := b.buffer(ocl.MemReadOnly, sizes[i], "lists")
		if err != nil {
			a.release()
			return nil, err
		}
		a.buffers[i] = m
	}
	return a, nil
}

// loadArena makes the buffers and fills them.
func (b *Backend) loadArena(src *plan.Source, ranges []wordRange) (*arena, error) {
	sizes := []uint64{16} // of no lists
	if len(ranges) > 0 {
		sizes = nil
	}
	for _, r := range ranges {
		sizes = append(sizes, 4*(r.to-r.from+plan.ListAlign))
	}
	a, err := b.newArena(&b.budget, sizes)
	if err != nil {
		return nil, err
	}
	for i, r := range ranges {
		if err := b.writeWords(a.buffers[i], 0, src.Words[r.from:r.to]); err != nil {
			a.release()
			return nil, err
		}
	}
	return a, nil
}

func (a *arena) release() {
	for i, m := range a.buffers {
		if m != nil && !slices.Contains(a.buffers[:i], m) {
			m.Release()
		}
	}
	a.memory.unreserve(a.bytes)
}

// uploadChunk is the size of one pinned buffer of a bulk upload.
const uploadChunk = 8 << 20

// writeWords copies words to word to of m through two pinned buffers, so that one
// fills while the other travels, and writes four zero words behind them.
func (b *Backend) writeWords(m *ocl.MemObject, to int, words []uint32) error {
	var stages [2]*pinned
	var sent [2]*ocl.Event
	defer func() {
		for i := range stages {
			if sent[i] != nil {
				sent[i].Release()
			}
			if stages[i] != nil {
				stages[i].release(b)
			}
		}
	}()
	total := 4*len(words) + 16
	for i := range stages {
		var err error
		if stages[i], err = b.newPinned(min(uploadChunk, total)); err != nil {
			return err
		}
	}
	for at, i := 0, 0; at < total; i ^= 1 {
		if sent[i] != nil {
			if err := ocl.WaitForEvents([]*ocl.Event{sent[i]}); err != nil {
				return b.fail("uploading lists", err)
			}
			sent[i].Release()
			sent[i] = nil
		}
		stage := stages[i].words
		n := copy(stage, words[min(at/4, len(words)):])
		clear(stage[n:min(n+4, len(stage))])
		size := min(4*len(stage), total-at)
		err := b.do(func() (err error) {
			if err = b.fault("upload"); err != nil {
				return err
			}
			sent[i], err = b.transfer.EnqueueWriteBuffer(m, false, 4*to+at, size, unsafe.Pointer(&stage[0]), nil)
			return cmp.Or(err, b.transfer.Flush())
		})
		if err != nil {
			return b.fail("uploading lists", err)
		}
		at += size
	}
	return b.fail("uploading lists", b.do(b.transfer.Finish))
}
