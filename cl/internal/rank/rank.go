package rank

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"heddle/cl/internal/device"
	"heddle/cl/internal/filter"
	"heddle/cl/internal/lists"
	"heddle/engine/file/mapped"
	"heddle/engine/plan"
)

// Ranker answers ranked queries over a set of lists. It is safe for concurrent use: each
// batch under way has a slot of its own.
type Ranker struct {
	set   *lists.Set
	free  device.Pool[slot]
	used  atomic.Uint64 // bytes of all slots
	extra atomic.Pointer[extra]
	held  held
}

// New makes a ranker. Its device memory comes with the first batch.
func New(set *lists.Set) *Ranker {
	r := &Ranker{set: set, free: device.NewPool[slot](maxSlots(set.Device.Tuning))}
	set.Count(func() uint64 {
		n := r.used.Load()
		if d := r.extra.Load(); d != nil {
			n += d.size()
		}
		return n
	})
	return r
}

// Release waits for all batches and frees the memory.
func (r *Ranker) Release() {
	r.free.Drain((*slot).release)
	r.releasePackets()
	if d := r.extra.Load(); d != nil {
		d.release()
	}
}

// Rank answers b in rounds, one after the other. Concurrent callers overlap.
func (r *Ranker) Rank(ctx context.Context, b *plan.RankBatch, out *plan.TopK) error {
	if err := r.set.Begin(ctx); err != nil {
		return err
	}
	if err := b.Validate(r.set.Src); err != nil {
		return err
	}
	if err := filter.Check(b.Filters, r.set.Device, r.set.Src.Docs); err != nil {
		return err
	}
	if err := selfTestOnce(ctx, r.set.Device, b.Accumulators); err != nil {
		return err
	}
	return r.run(ctx, b, out)
}

// run is rank without a self-test.
func (r *Ranker) run(ctx context.Context, b *plan.RankBatch, out *plan.TopK) (err error) {
	began := time.Now()
	out.Reset()
	if r.set.Cache == nil {
		err = r.part(ctx, b, 0, out, nil)
	} else {
		q := lists.Request{Noun: "ranked query", Queries: b.Queries(), Ranked: true, Lists: b.AppendLists}
		err = r.set.Cache.Each(ctx, q, &out.Stats, func(ctx context.Context, first, end int, p *lists.Pins) error {
			some := *b
			some.Offsets = b.Offsets[:end+1]
			return r.part(ctx, &some, first, out, p)
		})
	}
	if err != nil {
		return err
	}
	out.Stats.Queries = uint64(b.Queries())
	out.Stats.Postings = b.Postings(r.set.Src)
	out.Stats.Matches = uint64(len(out.Docs))
	out.Stats.CountFilters(b.Filters)
	out.Stats.Wall = time.Since(began)
	return nil
}

// part answers the queries of b from the first one on. p pins their lists if not all lists
// are resident. If memory is short, it runs shorter rounds.
func (r *Ranker) part(ctx context.Context, b *plan.RankBatch, first int, out *plan.TopK, p *lists.Pins) error {
	data, err := r.data(ctx)
	if err != nil {
		return err
	}
	x, err := r.free.Take(ctx, r.set.Closing, r.newSlot)
	if err != nil {
		return err
	}
	x.After = p.Events()
	err = x.rank(ctx, b, first, data, out)
	for device.IsExceeded(err) && x.halve() {
		err = x.rank(ctx, b, first, data, out)
	}
	return p.Finish(err, x.giveBack)
}

// rank answers b from a query on, round by round.
func (x *slot) rank(ctx context.Context, b *plan.RankBatch, first int, data *extra, out *plan.TopK) (err error) {
	defer mapped.Catch(mapped.Watch(), &err)
	c := &x.cut
	c.batch, c.data, c.query, c.lost, c.again, c.span = b, data, first, c.lost[:0], c.again[:0], rangeLen(x.Device.Tuning)
	if b.Mode == plan.And {
		c.span = andRangeLen(x.Device.Tuning)
	}
	x.found.keys = x.found.keys[:0]
	x.found.spans = slices.Grow(x.found.spans[:0], b.Queries())[:b.Queries()]
	clear(x.found.spans)
	c.done = slices.Grow(c.done[:0], b.Queries())[:b.Queries()]
	clear(c.done)
	if err := x.rankCoarse(ctx, c, &out.Stats); err != nil {
		return err
	}
	for {
		if more, err := c.nextRound(); err != nil || !more {
			x.found.into(out, first)
			return err
		}
		if err := x.run(ctx, c, &out.Stats); err != nil {
			return err
		}
	}
}

// best holds the best documents of the queries of a batch. A key is the score in the upper
// half and the complement of the docID in the lower one.
type best struct {
	keys  []uint64
	spans [][2]int // first and end of each query in keys
}

// into appends documents and scores to out, from the query first on.
func (f *best) into(out *plan.TopK, first int) {
	spans := f.spans[first:]
	for _, s := range spans {
		out.Offsets = append(out.Offsets, out.Offsets[len(out.Offsets)-1]+uint64(s[1]-s[0]))
	}
	n := len(out.Docs) + len(f.keys)
	out.Docs = slices.Grow(out.Docs, len(f.keys))[:n]
	out.Scores = slices.Grow(out.Scores, len(f.keys))[:n]
	_ = device.InParallel(len(spans), len(f.keys), func(i int) error {
		docs, scores := out.Query(first + i)
		for j, key := range f.keys[spans[i][0]:spans[i][1]] {
			docs[j], scores[j] = ^uint32(key), uint32(key>>32)
		}
		return nil
	})
}
