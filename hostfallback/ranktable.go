package hostfallback

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/hostfallback/internal/match/lookup"
)

// rankTables is what a store keeps of its lists for ranking under one Norm.
type rankTables struct {
	norms  *norms
	tables *lookup.Auxiliary
	sharer sharer
	lists  lookup.PerList[rankTable]
	used   atomic.Int64 // bytes of tables
	users  int          // batches that are running
}

// maxNorms is the number of Norms for which a store keeps tables, those used last.
const maxNorms = 2

// norms are the tables of a store by Norm, those used last at the end.
type norms struct {
	mu  sync.Mutex
	all []*rankTables
}

// under returns the tables for n, to be given back with done, or nil while
// other batches use too many others.
func (s *norms) under(t *lookup.Auxiliary, n plan.Norm) *rankTables {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.all
	i := slices.IndexFunc(all, func(r *rankTables) bool { return r.sharer.norm == n })
	var r *rankTables
	if i >= 0 {
		r = all[i]
	} else {
		if len(all) == maxNorms {
			if i = slices.IndexFunc(all, func(r *rankTables) bool { return r.users == 0 }); i < 0 {
				return nil
			}
			t.Memory.Return(all[i].used.Load())
		}
		r = &rankTables{norms: s, tables: t, sharer: sharer{norm: n, lengths: t.Source.Lengths}}
		if n.Impacts == 0 && r.reserve(4*commonLengths*smallFreqs) {
			r.sharer.fill()
		}
	}
	if i >= 0 {
		all = slices.Delete(all, i, i+1)
	}
	s.all = append(all, r)
	r.users++
	return r
}

// done says that a batch needs r no more.
func (r *rankTables) done() {
	r.norms.mu.Lock()
	r.users--
	r.norms.mu.Unlock()
}

// reserve takes size bytes of the limit, if they are left.
func (r *rankTables) reserve(size int64) bool {
	if !r.tables.Memory.Take(size) {
		return false
	}
	r.used.Add(size)
	return true
}

// rankTable is what ranking keeps of one list. The docIDs and their shares are
// there if there was room for them; they save decoding. A table is never changed.
type rankTable struct {
	docs, shares []uint32
	bucket       lookup.Buckets // of docs

	// maxima[i] is the greatest share of the documents x with x>>step = i, those
	// behind the last entry have none. A document's share is at most that, so a
	// range of documents may turn out not to be worth a look.
	maxima []uint32
	step   uint8
	// greatest is the greatest share. floors[i] is one that 2^i documents have at
	// least, 0 where there are not as many: a query for the best 2^i needs no document
	// whose score is below what that contributes.
	greatest uint32
	floors   [floorLevels]uint32
}

const (
	floorLevels  = 15       // up to 2^14, which is above plan.MaxK
	levelBits    = 10       // of a share that tell floors apart
	maximaLen    = 16       // postings for which there is an entry in maxima
	rankBucket   = plan.HS8 // buckets of docIDs
	lookupSlower = 8        // a posting looked up takes as long as so many read in order
	_            = uint(1<<(floorLevels-1) - plan.MaxK)
)

// usedOnce stands for the table of a list that a lazy store has ranked with once. It
// says nothing, and so is as good as any.
var usedOnce = &rankTable{greatest: math.MaxUint32}

// make makes the table of list h.
func (t *rankTables) make(ctx context.Context, h plan.Handle) error {
	slot := t.lists.At(h, len(t.tables.Source.Lists))
	before := slot.Load()
	if before != nil && before != usedOnce {
		return nil
	}
	built, size, err := t.build(ctx, h)
	if err != nil || !slot.CompareAndSwap(before, built) {
		t.tables.Memory.Return(size) // it failed, or another was first
		t.used.Add(-size)
	}
	return err
}

// build makes what there is room for of the table of list h, and says how many
// bytes were reserved. It reads the whole list.
func (t *rankTables) build(ctx context.Context, h plan.Handle) (table *rankTable, size int64, err error) {
	take := func(bytes int64) bool {
		if !t.reserve(bytes) {
			return false
		}
		size += bytes
		return true
	}
	table = new(rankTable)
	src := t.tables.Source
	n, universe := src.Lists[h].Len, src.Docs
	l := new(rankList)
	if err := l.open(src, &t.sharer, plan.Term{List: h, Weight: 1}, nil, 0); err != nil {
		return nil, size, err
	}
	table.step = max(codec.BucketShift(n, universe, maximaLen), minRankShift)
	if entries := int(universe>>table.step) + 1; take(4 * int64(entries)) {
		table.maxima = make([]uint32, entries)
	}
	shift := codec.BucketShift(n, universe, rankBucket.Bucket())
	buckets := int64(universe>>shift) + 2
	docs := t.tables.Plain(h)
	room := 4*int64(n) + 4*buckets
	if docs == nil {
		room += 4 * int64(n)
	}
	// The last sixteenth of the limit is left to maxima, which take little and spare
	// much.
	limit := t.tables.Memory.Limit()
	plain := t.tables.Memory.Used()+room <= limit-limit/16 && take(room)
	if plain {
		if table.docs = docs; docs == nil {
			table.docs = make([]uint32, 0, n)
		}
		table.shares = make([]uint32, 0, n)
	}
	var levels [1 << levelBits]uint32 // postings by share, in steps of 2^(32-levelBits)
	for len(l.docs) > 0 {
		for i, x := range l.docs {
			share := l.shares[i]
			levels[share>>(32-levelBits)]++
			table.greatest = max(table.greatest, share)
			if at := int(x >> table.step); at < len(table.maxima) {
				table.maxima[at] = max(table.maxima[at], share)
			}
		}
		if plain {
			table.shares = append(table.shares, l.shares...)
			if docs == nil {
				table.docs = append(table.docs, l.docs...)
			}
		}
		if err := cmp.Or(ctx.Err(), l.decode()); err != nil {
			return nil, size, err
		}
	}
	if plain {
		table.bucket.Shift = shift
		table.bucket.First = codec.AppendBuckets(make([]uint32, 0, buckets), table.docs, shift)
	}
	table.setFloors(&levels)
	return table, size, nil
}

// setFloors makes floors of the numbers of postings by level.
func (t *rankTable) setFloors(levels *[1 << levelBits]uint32) {
	total, i := uint64(0), 0
	for level, n := range slices.Backward(levels[:]) {
		total += uint64(n)
		for i < len(t.floors) && total >= 1<<i {
			t.floors[i] = uint32(level) << (32 - levelBits)
			i++
		}
	}
}

// floor is the share that k documents have at least, as far as the table says.
func (t *rankTable) floor(k int) uint32 { return t.floors[bits.Len(uint(k-1))] }

// most is the greatest share that documents from base to last may have.
func (t *rankTable) most(base, last uint32) (share uint32) {
	from, to := int(base>>t.step), int(last>>t.step)
	for _, m := range t.maxima[min(from, len(t.maxima)):min(to+1, len(t.maxima))] {
		share = max(share, m)
	}
	return share
}

// find is the share of document x, 0 if the list does not have it.
func (t *rankTable) find(x uint32) uint32 {
	const window = 16 // wider than nearly all buckets
	lo, hi := t.bucket.Find(x)
	if hi-lo > window || len(t.docs) < window {
		i := int(lo) + lookup.LowerBound(t.docs[lo:hi], x)
		if i < int(hi) && t.docs[i] == x {
			return t.shares[i]
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
	return t.shares[at+i] & -uint32(lookup.Equal(docs[i&15], x))
}
