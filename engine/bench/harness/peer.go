package harness

import (
	"cmp"
	"context"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"heddle/engine/bench/workload"
	"heddle/engine/plan"
)

// PeerName names the other library in rows and as a baseline.
const PeerName = "roaring"

// roaringPeer answers the queries with github.com/RoaringBitmap/roaring/v2. Bitmaps are
// made and run-optimised in advance and intersected in place, shortest first. Answers
// are arrays in reused memory. Its queries are ordered lists of bitmaps, so its time
// does not include the lookup and sorting of terms, which heddle's time includes. A
// reused copy of the shortest bitmap takes as long, and so does roaring.FastAnd.
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

// Run answers n queries on all threads; after the last query the first follows again.
// deliver receives each answer on one of several goroutines; docs is valid only during
// the call.
func (p *roaringPeer) Run(ctx context.Context, n int, deliver func(query int, docs []uint32)) error {
	const block = 64
	return workload.OnThreads(ctx, p.threads, (n+block-1)/block, func(docs *[]uint32, i int) error {
		for q := i * block; q < min((i+1)*block, n); q++ {
			*docs = p.answer(q, *docs)
			deliver(q, *docs)
		}
		return nil
	})
}

// answer intersects the bitmaps of a query. It stores the docIDs in docs.
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
