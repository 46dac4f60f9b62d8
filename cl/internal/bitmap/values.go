package bitmap

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/device"
	"heddle/cl/internal/lists"
	"heddle/codec/bitslice"
	"heddle/engine/plan"
)

// values holds the slices of all columns on the device.
type values struct {
	arena *lists.Arena
	tiles *ocl.MemObject // see kernels/slice.cl; the tiles of a column follow each other
	bytes uint64         // memory of tiles

	columns []valuesColumn
}

// valuesColumn tells what the tiles of a column have in common.
type valuesColumn struct {
	width  int    // the greatest width of a tile
	last   uint64 // no code is above it
	narrow bool   // last is at most 2^32-1
	lacks  bool   // some row has no value

	greatest *atomic.Pointer[uint64] // the greatest code of all rows, once it is known
}

// columnOf looks at the tiles of a column.
func columnOf(tiles []bitslice.Tile) valuesColumn {
	c := valuesColumn{greatest: new(atomic.Pointer[uint64])}
	for i := range tiles {
		t := &tiles[i]
		c.width = max(c.width, int(t.Width))
		c.last = max(c.last, t.Max())
		c.lacks = c.lacks || t.Valid <= uint32(t.Last)
	}
	c.narrow = c.last <= math.MaxUint32
	return c
}

// tileWords is the size of a tile on the device, in words.
const tileWords = 8

// buffers returns the arguments of kernels that read slices.
func (v *values) buffers(t *plan.Table) slicesBuffers {
	a := v.arena.Buffers
	return slicesBuffers{a0: a[0], a1: a[1], a2: a[2], a3: a[3], tiles: v.tiles, tileCount: bitslice.Tiles(t.Rows)}
}

// features are those of kernels that read slices.
func (v *values) features() device.Features {
	if v.arena.Single() {
		return 0
	}
	return useArenas
}

// loadValues uploads the stored values for the first batch that needs them.
func (s *Store) loadValues(ctx context.Context, sel *plan.SelectBatch) error {
	asks := false
	for _, x := range sel.Steps {
		asks = asks || isCheck(x)
	}
	if !asks {
		return nil
	}
	_, err := s.allValues(ctx)
	return err
}

// allValues returns the stored values and uploads them on first use.
func (s *Store) allValues(ctx context.Context) (*values, error) {
	if v := s.values.Load(); v != nil { // without the method values below, which allocate
		return v, nil
	}
	return device.Once(ctx, s.loading, s.closing, s.values.Load, s.values.Store, func() (*values, error) { return s.newValues(ctx) })
}

// newValues checks the stored values and copies them to the device. A tile lies in one buffer, a column in one or more.
func (s *Store) newValues(ctx context.Context) (*values, error) {
	b := s.rt
	columns, err := s.columns()
	if err != nil {
		return nil, err
	}
	view := &plan.Source{Words: s.t.Slices}
	for _, c := range columns {
		for _, t := range c.Tiles {
			view.Lists = append(view.Lists, plan.List{Off: t.Off, Words: t.Words})
		}
	}
	ranges, places, err := lists.Layout(view, b.Info.MaxAlloc, lists.MaxArenas)
	if err != nil {
		return nil, b.OutOfMemory("laying out stored values", err)
	}
	tiles := make([]uint32, 0, tileWords*len(places))
	for _, c := range columns {
		for _, t := range c.Tiles {
			at := places[len(tiles)/tileWords]
			tiles = append(tiles, at.Off, at.Buffer, uint32(t.Min), uint32(t.Min>>32),
				uint32(t.Width)|uint32(t.Flags)<<8|uint32(t.Last)<<16, t.Words, t.Valid, 0)
		}
	}
	v := &values{bytes: device.PaddedBytes(len(tiles))}
	for _, c := range columns {
		v.columns = append(v.columns, columnOf(c.Tiles))
	}
	if err := b.Memory.Reserve(v.bytes, "tiles of stored values"); err != nil {
		return nil, err
	}
	if v.tiles, err = b.LoadWords(ctx, tiles, "tiles of stored values"); err == nil {
		if v.arena, err = lists.LoadArena(ctx, b, view, ranges); err == nil {
			return v, nil
		}
	}
	v.release(b)
	return nil, err
}

func (v *values) release(b *device.Runtime) {
	device.ReleaseBuffers(v.tiles)
	b.Memory.Unreserve(v.bytes)
	if v.arena != nil {
		v.arena.Release()
	}
}

// columns returns the stored values. They are valid: Load has validated the words that need no check at their first
// use (plan.Table.Check), and Codes checks the others.
func (s *Store) columns() ([]bitslice.Column, error) {
	t := s.t
	columns := make([]bitslice.Column, len(t.Columns))
	err := device.InParallel(len(columns), len(t.Slices), func(c int) (err error) {
		if columns[c], err = t.Codes(uint32(c)); err != nil {
			return fmt.Errorf("values of column %d: %w", c, err)
		}
		return nil
	})
	return columns, err
}
