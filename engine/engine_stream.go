package engine

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"heddle/engine/internal/cost"
	"heddle/engine/observe"
	"heddle/engine/plan"
	"heddle/engine/schedule"
)

// stream is a call with many queries; processors cut blocks off it.
type stream struct {
	g    *generation
	kind taskKind
	qs   []Query
	next int
	most int            // queries of a block
	mean *atomic.Uint64 // running mean of the load of a query

	closing uint64 // the threshold of the call, 0: that of the processor
	add     func(w *worker, q Query) (uint64, error)
	deliver func(first int, w *worker) error

	failed atomic.Pointer[error] // of deliver

	mu    sync.Mutex
	stats plan.Stats
}

var _ schedule.Stream = (*stream)(nil)

// block is some consecutive queries of a stream, which are a batch.
type block struct {
	s       *stream
	first   int
	queries []Query
}

// Kind is that of all blocks.
func (s *stream) Kind() any { return s.kind }

// firstBlock is how many queries a block has while nothing is known of their load, and
// the last blocks of devices; guided how many blocks for each processor what is left makes
// at least, so that some overlap on a device.
const firstBlock, guided = 64, 4

// Blocks implements schedule.Stream.
func (s *stream) Blocks(int) int { return 1 << 16 }

// Cut makes the next block. It is cut by the mean load of the queries so far, since it is
// the processor's goroutine that resolves them. Towards the end blocks get smaller, for all
// processors to end at about the same time: guided self-scheduling (Polychronopoulos and
// Kuck 1987).
func (s *stream) Cut(p int, load uint64) *schedule.Job {
	if s.next == len(s.qs) || s.failed.Load() != nil {
		return nil
	}
	n := uint64(firstBlock)
	if mean := s.mean.Load(); mean > 0 {
		n = min(cmp.Or(s.closing, load)/mean, s.g.share(p, s.kind.cost, len(s.qs)-s.next))
	}
	end := s.next + int(max(1, min(n, uint64(s.most), uint64(len(s.qs)-s.next))))
	b := &block{s, s.next, s.qs[s.next:end]}
	s.next = end
	return &schedule.Job{Kind: s.kind, Work: b, Load: uint64(len(b.queries)) * s.mean.Load()}
}

// share is how many of the queries that are left a block of a processor may have. The host
// beside devices has no more than it answers in a quarter of the time that all need for
// the rest, that nobody waits for it in the end, though some queries take many times the
// mean.
func (g *generation) share(p int, k cost.Kind, left int) uint64 {
	const unknown = 8
	own, running, rate := g.processors[p], 0, 0.0
	for _, o := range g.processors {
		if o.out.Load() {
			continue
		}
		running++
		if took := o.perQuery[k].Load(); took > 0 {
			rate += float64(o.lanes) / float64(took)
		}
	}
	per := float64(own.perQuery[k].Load())
	switch {
	case !own.host || running <= 1:
		return uint64(max(firstBlock, left/(guided*max(running, 1))))
	case per == 0:
		return unknown
	}
	return uint64(max(1, float64(left)/(4*rate*per)))
}

// run answers the block on p and delivers it, if nobody else has.
func (b *block) run(ctx context.Context, p *processor, batch *schedule.Batch) error {
	s, x, r := b.s, b.s.g.x, b.s.g.company.enter()
	leave := sync.OnceFunc(s.g.company.leave)
	defer leave()
	w := x.workers.Get().(*worker)
	defer x.workers.Put(w)
	s.kind.reset(x, w)
	total := uint64(0)
	for i, q := range b.queries {
		n, err := s.add(w, q)
		if err != nil {
			return &QueryError{Query: b.first + i, Err: err}
		}
		total += n
	}
	if err := s.kind.answer(ctx, w, p.store); err != nil {
		return err
	}
	per := max(total/uint64(len(b.queries)), 16)
	s.mean.Store((cmp.Or(s.mean.Load(), per)*3 + per) / 4)
	took, mean := uint64(time.Since(r.began))/uint64(len(b.queries)), &p.perQuery[s.kind.cost]
	mean.Store((3*cmp.Or(mean.Load(), took) + took) / 4)
	if !batch.Claim(0) {
		return nil
	}
	leave()
	batch.Delivering() // which may take long, and is the caller's business
	s.mu.Lock()
	s.stats.Add(w.statsOf(&s.kind))
	s.mu.Unlock()
	if err := s.deliver(b.first, w); err != nil {
		s.failed.CompareAndSwap(nil, &err)
	}
	return nil
}

// statsOf are those of what the worker answered last.
func (w *worker) statsOf(k *taskKind) plan.Stats {
	if k.ranked() {
		return w.rankings.Stats
	}
	return w.results.Stats
}

// stream answers the queries of s on all processors.
func (e *Engine) stream(ctx context.Context, s *stream, call Call) error {
	began := time.Now()
	err := s.g.sched.DoAll(ctx, s, call.Caller, e.deadline(ctx, call))
	if failed := s.failed.Load(); failed != nil {
		err = *failed
	}
	if len(s.qs) > 0 {
		q := observe.Explanation{Kind: s.kind.cost.String(), Queries: len(s.qs), Outcome: outcomeOf(err), Err: err,
			Took: time.Since(began), Processors: s.g.names, Stats: s.stats}
		setTrace(&q, &schedule.Trace{Arrived: began, Mode: schedule.Sync})
		e.explain(ctx, call, &q)
	}
	return err
}

// SearchBatches answers many queries on all processors, under the terms of
// Index.SearchBatches.
func (v View) SearchBatches(ctx context.Context, qs []Query, opt SearchOptions, call Call, deliver func(first int, r *plan.Results) error) error {
	x := v.g.x
	return v.e.stream(ctx, &stream{
		g: v.g, kind: searchKind(x, opt), qs: qs, most: 1 << 16, mean: &x.meanLoad, closing: opt.BatchCandidates,
		add:     x.add,
		deliver: func(first int, w *worker) error { return deliver(first, &w.results) },
	}, call)
}

// RankBatches ranks many queries on all processors, under the terms of
// Index.RankBatches.
func (v View) RankBatches(ctx context.Context, qs []Query, opt RankOptions, call Call, deliver func(first int, r *Rankings) error) error {
	x := v.g.x
	sc, err := x.scorer(opt)
	if err != nil {
		return err
	}
	return v.e.stream(ctx, &stream{
		g: v.g, kind: rankKind(&sc), qs: qs, most: mostRanked(opt.K), mean: &x.meanPostings, closing: opt.BatchPostings,
		add:     func(w *worker, q Query) (uint64, error) { return x.addRanked(w, &sc, q) },
		deliver: func(first int, w *worker) error { return deliver(first, &w.rankings) },
	}, call)
}

// SearchMany answers queries into out, in their order. out is the caller's and is reused.
func (v View) SearchMany(ctx context.Context, qs []Query, opt SearchOptions, call Call, out *plan.Results) error {
	return gatherResults(len(qs), out, func(deliver func(first int, r *plan.Results) error) error {
		return v.SearchBatches(ctx, qs, opt, call, deliver)
	})
}

// RankMany ranks queries into out, in their order. out is the caller's and is reused.
func (v View) RankMany(ctx context.Context, qs []Query, opt RankOptions, call Call, out *Rankings) error {
	return gatherRankings(len(qs), out, func(deliver func(first int, r *Rankings) error) error {
		return v.RankBatches(ctx, qs, opt, call, deliver)
	})
}

// SearchBatches is View.SearchBatches of the present index.
func (e *Engine) SearchBatches(ctx context.Context, qs []Query, opt SearchOptions, call Call, deliver func(first int, r *plan.Results) error) error {
	v, err := e.View()
	if err != nil {
		return err
	}
	defer v.Close()
	return v.SearchBatches(ctx, qs, opt, call, deliver)
}

// SearchMany is View.SearchMany of the present index.
func (e *Engine) SearchMany(ctx context.Context, qs []Query, opt SearchOptions, call Call, out *plan.Results) error {
	v, err := e.View()
	if err != nil {
		return err
	}
	defer v.Close()
	return v.SearchMany(ctx, qs, opt, call, out)
}

// RankBatches is View.RankBatches of the present index.
func (e *Engine) RankBatches(ctx context.Context, qs []Query, opt RankOptions, call Call, deliver func(first int, r *Rankings) error) error {
	v, err := e.View()
	if err != nil {
		return err
	}
	defer v.Close()
	return v.RankBatches(ctx, qs, opt, call, deliver)
}

// RankMany is View.RankMany of the present index.
func (e *Engine) RankMany(ctx context.Context, qs []Query, opt RankOptions, call Call, out *Rankings) error {
	v, err := e.View()
	if err != nil {
		return err
	}
	defer v.Close()
	return v.RankMany(ctx, qs, opt, call, out)
}
