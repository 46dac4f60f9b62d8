package cl

import (
	"context"
	"fmt"
	"slices"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/engine/plan"
)

// rankData is the data of ranking beside the lists: frequencies, in an arena of their own
// or in the cache, and document lengths.
type rankData struct {
	freqs   *arena
	places  []place
	cached  bool // frequencies come and go with the lists, in their arena
	memory  *budget
	lengths *ocl.MemObject // any buffer if there are no lengths
	narrow  bool           // lengths have 16 bits
	bytes   uint64         // of lengths
}

// data returns the data and makes it on first use.
func (r *ranker) data(ctx context.Context) (*rankData, error) {
	if d := r.extra.Load(); d != nil { // without a method value, which allocates
		return d, nil
	}
	return once(ctx, r.set.building, r.set.closing, r.extra.Load, r.extra.Store, r.loadData)
}

// loadData uploads frequencies and lengths.
func (r *ranker) loadData() (*rankData, error) {
	rt, set := r.set.rt, r.set
	// The frequencies as lists of words.
	view := &plan.Source{Words: set.src.Freqs, Lists: make([]plan.List, len(set.src.Lists))}
	for h, d := range set.src.Lists {
		if _, err := set.src.Freq(plan.Handle(h)); err != nil {
			return nil, fmt.Errorf("frequencies of list %d: %w", h, err)
		}
		view.Lists[h] = plan.List{Off: d.FreqOff, Words: d.FreqWords}
	}
	lengths, narrow := packLengths(set.src.Lengths)
	d := &rankData{memory: set.memory, narrow: narrow}
	if len(lengths) > 0 {
		d.bytes = paddedBytes(len(lengths))
	}
	if err := rt.fits(d.bytes, "they", "laying out lengths of documents"); err != nil {
		return nil, err
	}
	if set.cache != nil {
		d.freqs, d.places, d.cached = set.arena, set.cache.freqs, true
		if err := d.memory.reserve(d.bytes, "lengths of documents"); err != nil {
			return nil, err
		}
	} else {
		ranges, places, err := layout(view, rt.info.MaxAlloc)
		if err != nil {
			return nil, rt.outOfMemory("laying out frequencies", err)
		}
		d.places = places
		// All data must fit before any buffer is made.
		if err := d.memory.reserve(arenaBytes(ranges)+d.bytes, "frequencies and lengths of documents"); err != nil {
			return nil, err
		}
		d.memory.unreserve(arenaBytes(ranges))
		if d.freqs, err = loadArena(rt, view, ranges); err != nil {
			d.memory.unreserve(d.bytes)
			return nil, err
		}
	}
	if len(lengths) == 0 {
		d.lengths = d.freqs.buffers[0]
		return d, nil
	}
	var err error
	if d.lengths, err = rt.loadWords(lengths, "lengths of documents"); err != nil {
		d.release()
		return nil, err
	}
	return d, nil
}

// packLengths puts two lengths into a word if all have 16 bits.
func packLengths(lengths []uint32) (words []uint32, narrow bool) {
	if len(lengths) == 0 || slices.Max(lengths) >= 1<<16 {
		return lengths, false
	}
	words = make([]uint32, (len(lengths)+1)/2)
	for i, n := range lengths {
		words[i/2] |= n << (i % 2 * 16)
	}
	return words, true
}

// size returns the bytes of all data.
func (d *rankData) size() uint64 { return d.freqs.bytes + d.bytes }

func (d *rankData) release() {
	if d.bytes > 0 && d.lengths != nil {
		d.lengths.Release()
	}
	if !d.cached {
		d.freqs.release()
	}
	d.memory.unreserve(d.bytes)
}
