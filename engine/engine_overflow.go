package engine

import (
	"context"
	"sync"
	"sync/atomic"

	"heddle/engine/plan"
)

// overflow is a cached store that gives queries whose lists never fit to the host, so that
// one of them does not send the batch that it is in there.
type overflow struct {
	plan.CachedStore
	host   plan.Store
	spills sync.Pool // *spill
}

// spill is a batch that is cut in two: what fits, with empty queries in the places of the
// others, and the others.
type spill struct {
	large       []bool // queries that do not fit
	lists       []plan.Handle
	batch       [2]plan.Batch
	formulas    [2]plan.Formulas
	ranks       [2]plan.Ranks
	found, more plan.Results
	top, rest   plan.TopK
}

func newOverflow(s plan.CachedStore, host plan.Store) *overflow {
	return &overflow{s, host, sync.Pool{New: func() any { return new(spill) }}}
}

// split finds the queries that do not fit; false if there are none.
func (s *overflow) split(x *spill, queries int, lists func(i int) []plan.Handle, ranked bool) bool {
	x.large = x.large[:0]
	some := false
	for i := range queries {
		_, ok := s.Missing(lists(i), ranked)
		x.large = append(x.large, !ok)
		some = some || !ok
	}
	return some
}

// both runs the parts at the same time. The first error ends them, and is the result.
func both(ctx context.Context, fits, large func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	var failed atomic.Bool
	run := func(part func(ctx context.Context) error) {
		if err := part(ctx); err != nil {
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

// Intersect is plan.Store's.
func (s *overflow) Intersect(ctx context.Context, b *plan.Batch, out *plan.Results) error {
	x := s.spills.Get().(*spill)
	defer s.spills.Put(x)
	if !s.split(x, b.Queries(), b.Query, false) {
		return s.CachedStore.Intersect(ctx, b, out)
	}
	for i := range x.batch {
		p := &x.batch[i]
		p.Reset()
		p.Algorithm, p.CountOnly, p.Part = b.Algorithm, b.CountOnly, b.Part
	}
	for i, large := range x.large {
		if large {
			x.batch[1].Handles = append(x.batch[1].Handles, b.Query(i)...)
			x.batch[1].Offsets = append(x.batch[1].Offsets, uint32(len(x.batch[1].Handles)))
		} else {
			x.batch[0].Handles = append(x.batch[0].Handles, b.Query(i)...)
		}
		x.batch[0].Offsets = append(x.batch[0].Offsets, uint32(len(x.batch[0].Handles)))
	}
	err := both(ctx, func(ctx context.Context) error { return s.CachedStore.Intersect(ctx, &x.batch[0], &x.found) },
		func(ctx context.Context) error { return s.host.Intersect(ctx, &x.batch[1], &x.more) })
	if err != nil {
		return err
	}
	x.join(b.CountOnly, out)
	return nil
}

// Evaluate is plan.Store's.
func (s *overflow) Evaluate(ctx context.Context, f *plan.Formulas, out *plan.Results) error {
	x := s.spills.Get().(*spill)
	defer s.spills.Put(x)
	lists := func(i int) []plan.Handle {
		x.lists = x.lists[:0]
		for _, op := range f.Formula(i) {
			if op.Code == plan.OpList {
				x.lists = append(x.lists, op.List)
			}
		}
		return x.lists
	}
	if !s.split(x, f.Len(), lists, false) {
		return s.CachedStore.Evaluate(ctx, f, out)
	}
	for i := range x.formulas {
		x.formulas[i].Reset()
		x.formulas[i].CountOnly = f.CountOnly
	}
	for i, large := range x.large {
		p := &x.formulas[0]
		if large {
			q := &x.formulas[1]
			q.Ops = append(q.Ops, f.Formula(i)...)
			q.Offsets = append(q.Offsets, uint32(len(q.Ops)))
		} else {
			p.Ops = append(p.Ops, f.Formula(i)...)
		}
		p.Offsets = append(p.Offsets, uint32(len(p.Ops)))
	}
	err := both(ctx, func(ctx context.Context) error { return s.CachedStore.Evaluate(ctx, &x.formulas[0], &x.found) },
		func(ctx context.Context) error { return s.host.Evaluate(ctx, &x.formulas[1], &x.more) })
	if err != nil {
		return err
	}
	x.join(f.CountOnly, out)
	return nil
}

// join puts the answers in their places.
func (x *spill) join(countOnly bool, out *plan.Results) {
	out.Reset()
	n := 0
	for i, large := range x.large {
		from, at := &x.found, i
		if large {
			from, at = &x.more, n
			n++
		}
		out.Offsets = append(out.Offsets, out.Offsets[i]+from.Count(at))
		if !countOnly {
			out.Docs = append(out.Docs, from.Query(at)...)
		}
	}
	out.Stats = x.found.Stats
	out.Stats.Add(x.more.Stats)
	out.Stats.Queries = uint64(len(x.large))
}

// Rank is plan.Store's.
func (s *overflow) Rank(ctx context.Context, r *plan.Ranks, out *plan.TopK) error {
	x := s.spills.Get().(*spill)
	defer s.spills.Put(x)
	lists := func(i int) []plan.Handle {
		x.lists = x.lists[:0]
		for _, t := range r.Query(i) {
			x.lists = append(x.lists, t.List)
		}
		return x.lists
	}
	if !s.split(x, r.Queries(), lists, true) {
		return s.CachedStore.Rank(ctx, r, out)
	}
	for i := range x.ranks {
		p := &x.ranks[i]
		p.Reset()
		p.Mode, p.K, p.Norm, p.Accumulators = r.Mode, r.K, r.Norm, r.Accumulators
	}
	for i, large := range x.large {
		if large {
			copyQuery(&x.ranks[1], r.Query(i))
			copyQuery(&x.ranks[0], nil)
		} else {
			copyQuery(&x.ranks[0], r.Query(i))
		}
	}
	err := both(ctx, func(ctx context.Context) error { return s.CachedStore.Rank(ctx, &x.ranks[0], &x.top) },
		func(ctx context.Context) error { return s.host.Rank(ctx, &x.ranks[1], &x.rest) })
	if err != nil {
		return err
	}
	out.Reset()
	n := 0
	for i, large := range x.large {
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
	out.Stats.Queries = uint64(len(x.large))
	return nil
}
