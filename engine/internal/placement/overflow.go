package placement

import (
	"context"
	"iter"
	"sync"
	"sync/atomic"

	"heddle/engine/file/mapped"
	"heddle/engine/plan"
)

// overflow is a cached store that passes queries whose lists never fit to the host, without
// the rest of their batch.
type overflow struct {
	plan.CachedStore
	host   plan.Store
	docs   uint32    // number of documents
	spills sync.Pool // *spill
}

// spill is a batch in two parts: the queries that fit, with empty queries in place of the
// large ones, and the large ones.
type spill struct {
	places      []int // index of each query that does not fit
	lists       []plan.Handle
	batch       [2]plan.MatchBatch
	ranks       [2]plan.RankBatch
	found, more plan.Results
	top, rest   plan.TopK
	filters     []plan.Filter
}

// NewOverflow returns a store that answers from s, and from host the queries whose lists never
// fit s. They have so many documents.
func NewOverflow(s plan.CachedStore, host plan.Store, docs uint32) *overflow {
	return &overflow{s, host, docs, sync.Pool{New: func() any { return new(spill) }}}
}

// split finds the queries that do not fit. It returns false if there are none. lists appends
// the lists of query i.
func (s *overflow) split(x *spill, queries int, lists func(dst []plan.Handle, i int) []plan.Handle, ranked bool) bool {
	x.places = x.places[:0]
	for i := range queries {
		x.lists = lists(x.lists[:0], i)
		if _, ok := s.Missing(x.lists, ranked); !ok {
			x.places = append(x.places, i)
		}
	}
	return len(x.places) > 0
}

// each yields n queries and whether they are too large.
func (x *spill) each(n int) iter.Seq2[int, bool] {
	return func(yield func(int, bool) bool) {
		rest := x.places
		for i := range n {
			large := len(rest) > 0 && rest[0] == i
			if large {
				rest = rest[1:]
			}
			if !yield(i, large) {
				return
			}
		}
	}
}

// both runs the parts at the same time. The first error ends both and is the result.
func both(ctx context.Context, fits, large func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	var failed atomic.Bool
	run := func(part func(ctx context.Context) error) {
		if err := mapped.Run(func() error { return part(ctx) }); err != nil {
			failed.Store(true)
			cancel(err)
		}
	}
	wg.Go(func() { run(large) })
	run(fits)
	wg.Wait()
	if failed.Load() {
		return context.Cause(ctx)
	}
	return nil
}

// Match implements plan.Store.
func (s *overflow) Match(ctx context.Context, b *plan.MatchBatch, out *plan.Results) error {
	if err := plan.OwnFilters(b.Filters, ofAny); err != nil {
		return err
	}
	x := s.spills.Get().(*spill)
	defer s.spills.Put(x)
	if !s.split(x, b.Queries(), b.AppendLists, false) {
		if len(b.Filters) == 0 {
			return s.CachedStore.Match(ctx, b, out)
		}
		own := *b
		own.Filters = x.firsts(b.Filters)
		return s.CachedStore.Match(ctx, &own, out)
	}
	for i := range x.batch {
		p := &x.batch[i]
		p.Reset()
		p.Algorithm, p.CountOnly, p.Part = b.Algorithm, b.CountOnly, b.Part
	}
	for i, large := range x.each(b.Queries()) {
		if large {
			x.batch[1].Append(b, i)
			x.batch[1].Restrict(second(b.Filter(i)))
			x.batch[0].AddOps(nil)
		} else {
			x.batch[0].Append(b, i)
			x.batch[0].Restrict(first(b.Filter(i)))
		}
	}
	err := both(ctx, func(ctx context.Context) error { return s.CachedStore.Match(ctx, &x.batch[0], &x.found) },
		func(ctx context.Context) error { return s.host.Match(ctx, &x.batch[1], &x.more) })
	if err == nil {
		out.Splice(b.Queries(), b.CountOnly, &x.found, &x.more, x.places)
	}
	return err
}

// Rank implements plan.Store.
func (s *overflow) Rank(ctx context.Context, r *plan.RankBatch, out *plan.TopK) error {
	if err := plan.OwnFilters(r.Filters, ofAny); err != nil {
		return err
	}
	x := s.spills.Get().(*spill)
	defer s.spills.Put(x)
	if !s.split(x, r.Queries(), r.AppendLists, true) {
		if len(r.Filters) == 0 {
			return s.CachedStore.Rank(ctx, r, out)
		}
		own := *r
		own.Filters = x.firsts(r.Filters)
		return s.CachedStore.Rank(ctx, &own, out)
	}
	for i := range x.ranks {
		p := &x.ranks[i]
		p.Reset()
		p.Mode, p.K, p.Norm, p.Accumulators = r.Mode, r.K, r.Norm, r.Accumulators
	}
	for i, large := range x.each(r.Queries()) {
		q := r.Query(i)
		if large {
			x.ranks[1].AddOrdered(q)
			x.ranks[1].Restrict(second(r.Filter(i)))
			q = nil
		}
		x.ranks[0].AddOrdered(q)
		x.ranks[0].Restrict(first(r.Filter(i)))
	}
	err := both(ctx, func(ctx context.Context) error { return s.CachedStore.Rank(ctx, &x.ranks[0], &x.top) },
		func(ctx context.Context) error { return s.host.Rank(ctx, &x.ranks[1], &x.rest) })
	if err != nil {
		return err
	}
	out.Reset()
	n := 0
	for i, large := range x.each(r.Queries()) {
		from, at := &x.top, i
		if large {
			from, at = &x.rest, n
			n++
		}
		docs, scores := from.Query(at)
		out.Docs, out.Scores = append(out.Docs, docs...), append(out.Scores, scores...)
		out.Offsets = append(out.Offsets, uint64(len(out.Docs)))
	}
	out.Stats = x.top.Stats
	out.Stats.Add(x.rest.Stats)
	out.Stats.Queries = uint64(r.Queries())
	return nil
}
