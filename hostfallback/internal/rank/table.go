package rank

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/hostfallback/internal/match/lookup"
)

// table is the data kept for ranking with one list under one Norm. A published table is
// immutable.
type table struct {
	// Plain postings, which save decoding; nil without memory for them.
	docs, tfs []uint32
	bucket    lookup.Buckets // of docs

	// maxima[i] is the greatest component of the documents x with x>>step = i, 0 behind
	// the last entry. It bounds the score of a range of documents.
	maxima []uint32
	step   uint8
	// greatest is the greatest component. floors[i] is a component that at least 2^i
	// documents reach, 0 if the list is shorter: a query for the best 2^i documents needs
	// no document with a score below the contribution of floors[i].
	greatest uint32
	floors   [floorLevels]uint32
}

const (
	floorLevels  = 15       // up to 2^14, which is above plan.MaxK
	levelBits    = 10       // leading bits of a component that tell floors apart
	maximaLen    = 16       // postings for each entry of maxima
	rankBucket   = plan.HS8 // buckets of docIDs
	lookupSlower = 8        // looking up one posting takes as long as reading so many in order
	_            = uint(1<<(floorLevels-1) - plan.MaxK)
)

// usedOnce stands for the table of a list that a lazy store has used once. Its bounds
// hold for every list.
var usedOnce = &table{greatest: math.MaxUint32}

// build returns the table of list h, as far as memory allows, and the number of bytes
// that it has reserved. It reads the whole list.
func (t *tables) build(ctx context.Context, h plan.Handle) (built *table, size int64, err error) {
	take := func(bytes int64) bool {
		if !t.take(bytes) {
			return false
		}
		size += bytes
		return true
	}
	built = new(table)
	aux, memory := t.norms.aux, t.norms.memory
	src := aux.Source
	n, universe := src.Lists[h].Len, src.Docs
	l := new(reader)
	if err := l.open(src, &t.components, plan.Term{List: h, Weight: 1}, nil, 0); err != nil {
		return nil, size, err
	}
	built.step = max(codec.BucketShift(n, universe, maximaLen), minRangeShift)
	if entries := int(universe>>built.step) + 1; take(4 * int64(entries)) {
		built.maxima = make([]uint32, entries)
	}
	shift := codec.BucketShift(n, universe, rankBucket.Bucket())
	buckets := int64(universe>>shift) + 2
	docs := aux.Plain(h)
	room := 4*int64(n) + 4*buckets
	if docs == nil {
		room += 4 * int64(n)
	}
	// The last sixteenth of the limit is left to maxima, which take little memory and save
	// much time.
	limit := memory.Limit()
	plain := memory.Used()+room <= limit-limit/16 && take(room)
	if plain {
		if built.docs = docs; docs == nil {
			built.docs = make([]uint32, 0, n)
		}
		built.tfs = make([]uint32, 0, n)
	}
	var levels [1 << levelBits]uint32 // postings by component, in steps of 2^(32-levelBits)
	for len(l.docs) > 0 {
		for i, x := range l.docs {
			tf := l.tfs[i]
			levels[tf>>(32-levelBits)]++
			built.greatest = max(built.greatest, tf)
			if at := int(x >> built.step); at < len(built.maxima) {
				built.maxima[at] = max(built.maxima[at], tf)
			}
		}
		if plain {
			built.tfs = append(built.tfs, l.tfs...)
			if docs == nil {
				built.docs = append(built.docs, l.docs...)
			}
		}
		if err := cmp.Or(ctx.Err(), l.decode()); err != nil {
			return nil, size, err
		}
	}
	if plain {
		built.bucket.Shift = shift
		built.bucket.First = codec.AppendBuckets(make([]uint32, 0, buckets), built.docs, shift)
	}
	built.setFloors(&levels)
	return built, size, nil
}

// setFloors derives floors from the numbers of postings by level.
func (t *table) setFloors(levels *[1 << levelBits]uint32) {
	total, i := uint64(0), 0
	for level, n := range slices.Backward(levels[:]) {
		total += uint64(n)
		for i < len(t.floors) && total >= 1<<i {
			t.floors[i] = uint32(level) << (32 - levelBits)
			i++
		}
	}
}

// floor returns a component that at least k documents reach.
func (t *table) floor(k int) uint32 { return t.floors[bits.Len(uint(k-1))] }

// most returns a bound of the components of documents from base to last.
func (t *table) most(base, last uint32) (tf uint32) {
	from, to := int(base>>t.step), int(last>>t.step)
	for _, m := range t.maxima[min(from, len(t.maxima)):min(to+1, len(t.maxima))] {
		tf = max(tf, m)
	}
	return tf
}

// find returns the component of document x, 0 if the list lacks it.
func (t *table) find(x uint32) uint32 {
	const window = 16 // wider than nearly all buckets
	lo, hi := t.bucket.Find(x)
	if hi-lo > window || len(t.docs) < window {
		i := int(lo) + lookup.LowerBound(t.docs[lo:hi], x)
		if i < int(hi) && t.docs[i] == x {
			return t.tfs[i]
		}
		return 0
	}
	// The window may reach beyond the bucket, because docs ascend.
	at := min(int(lo), len(t.docs)-window)
	docs := (*[window]uint32)(t.docs[at:])
	i, above := 0, int64(x)+1
	i += 8 & lookup.Below(docs[8], above)
	i += 4 & lookup.Below(docs[i&8+4], above)
	i += 2 & lookup.Below(docs[i&12+2], above)
	i += 1 & lookup.Below(docs[i&14+1], above)
	return t.tfs[at+i] & -uint32(lookup.Equal(docs[i&15], x))
}
