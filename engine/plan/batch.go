package plan

import (
	"cmp"
	"fmt"
	"slices"
)

// Batch is a sequence of conjunctive queries over the lists of one Source. Its
// slices are reused from batch to batch, so a steady state allocates nothing.
// A Batch must not be changed while a Store runs it.
type Batch struct {
	Algorithm Algorithm
	CountOnly bool // results carry counts, no docIDs
	// Part gives each query to one work-group, or one worker, that alone walks
	// its shortest list (PART, Wu et al. 2010, section IV). Otherwise the elements
	// of all shortest lists are shared out alike (PARA).
	Part bool

	// Offsets has one entry a query and one more: the lists of query i are
	// Handles[Offsets[i]:Offsets[i+1]], ascending by (length, handle), without
	// duplicates. A query without lists matches nothing.
	Offsets []uint32
	Handles []Handle
}

// Reset empties the batch and keeps its memory.
func (b *Batch) Reset() {
	b.Offsets = append(b.Offsets[:0], 0)
	b.Handles = b.Handles[:0]
}

// Queries is the number of queries added since Reset.
func (b *Batch) Queries() int { return max(len(b.Offsets)-1, 0) }

// Query returns the lists of query i, shortest first.
func (b *Batch) Query(i int) []Handle { return b.Handles[b.Offsets[i]:b.Offsets[i+1]] }

// Add appends a query over lists of src. It orders them by ascending length,
// ties by handle, and drops duplicates. Without handles the query matches
// nothing: that is how an unknown term is expressed.
func (b *Batch) Add(src *Source, handles ...Handle) {
	if len(b.Offsets) == 0 {
		b.Offsets = append(b.Offsets, 0)
	}
	start := len(b.Handles)
	b.Handles = append(b.Handles, handles...)
	q := b.Handles[start:]
	if len(q) <= 12 { // insertion sort: most queries, and no closure call overhead
		for i := 1; i < len(q); i++ {
			for j := i; j > 0 && ByLength(src, q[j-1], q[j]) > 0; j-- {
				q[j-1], q[j] = q[j], q[j-1]
			}
		}
	} else {
		slices.SortFunc(q, func(x, y Handle) int { return ByLength(src, x, y) })
	}
	b.Handles = b.Handles[:start+len(slices.Compact(q))]
	b.Offsets = append(b.Offsets, uint32(len(b.Handles)))
}

// AddOrdered appends a query as Query gives it.
func (b *Batch) AddOrdered(q []Handle) {
	b.Handles = append(b.Handles, q...)
	b.Offsets = append(b.Offsets, uint32(len(b.Handles)))
}

// Candidates is the number of elements of the shortest lists, summed over the
// queries: the computational load of a batch (Wu et al. 2010, section IV).
func (b *Batch) Candidates(src *Source) (n uint64) {
	for i := range b.Queries() {
		if q := b.Query(i); len(q) > 0 {
			n += uint64(src.Lists[q[0]].Len)
		}
	}
	return n
}

// Validate checks the batch against src: handles in range, order kept.
func (b *Batch) Validate(src *Source) error {
	if len(b.Offsets) == 0 {
		return nil
	}
	if b.Offsets[0] != 0 || int(b.Offsets[len(b.Offsets)-1]) != len(b.Handles) {
		return fmt.Errorf("plan: batch offsets do not cover its %d handles", len(b.Handles))
	}
	for i := range b.Queries() {
		if b.Offsets[i] > b.Offsets[i+1] || int(b.Offsets[i+1]) > len(b.Handles) {
			return fmt.Errorf("plan: offsets of query %d do not ascend", i)
		}
		q := b.Query(i)
		for j, h := range q {
			if uint64(h) >= uint64(len(src.Lists)) {
				return fmt.Errorf("plan: query %d names list %d of %d", i, h, len(src.Lists))
			}
			if j > 0 {
				p := q[j-1]
				if c := cmp.Compare(src.Lists[p].Len, src.Lists[h].Len); c > 0 || c == 0 && p >= h {
					return fmt.Errorf("plan: lists of query %d are not in ascending order of length", i)
				}
			}
		}
	}
	return nil
}
