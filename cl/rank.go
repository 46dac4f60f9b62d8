package cl

import (
	"context"
	"slices"
	"time"

	"heddle/engine/plan"
)

// Rank answers r in rounds of kernels/share.cl, rank.cl or conjoin.cl, and select.cl,
// one after the other; concurrent callers overlap.
func (s *Store) Rank(ctx context.Context, r *plan.Ranks, out *plan.TopK) error {
	if s.closed.Load() {
		return plan.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := r.Validate(s.src); err != nil {
		return err
	}
	if err := s.backend.testRanks(ctx, r.Accumulators); err != nil {
		return err
	}
	return s.rankAll(ctx, r, out)
}

// rankAll is Rank without a self-test.
func (s *Store) rankAll(ctx context.Context, r *plan.Ranks, out *plan.TopK) error {
	began := time.Now()
	out.Reset()
	lists, err := s.rankListsOf(ctx)
	if err != nil {
		return err
	}
	x, err := s.freeRanks.take(ctx, s.closing, s.newRankSlot)
	if err != nil {
		return err
	}
	if err := x.rank(ctx, r, lists, out); err != nil {
		go x.giveBack() // once nothing is under way
		return err
	}
	x.giveBack()
	out.Stats.Queries = uint64(r.Queries())
	out.Stats.Postings = r.Postings(s.src)
	out.Stats.Matches = uint64(len(out.Docs))
	out.Stats.Wall = time.Since(began)
	return nil
}

// rank answers r round by round.
func (x *rankSlot) rank(ctx context.Context, r *plan.Ranks, lists *rankLists, out *plan.TopK) error {
	c := &x.cut
	c.ranks, c.lists, c.query, c.lost, c.again, c.span = r, lists, 0, c.lost[:0], c.again[:0], x.backend.tuning.rankRange()
	if r.Mode == plan.And {
		c.span = x.backend.tuning.andRange()
	}
	x.found.keys = x.found.keys[:0]
	x.found.spans = slices.Grow(x.found.spans[:0], r.Queries())[:r.Queries()]
	clear(x.found.spans)
	for {
		if more, err := c.next(); err != nil || !more {
			x.found.into(out)
			return err
		}
		if err := x.run(ctx, c, &out.Stats); err != nil {
			return err
		}
	}
}

// rankFound are the best documents of the queries of a batch, as keys.
type rankFound struct {
	keys  []uint64
	spans [][2]int // of each query
}

// into makes documents and scores of the keys.
func (f *rankFound) into(out *plan.TopK) {
	for _, s := range f.spans {
		out.Offsets = append(out.Offsets, out.Offsets[len(out.Offsets)-1]+uint64(s[1]-s[0]))
	}
	out.Docs = slices.Grow(out.Docs, len(f.keys))[:len(f.keys)]
	out.Scores = slices.Grow(out.Scores, len(f.keys))[:len(f.keys)]
	inParallel(len(f.spans), len(f.keys), func(i int) {
		docs, scores := out.Query(i)
		for j, key := range f.keys[f.spans[i][0]:f.spans[i][1]] {
			docs[j], scores[j] = ^uint32(key), uint32(key>>32)
		}
	})
}
