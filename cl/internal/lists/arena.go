package lists

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/device"
	"heddle/engine/plan"
)

// MaxArenas is the number of arena buffers that kernels take. There are several because
// drivers often limit one allocation to a quarter of the device memory.
const MaxArenas = 4

// FilterArena is the place of the buffer of filters among the arena buffers that kernels take.
// Lists have the buffers before it.
const FilterArena = MaxArenas - 1

// UnpackedArena is the place of the buffer of decoded lists that a round searches. Such a round has
// no filters.
const UnpackedArena = FilterArena

// Arena holds lists on the device: consecutive ranges of the source's words, one buffer
// for each, in the layout of the index file.
type Arena struct {
	Buffers [MaxArenas]*ocl.MemObject // all set; unused ones repeat the first
	memory  *device.Budget
	Bytes   uint64
}

// Place tells where a list lies.
type Place struct {
	Buffer uint32
	Off    uint32 // in units of four words
	Rest   uint32 // words beyond off; 0 for an aligned list
}

// wordRange is the range of words that one buffer of an arena holds.
type wordRange struct{ from, to uint64 }

// Layout cuts the words of src at list boundaries into at most most ranges, each of at most
// maxAlloc bytes, and gives every list its place.
func Layout(src *plan.Source, maxAlloc uint64, most int) ([]wordRange, []Place, error) {
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
	places := make([]Place, len(src.Lists))
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
		places[h] = Place{uint32(len(ranges) - 1), uint32((l.Off - r.from) / 4), uint32((l.Off - r.from) % 4)}
	}
	if len(ranges) > most {
		return nil, nil, fmt.Errorf("lists need %d buffers of at most %d bytes, there are %d", len(ranges), maxAlloc, most)
	}
	return ranges, places, nil
}

// ArenaBytes is the size of the buffers of ranges.
func ArenaBytes(ranges []wordRange) uint64 {
	n := uint64(0)
	for _, r := range ranges {
		n += 4 * (r.to - r.from + plan.ListAlign)
	}
	return max(n, 16)
}

// newArena makes buffers of the given sizes in bytes.
func newArena(ctx context.Context, rt *device.Runtime, memory *device.Budget, sizes []uint64) (*Arena, error) {
	a := &Arena{memory: memory}
	for _, n := range sizes {
		a.Bytes += n
	}
	if err := memory.Reserve(a.Bytes, "lists"); err != nil {
		return nil, err
	}
	for i := range a.Buffers {
		if i >= len(sizes) {
			a.Buffers[i] = a.Buffers[0]
			continue
		}
		m, err := rt.ReadOnly(ctx, sizes[i], "lists")
		if err != nil {
			a.Release()
			return nil, err
		}
		a.Buffers[i] = m
	}
	return a, nil
}

// LoadArena makes the buffers of ranges out of the device's budget and fills them. They are copies on devices that share
// memory with the host too: where the driver reads a mapped file itself, a file that loses pages ends the process.
func LoadArena(ctx context.Context, rt *device.Runtime, src *plan.Source, ranges []wordRange) (*Arena, error) {
	sizes := []uint64{16} // without lists
	if len(ranges) > 0 {
		sizes = nil
	}
	for _, r := range ranges {
		sizes = append(sizes, 4*(r.to-r.from+plan.ListAlign))
	}
	a, err := newArena(ctx, rt, rt.Memory, sizes)
	if err != nil {
		return nil, err
	}
	for i, r := range ranges {
		if err := rt.WriteWords(ctx, a.Buffers[i], 0, src.Words[r.from:r.to]); err != nil {
			a.Release()
			return nil, err
		}
	}
	return a, nil
}

// Single tells whether one buffer holds all lists.
func (a *Arena) Single() bool { return a.Buffers[1] == a.Buffers[0] }

// Release frees the buffers.
func (a *Arena) Release() {
	for i, m := range a.Buffers {
		if m != nil && !slices.Contains(a.Buffers[:i], m) {
			m.Release()
		}
	}
	a.memory.Unreserve(a.Bytes)
}
