package rank

import (
	"context"
	"fmt"
	"slices"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/device"
	"heddle/cl/internal/lists"
	"heddle/engine/plan"
)

// extra is the data of ranking beside the lists: frequencies, in an arena of their own
// or in the cache, and document lengths.
type extra struct {
	freqs   *lists.Arena
	places  []lists.Place
	cached  bool // frequencies come and go with the lists, in their arena
	memory  *device.Budget
	lengths *ocl.MemObject // any buffer if there are no lengths
	narrow  bool           // lengths have 16 bits
	bytes   uint64         // bytes of lengths
}

// data returns the data and makes it on first use.
func (r *Ranker) data(ctx context.Context) (*extra, error) {
	if d := r.extra.Load(); d != nil { // without a method value, which allocates
		return d, nil
	}
	return device.Once(ctx, r.set.Building, r.set.Closing, r.extra.Load, r.extra.Store, func() (*extra, error) { return r.loadData(ctx) })
}

// Frequencies makes the frequencies of resident lists resident, and returns their buffers, and their places by list.
func (r *Ranker) Frequencies(ctx context.Context) ([lists.MaxArenas]*ocl.MemObject, []lists.Place, error) {
	d, err := r.data(ctx)
	if err != nil {
		return buffers{}, nil, err
	}
	return d.freqs.Buffers, d.places, nil
}

// loadData uploads frequencies and lengths.
func (r *Ranker) loadData(ctx context.Context) (*extra, error) {
	rt, set := r.set.Device, r.set
	// The frequencies as lists of words.
	view := &plan.Source{Words: set.Src.Freqs, Lists: make([]plan.List, len(set.Src.Lists))}
	for h, d := range set.Src.Lists {
		if _, err := set.Src.Freq(plan.Handle(h)); err != nil {
			return nil, fmt.Errorf("frequencies of list %d: %w", h, err)
		}
		view.Lists[h] = plan.List{Off: d.FreqOff, Words: d.FreqWords}
	}
	lengths, narrow := packLengths(set.Src.Lengths)
	d := &extra{memory: set.Memory, narrow: narrow}
	if len(lengths) > 0 {
		d.bytes = device.PaddedBytes(len(lengths))
	}
	if err := rt.Fits(d.bytes, "they", "laying out lengths of documents"); err != nil {
		return nil, err
	}
	if set.Cache != nil {
		d.freqs, d.places, d.cached = set.Arena, set.Cache.Freqs, true
		if err := d.memory.Reserve(d.bytes, "lengths of documents"); err != nil {
			return nil, err
		}
	} else {
		ranges, places, err := lists.Layout(view, rt.Info.MaxAlloc, lists.MaxArenas)
		if err != nil {
			return nil, rt.OutOfMemory("laying out frequencies", err)
		}
		d.places = places
		// All data must fit before any buffer is made.
		if err := d.memory.Reserve(lists.ArenaBytes(ranges)+d.bytes, "frequencies and lengths of documents"); err != nil {
			return nil, err
		}
		d.memory.Unreserve(lists.ArenaBytes(ranges))
		if d.freqs, err = lists.LoadArena(ctx, rt, view, ranges); err != nil {
			d.memory.Unreserve(d.bytes)
			return nil, err
		}
	}
	if len(lengths) == 0 {
		d.lengths = d.freqs.Buffers[0]
		return d, nil
	}
	var err error
	if d.lengths, err = rt.LoadWords(ctx, lengths, "lengths of documents"); err != nil {
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
func (d *extra) size() uint64 { return d.freqs.Bytes + d.bytes }

func (d *extra) release() {
	if d.bytes > 0 && d.lengths != nil {
		d.lengths.Release()
	}
	if !d.cached {
		d.freqs.Release()
	}
	d.memory.Unreserve(d.bytes)
}
