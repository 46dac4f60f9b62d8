package cl

import (
	"cmp"
	"fmt"
	"slices"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/engine/plan"
)

// maxArenas is the number of arena buffers that kernels take. There are several because
// drivers often limit one allocation to a quarter of the device memory.
const maxArenas = 4

// arena holds lists on the device: consecutive ranges of the source's words, one buffer
// for each, in the layout of the index file.
type arena struct {
	buffers [maxArenas]*ocl.MemObject // all set; unused ones repeat the first
	memory  *budget
	bytes   uint64
}

// place tells where a list lies.
type place struct {
	buffer uint32
	off    uint32 // in units of four words
	rest   uint32 // words beyond off; 0 for an aligned list
}

// wordRange is the range of words that one buffer of an arena holds.
type wordRange struct{ from, to uint64 }

// layout cuts the words of src at list boundaries into ranges of at most maxAlloc bytes,
// and gives every list its place.
func layout(src *plan.Source, maxAlloc uint64) ([]wordRange, []place, error) {
	order := make([]plan.Handle, len(src.Lists))
	for i := range order {
		order[i] = plan.Handle(i)
	}
	if !slices.IsSortedFunc(src.Lists, func(a, b plan.List) int { return cmp.Compare(a.Off, b.Off) }) {
		slices.SortFunc(order, func(a, b plan.Handle) int { return cmp.Compare(src.Lists[a].Off, src.Lists[b].Off) })
	}
	// Offsets count units of four words in 32 bits. The pad lets kernels load whole
	// vectors of four words at the end.
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

// arenaBytes is the size of the buffers of ranges.
func arenaBytes(ranges []wordRange) uint64 {
	n := uint64(0)
	for _, r := range ranges {
		n += 4 * (r.to - r.from + plan.ListAlign)
	}
	return max(n, 16)
}

// newArena makes buffers of the given sizes in bytes.
func newArena(rt *opened, memory *budget, sizes []uint64) (*arena, error) {
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
		m, err := rt.buffer(ocl.MemReadOnly, sizes[i], "lists")
		if err != nil {
			a.release()
			return nil, err
		}
		a.buffers[i] = m
	}
	return a, nil
}

// loadArena makes the buffers of ranges out of the device's budget and fills them.
func loadArena(rt *opened, src *plan.Source, ranges []wordRange) (*arena, error) {
	sizes := []uint64{16} // without lists
	if len(ranges) > 0 {
		sizes = nil
	}
	for _, r := range ranges {
		sizes = append(sizes, 4*(r.to-r.from+plan.ListAlign))
	}
	a, err := newArena(rt, rt.memory, sizes)
	if err != nil {
		return nil, err
	}
	for i, r := range ranges {
		if err := rt.writeWords(a.buffers[i], 0, src.Words[r.from:r.to]); err != nil {
			a.release()
			return nil, err
		}
	}
	return a, nil
}

// size returns the bytes of all buffers.
func (a *arena) size() uint64 { return a.bytes }

// single tells whether one buffer holds all lists.
func (a *arena) single() bool { return a.buffers[1] == a.buffers[0] }

// release frees the buffers.
func (a *arena) release() {
	for i, m := range a.buffers {
		if m != nil && !slices.Contains(a.buffers[:i], m) {
			m.Release()
		}
	}
	a.memory.unreserve(a.bytes)
}
