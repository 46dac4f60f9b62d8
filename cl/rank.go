package cl

import (
	"context"
	"slices"
	"time"

	"heddle/engine/plan"
)

// Rank answers r in rounds of kernels/share.cl, rank.cl or conjoin.cl, and select.cl,
// one after the other; concurrent callers overlap.
func (s *Store) Rank(ctx context.Context, r *plan.RankBatch, out *plan.TopK) error {
	if err := plan.Unfiltered(r.Filters); err != nil {
		return err
	}
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
func (s *Store) rankAll(ctx context.Context, r *plan.RankBatch, out *plan.TopK) error {
	began := time.Now()
	out.Reset()
	if err := s.rankPart(ctx, r, 0, out, nil); err != nil {
		return err
	}
	endRanks(s.src, r, out)
	out.Stats.Wall = time.Since(began)
	return nil
}

// endRanks fills what is to be said of all queries.
func endRanks(src *plan.Source, r *plan.RankBatch, out *plan.TopK) {
	out.Stats.Queries = uint64(r.Queries())
	out.Stats.Postings = r.Postings(src)
	out.Stats.Matches = uint64(len(out.Docs))
}

// rankPart answers the queries of r from the first one on, whose lists p has pinned where
// not all are resident.
func (s *Store) rankPart(ctx context.Context, r *plan.RankBatch, first int, out *plan.TopK, p *pins) error {
	lists, err := s.rankListsOf(ctx)
	if err != nil {
		return err
	}
	x, err := s.freeRanks.take(ctx, s.closing, s.newRankSlot)
	if err != nil {
		return err
	}
	x.after = p.events()
	err = x.rank(ctx, r, first, lists, out)
	for isReserved(err) && x.halve() {
		err = x.rank(ctx, r, first, lists, out)
	}
	if err != nil {
		p.hold()
		go func() { // once nothing is under way
			x.giveBack()
			p.release()
		}()
		return err
	}
	x.giveBack()
	return nil
}

// rank answers r from the first query on, round by round.
func (x *rankSlot) rank(ctx context.Context, r *plan.RankBatch, first int, lists *rankLists, out *plan.TopK) error {
	c := &x.cut
	c.ranks, c.lists, c.query, c.lost, c.again, c.span = r, lists, first, c.lost[:0], c.again[:0], x.backend.tuning.rankRange()
	if r.Mode == plan.And {
		c.span = x.backend.tuning.andRange()
	}
	x.found.keys = x.found.keys[:0]
	x.found.spans = slices.Grow(x.found.spans[:0], r.Queries())[:r.Queries()]
	clear(x.found.spans)
	for {
		if more, err := c.next(); err != nil || !more {
			x.found.into(out, first)
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

// into appends documents and scores of the keys, from those of the first query on, the
// next one in out.
func (f *rankFound) into(out *plan.TopK, first int) {
	spans := f.spans[first:]
	for _, s := range spans {
		out.Offsets = append(out.Offsets, out.Offsets[len(out.Offsets)-1]+uint64(s[1]-s[0]))
	}
	n := len(out.Docs) + len(f.keys)
	out.Docs = slices.Grow(out.Docs, len(f.keys))[:n]
	out.Scores = slices.Grow(out.Scores, len(f.keys))[:n]
	inParallel(len(spans), len(f.keys), func(i int) {
		docs, scores := out.Query(first + i)
		for j, key := range f.keys[spans[i][0]:spans[i][1]] {
			docs[j], scores[j] = ^uint32(key), uint32(key>>32)
		}
	})
}
