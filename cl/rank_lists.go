package cl

import (
	"context"
	"fmt"
	"slices"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/engine/plan"
)

// rankLists is what ranking takes beside the lists, on the device: frequencies, in
// an arena of their own or that of the lists, and lengths of documents.
type rankLists struct {
	freqs   *arena
	places  []place
	cached  bool // frequencies come and go with the lists, in their arena
	memory  *budget
	lengths *ocl.MemObject // any buffer where there are none
	narrow  bool           // lengths are of 16 bits
	bytes   uint64         // of lengths
}

// rankListsOf returns them, and makes them on first use.
func (s *Store) rankListsOf(ctx context.Context) (*rankLists, error) {
	return once(ctx, s.building, s.closing, s.rankLists.Load, s.rankLists.Store, s.loadRankLists)
}

// loadRankLists uploads frequencies and lengths.
func (s *Store) loadRankLists() (*rankLists, error) {
	b := s.backend
	// The frequencies as lists of words.
	view := &plan.Source{Words: s.src.Freqs, Lists: make([]plan.List, len(s.src.Lists))}
	for h, d := range s.src.Lists {
		if _, err := s.src.Freq(plan.Handle(h)); err != nil {
			return nil, fmt.Errorf("frequencies of list %d: %w", h, err)
		}
		view.Lists[h] = plan.List{Off: d.FreqOff, Words: d.FreqWords}
	}
	lengths, narrow := packLengths(s.src.Lengths)
	l := &rankLists{memory: s.memory, narrow: narrow}
	if len(lengths) > 0 {
		l.bytes = lengthBytes(lengths)
	}
	if err := b.fits(l.bytes, "they", "laying out lengths of documents"); err != nil {
		return nil, err
	}
	if s.cache != nil {
		l.freqs, l.places, l.cached = s.arena, s.cache.freqs, true
		if err := s.memory.reserve(l.bytes, "lengths of documents"); err != nil {
			return nil, err
		}
	} else {
		ranges, places, err := layout(view, b.dev.info.MaxAlloc)
		if err != nil {
			return nil, b.outOfMemory("laying out frequencies", err)
		}
		l.places = places
		// All of it must fit before any of it is allocated.
		if err := b.reserve(arenaBytes(ranges)+l.bytes, "frequencies and lengths of documents"); err != nil {
			return nil, err
		}
		b.unreserve(arenaBytes(ranges))
		if l.freqs, err = b.loadArena(view, ranges); err != nil {
			b.unreserve(l.bytes)
			return nil, err
		}
	}
	if len(lengths) == 0 {
		l.lengths = l.freqs.buffers[0]
		return l, nil
	}
	var err error
	if l.lengths, err = b.buffer(ocl.MemReadOnly, l.bytes, "lengths of documents"); err == nil {
		err = b.writeWords(l.lengths, 0, lengths)
	}
	if err != nil {
		l.release()
		return nil, err
	}
	return l, nil
}

// packLengths puts two lengths in a word where all have 16 bits.
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

// lengthBytes is what a buffer of packed lengths takes.
func lengthBytes(lengths []uint32) uint64 { return 4 * uint64(len(lengths)+plan.ListAlign) }

// inMemory is what they take in all, in bytes.
func (l *rankLists) inMemory() uint64 { return l.freqs.bytes + l.bytes }

func (l *rankLists) release() {
	if l.bytes > 0 && l.lengths != nil {
		l.lengths.Release()
	}
	if !l.cached {
		l.freqs.release()
	}
	l.memory.unreserve(l.bytes)
}
