package bitmap

import (
	"context"
	"errors"
	"unsafe"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/device"
	"heddle/cl/internal/lists"
	"heddle/codec/wah"
	"heddle/engine/plan"
)

// plainTiles holds the tiles of vectors in which at least seven of eight groups start a
// word. The device has them a second time, as plain groups: they are no longer than the
// words and their places, and need no search.
type plainTiles struct {
	buffer *ocl.MemObject // numbers by tile and vector, from 1 on, or 0; then the tiles
	at     int            // start of the tiles, in units of four words
	bytes  uint64         // bytes of the tiles
}

// isPlain tells whether a tile with the given number of words is plain.
func isPlain(words, tile int) bool { return words >= tile-tile/8 }

// numberPlain numbers the plain tiles, vector after vector, and returns their number up to
// each vector.
func (d *directory) numberPlain() []int {
	vectors := len(d.bases)
	upTo := make([]int, vectors+1)
	n := uint32(0)
	for v := range vectors {
		for t := range d.tiles {
			if p := &d.plain[t*vectors+v]; *p != 0 {
				n++
				*p = n
			}
		}
		upTo[v+1] = int(n)
	}
	return upTo
}

// loadPlain makes the plain tiles of a store, if a quarter of the memory stays free.
func (s *Store) loadPlain(ctx context.Context) (err error) {
	b, d, p := s.rt, s.dir, &s.plain
	upTo := d.numberPlain()
	words := d.tile * s.t.Word() / 32
	bytes := 4 * (uint64(upTo[len(upTo)-1])*uint64(words) + plan.ListAlign)
	if err := b.Memory.Reserve(bytes+b.Memory.Size()/4, "plain tiles"); err != nil || bytes+4*uint64(len(d.plain)+plan.ListAlign) > b.Info.MaxAlloc {
		if err == nil {
			b.Memory.Unreserve(bytes + b.Memory.Size()/4)
		} else if !errors.Is(err, plan.ErrOutOfMemory) {
			return err
		}
		clear(d.plain)
		bytes, upTo = 0, nil
	} else {
		b.Memory.Unreserve(b.Memory.Size() / 4)
	}
	p.bytes, p.at = bytes, len(d.plain)/plan.ListAlign+1
	if p.buffer, err = b.ReadOnly(ctx, 16*uint64(p.at)+bytes, "plain tiles"); err != nil {
		return err
	}
	if err = b.WriteWords(ctx, p.buffer, 0, d.plain); err != nil {
		return err
	}
	var host []uint32
	for from := 0; from+1 < len(upTo); {
		to := from + 1
		for to+1 < len(upTo) && (upTo[to+1]-upTo[from])*words <= lists.HostWords {
			to++
		}
		if n := (upTo[to] - upTo[from]) * words; n > len(host) {
			host = make([]uint32, n)
		}
		_ = device.InParallel(to-from, len(host), func(i int) error {
			at := host[(upTo[from+i]-upTo[from])*words:]
			if s.t.Word() == 64 {
				expandPlain[uint64](d, s.t.Vector64(uint32(from+i)), from+i, at)
			} else {
				expandPlain[uint32](d, s.t.Vector32(uint32(from+i)), from+i, at)
			}
			return nil
		})
		if n := (upTo[to] - upTo[from]) * words; n > 0 {
			if err := b.WriteWords(ctx, p.buffer, 4*p.at+upTo[from]*words, host[:n]); err != nil {
				return err
			}
		}
		from = to
	}
	return nil
}

// expandPlain writes the plain tiles of vector v to the start of to.
func expandPlain[W wah.Word](d *directory, words []W, v int, to []uint32) {
	size := int(unsafe.Sizeof(W(0)) / 4)
	for t := range d.tiles {
		if d.plain[t*len(d.bases)+v] == 0 {
			continue
		}
		groups := unsafe.Slice((*W)(unsafe.Pointer(&to[0])), d.tile)
		to = to[d.tile*size:]
		entry := d.coarse[2*(t*len(d.bases)+v):]
		masks := d.fine // the masks of a dense tile
		if entry[1]&7 == classMixed {
			masks = d.fine[4*(d.bases[v]+entry[1]>>10):]
		}
		at := int(entry[0]) - 1
		for g := range groups {
			at += int(masks[g/32] >> (g % 32) & 1)
			w := words[at]
			if wah.IsFill(w) {
				w, _ = wah.FillOf(w)
			}
			groups[g] = w
		}
	}
}

func (p *plainTiles) release(b *device.Runtime) {
	if p.buffer != nil {
		p.buffer.Release()
	}
	b.Memory.Unreserve(p.bytes)
}
