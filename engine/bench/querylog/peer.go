package querylog

import (
	"cmp"
	"context"
	"heddle/engine/bench/workload"
	"heddle/engine/plan"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/RoaringBitmap/roaring/v2"
)

// peerName is the row of the peer, and the baseline of others.
const PeerName = "roaring"

// roaringPeer answers the queries with github.com/RoaringBitmap/roaring/v2:
// bitmaps made and run-optimised beforehand, intersected shortest first in
// place, answers as arrays in memory that is reused. Its queries are lists
// already, in order: looking up terms and sorting is not on its clock, unlike
// on ours. Copying the shortest into a bitmap that is reused takes as long, and
// so does roaring.FastAnd.
type roaringPeer struct {
	threads int
	queries [][]*roaring.Bitmap
}

// newRoaringPeer makes the bitmaps of all lists.
func newRoaringPeer(ctx context.Context, w *workload.Workload, threads int) (*roaringPeer, error) {
	bitmaps := make([]*roaring.Bitmap, len(w.Source.Lists))
	err := workload.Each(ctx, len(bitmaps), func(h int) error {
		bitmaps[h] = roaring.BitmapOf(w.List(plan.Handle(h))...)
		bitmaps[h].RunOptimize()
		return nil
	})
	p := &roaringPeer{threads: threads}
	for _, q := range w.Queries {
		q = slices.Clone(q)
		slices.SortFunc(q, func(a, b plan.Handle) int { return cmp.Compare(w.Source.Lists[a].Len, w.Source.Lists[b].Len) })
		chain := make([]*roaring.Bitmap, len(q))
		for i, h := range q {
			chain[i] = bitmaps[h]
		}
		p.queries = append(p.queries, chain)
	}
	return p, err
}

// run answers n queries on all threads, those of the workload and then again from
// the first. deliver gets each answer, on several goroutines; docs is valid
// during the call only.
func (p *roaringPeer) Run(ctx context.Context, n int, deliver func(query int, docs []uint32)) error {
	const block = 64
	var next atomic.Int64
	var wg sync.WaitGroup
	for range p.threads {
		wg.Go(func() {
			var docs []uint32
			for ctx.Err() == nil {
				first := int(next.Add(block)) - block
				if first >= n {
					return
				}
				for q := first; q < min(first+block, n); q++ {
					docs = p.answer(q, docs)
					deliver(q, docs)
				}
			}
		})
	}
	wg.Wait()
	return ctx.Err()
}

// answer intersects the bitmaps of a query into docs.
func (p *roaringPeer) answer(q int, docs []uint32) []uint32 {
	chain := p.queries[q%len(p.queries)]
	left := chain[0]
	if len(chain) > 1 {
		left = roaring.And(left, chain[1])
		for _, b := range chain[2:] {
			left.And(b)
		}
	}
	docs = slices.Grow(docs[:0], int(left.GetCardinality()))[:left.GetCardinality()]
	return *left.ToExistingArray(&docs)
}
