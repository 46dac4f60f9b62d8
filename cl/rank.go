package cl

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"heddle/engine/plan"
)

// ranker answers ranked queries over a set of lists. It is safe for concurrent use: each
// batch under way has a slot of its own.
type ranker struct {
	set   *listSet
	free  pool[rankSlot]
	bytes atomic.Uint64 // of all slots
	extra atomic.Pointer[rankData]
}

// newRanker makes a ranker. Its device memory comes with the first batch.
func newRanker(set *listSet) *ranker {
	r := &ranker{set: set, free: newPool[rankSlot](rankSlots(set.rt.tuning))}
	set.count(func() uint64 {
		n := r.bytes.Load()
		if d := r.extra.Load(); d != nil {
			n += d.size()
		}
		return n
	})
	return r
}

// release waits for all batches and frees the memory.
func (r *ranker) release() {
	r.free.drain((*rankSlot).release)
	if d := r.extra.Load(); d != nil {
		d.release()
	}
}

// rank answers b in rounds, one after the other. Concurrent callers overlap.
func (r *ranker) rank(ctx context.Context, b *plan.RankBatch, out *plan.TopK) error {
	if err := plan.Unfiltered(b.Filters); err != nil {
		return err
	}
	if err := r.set.begin(ctx); err != nil {
		return err
	}
	if err := b.Validate(r.set.src); err != nil {
		return err
	}
	if err := testRank(ctx, r.set.rt, b.Accumulators); err != nil {
		return err
	}
	return r.run(ctx, b, out)
}

// run is rank without a self-test.
func (r *ranker) run(ctx context.Context, b *plan.RankBatch, out *plan.TopK) (err error) {
	began := time.Now()
	out.Reset()
	if r.set.cache == nil {
		err = r.part(ctx, b, 0, out, nil)
	} else {
		q := request{Noun: "ranked query", Queries: b.Queries(), Ranked: true, Lists: b.AppendLists}
		err = r.set.cache.each(ctx, q, &out.Stats, func(ctx context.Context, first, end int, p *pins) error {
			some := *b
			some.Offsets = b.Offsets[:end+1]
			return r.part(ctx, &some, first, out, p)
		})
	}
	if err != nil {
		return err
	}
	out.Stats.Queries = uint64(b.Queries())
	out.Stats.Postings = b.Postings(r.set.src)
	out.Stats.Matches = uint64(len(out.Docs))
	out.Stats.Wall = time.Since(began)
	return nil
}

// part answers the queries of b from the first one on. p pins their lists if not all lists
// are resident. If memory is short, it runs shorter rounds.
func (r *ranker) part(ctx context.Context, b *plan.RankBatch, first int, out *plan.TopK, p *pins) error {
	data, err := r.data(ctx)
	if err != nil {
		return err
	}
	x, err := r.free.take(ctx, r.set.closing, r.newSlot)
	if err != nil {
		return err
	}
	x.after = p.events()
	err = x.rank(ctx, b, first, data, out)
	for isExceeded(err) && x.halve() {
		err = x.rank(ctx, b, first, data, out)
	}
	if err != nil {
		p.hold()
		go func() { // once no command is under way
			x.giveBack()
			p.release()
		}()
		return err
	}
	x.giveBack()
	return nil
}

// rank answers b from a query on, round by round.
func (x *rankSlot) rank(ctx context.Context, b *plan.RankBatch, first int, data *rankData, out *plan.TopK) error {
	c := &x.cut
	c.batch, c.data, c.query, c.lost, c.again, c.span = b, data, first, c.lost[:0], c.again[:0], rangeLen(x.rt.tuning)
	if b.Mode == plan.And {
		c.span = andRangeLen(x.rt.tuning)
	}
	x.found.keys = x.found.keys[:0]
	x.found.spans = slices.Grow(x.found.spans[:0], b.Queries())[:b.Queries()]
	clear(x.found.spans)
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
	spans [][2]int // of each query in keys
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
	_ = inParallel(len(spans), len(f.keys), func(i int) error {
		docs, scores := out.Query(first + i)
		for j, key := range f.keys[spans[i][0]:spans[i][1]] {
			docs[j], scores[j] = ^uint32(key), uint32(key>>32)
		}
		return nil
	})
}
