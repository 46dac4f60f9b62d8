package lists

import (
	"cmp"
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"heddle/engine/internal/cost"
	"heddle/engine/internal/limit"
	"heddle/engine/internal/query"
	"heddle/engine/internal/schedule"
	"heddle/engine/observe"
	"heddle/engine/plan"
)

// Queries is a sequence of queries. It is safe for concurrent use.
type Queries interface {
	Len() int
	// Get sets q to query i and returns the load that closes its batch; 0: the processor
	// decides.
	Get(i int, q *query.Query) (load uint64)
	// Next sets q, which is query i-1, to query i. It returns false if it has left the options
	// unchanged because they are equal.
	Next(i int, q *query.Query) (changed bool)
}

// Deliver receives the answers of queries first to first+b.Len()-1. They are valid during
// the call. Several goroutines call it at the same time.
type Deliver func(first int, b *Block) error

// stream is a call with many queries, of which processors take blocks.
type stream struct {
	g       *Generation
	qs      Queries
	until   limit.Until // end of the time of the call
	n, next int
	deliver Deliver

	failed atomic.Pointer[error] // error of deliver; nil: none

	// The kind of the next block, for query peeked. Calls of Kind, Blocks and Cut do not
	// overlap.
	peeked int
	query  query.Query
	kind   batchKey
	boxed  any // batchKey
	// invalid is the error of the options of an earlier query.
	invalid error
	cost    cost.Kind // kind of cost of its options, without an expression

	mu    sync.Mutex
	stats plan.Stats
	wrong *query.Error // the first invalid query so far
	// free holds the memory of blocks until the call has ended. A stack keeps few of them
	// in use, so that their pages stay in memory; sync.Pool would allocate many.
	free  []*Block
	ended bool
}

// take returns memory for a block.
func (s *stream) take() *Block {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.free) - 1
	if n < 0 {
		return blocks.Get().(*Block)
	}
	b := s.free[n]
	s.free = s.free[:n]
	return b
}

// give takes the memory of a block back.
func (s *stream) give(b *Block) {
	b.empty()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		b.put(s.g)
	} else {
		s.free = append(s.free, b)
	}
}

// end releases the memory of blocks. Blocks that still run release theirs themselves.
func (s *stream) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	for _, b := range s.free {
		b.put(s.g)
	}
	s.free = nil
}

var _ schedule.Stream = (*stream)(nil)

// block is some consecutive queries of a stream.
type block struct {
	s        *stream
	kind     batchKey // kind of the first query
	first, n int
}

// SearchAll answers queries in blocks on all processors and calls deliver for each block. It
// stops at the first error, but not at an invalid query (query.Invalid), which Block.Err
// returns: the first of them is the error when all blocks are answered. An error of a query is
// a *query.Error.
func (g *Generation) SearchAll(ctx context.Context, qs Queries, call *Call, deliver Deliver) error {
	s := &stream{g: g, qs: qs, until: g.pool.Until(ctx, &call.Call), n: qs.Len(), deliver: deliver, peeked: -1}
	if s.n == 0 {
		return ctx.Err()
	}
	s.Kind()
	if s.invalid != nil {
		return s.invalid
	}
	cost := s.kind.cost.String()
	began := time.Now()
	defer s.end()
	err := g.pool.DoAll(ctx, s, call.Caller, s.until.Deadline)
	if failed := s.failed.Load(); failed != nil {
		err = *failed
	}
	g.pool.Report(ctx, call.Explain, &observe.Explanation{Kind: cost, Queries: s.n, Stats: s.stats, Took: time.Since(began), Err: err},
		&schedule.Trace{Arrived: began, Mode: schedule.Sync})
	if err == nil && s.wrong != nil {
		return s.wrong
	}
	return err
}

// Kind implements schedule.Stream: the kind of the next block, without a look at its terms.
func (s *stream) Kind() any {
	at := min(s.next, s.n-1)
	if at == s.peeked {
		return s.boxed
	}
	last := s.query.Options
	load := s.qs.Get(at, &s.query)
	if s.peeked < 0 || last != s.query.Options {
		var settings query.Settings
		if err := s.g.Settle(&settings, &s.query.Options); err != nil {
			settings = query.Settings{} // the block reports the error
			s.invalid = err
		}
		s.kind.Kind, s.cost = settings.Kind, settings.Cost()
	}
	k := batchKey{s.kind.Kind, s.g, s.cost, load, s.query.Filter != nil}
	if s.query.Expr != nil && !k.Ranked() {
		k.cost = cost.Boolean
	}
	if s.peeked < 0 || k != s.boxed {
		s.boxed = k
	}
	s.peeked, s.kind = at, k
	return s.boxed
}

// Blocks implements schedule.Stream.
func (s *stream) Blocks(p int) int {
	r := s.g.at[p]
	if r == nil {
		return 0
	}
	if s.Kind(); s.kind.Ranked() && r.info.RankBatches > 0 {
		return r.info.RankBatches
	}
	return math.MaxInt
}

// mean returns the running mean of the load of queries of a kind.
func (g *Generation) mean(k *batchKey) *atomic.Uint64 {
	if k.Ranked() {
		return &g.meanPostings
	}
	return &g.meanLoad
}

// learn updates a running mean with the mean of n queries. A block of 256 queries or more
// weighs a quarter; a smaller one weighs less, because its mean varies more. The size of
// blocks must vary little: memory for results grows to the largest one.
func learn(mean *atomic.Uint64, per uint64, n int) {
	const full, all = 256, 1024
	weight, last := uint64(min(n, full)), cmp.Or(mean.Load(), per)
	mean.Store((last*(all-weight) + per*weight) / all)
}

// blockQueries returns the greatest number of queries of a block: 65,536, or fewer ranked queries if together
// they would ask for more than 4 M documents.
func blockQueries(k *batchKey) int {
	if k.Ranked() {
		return min(max(1<<22/k.K, 1), 1<<16)
	}
	return 1 << 16
}

// firstBlock is the number of queries of a block while their load is unknown.
const firstBlock = 64

// Left implements schedule.Stream.
func (s *stream) Left() int { return s.n - s.next }

// Each implements schedule.Stream.
func (s *stream) Each(p int) time.Duration {
	s.Kind()
	return time.Duration(s.g.at[p].perQuery[s.kind.cost].Load())
}

// Learn implements schedule.Stream.
func (s *stream) Learn(p int, j *schedule.Job, each time.Duration) {
	b := j.Work.(*block)
	learn(&s.g.at[p].perQuery[b.kind.cost], uint64(each), b.n)
}

// Cut implements schedule.Stream. The mean load of the queries so far decides the size of a
// block, because the goroutine of the processor resolves them. A caller that sets the load
// decides the size on devices.
func (s *stream) Cut(p int, load uint64, limit int) *schedule.Job {
	if s.next == s.n || s.failed.Load() != nil {
		return nil
	}
	boxed := s.Kind()
	k := s.kind
	mean := s.g.mean(&k).Load()
	n := cmp.Or(k.load, load) / max(mean, 16)
	if k.load == 0 || s.g.at[p].p.Host {
		n = min(n, uint64(limit))
		if mean == 0 {
			n = min(n, firstBlock)
		}
	}
	size := int(max(1, min(n, uint64(blockQueries(&k)), uint64(s.n-s.next))))
	b := &block{s, k, s.next, size}
	s.next += size
	return &schedule.Job{Kind: boxed, Work: b, Load: uint64(size) * mean}
}

// Estimate implements pool.Work.
func (b *block) Estimate(p int) (alone, added time.Duration, ok bool) {
	r := b.s.g.at[p]
	if r == nil {
		return 0, 0, false
	}
	n := time.Duration(r.perQuery[b.kind.cost].Load()) * time.Duration(b.n)
	return n, n, true
}

// Run implements pool.Work: it answers the block and delivers it, unless another processor has.
func (b *block) Run(ctx context.Context, p int, batch *schedule.Batch) error {
	s, r := b.s, b.s.g.at[p]
	run, err := r.Begin()
	if err != nil {
		return err
	}
	defer run.End()
	out := s.take()
	defer s.give(out)
	if err := out.resolve(s, b.first, b.n); err != nil {
		return err
	}
	if err := out.run(ctx, r.store, p, r.threads(batch)); err != nil {
		return err
	}
	learn(s.g.mean(&b.kind), max(out.load/uint64(b.n), 16), b.n)
	if !batch.Claim(0) {
		return nil
	}
	run.Delivered()
	batch.Delivering() // the caller may take long
	s.mu.Lock()
	for i := range out.parts {
		s.stats.Add(*out.parts[i].Stats())
	}
	if len(out.wrong) > 0 {
		if n := b.first + out.wrong[0].Query; s.wrong == nil || n < s.wrong.Query {
			s.wrong = &query.Error{Query: n, Err: out.wrong[0].Err}
		}
	}
	s.mu.Unlock()
	if err := s.deliver(b.first, out); err != nil {
		s.failed.CompareAndSwap(nil, &err)
	}
	return nil
}
