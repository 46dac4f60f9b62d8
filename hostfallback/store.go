package hostfallback

import (
	"context"
	"fmt"
	"sync"
	"time"

	"heddle/engine/plan"
	"heddle/hostfallback/internal/match/lookup"
	"heddle/hostfallback/internal/work"
)

// store implements plan.Store on the words of its source, where they are.
type store struct {
	src    *plan.Source
	opt    Options
	tables *lookup.Auxiliary
	norms  norms
	jobs   sync.Pool // *job

	evaluations    sync.Pool // *evaluation
	formulaWorkers sync.Pool // *formulaWorker

	rankings sync.Pool // *ranking
	rankers  sync.Pool // *ranker

	mu     sync.RWMutex // held for reading by every batch, for writing by Close
	closed bool
}

var _ plan.Store = (*store)(nil)

func newStore(src *plan.Source, opt Options) *store {
	usual := uint64(0)
	for _, l := range src.Lists {
		usual += 16 * uint64(l.Len)
	}
	s := &store{src: src, opt: opt, tables: lookup.New(src, work.NewBudget(opt.MemoryLimit, usual))}
	s.jobs.New = func() any { return new(job) }
	s.evaluations.New = func() any { return new(evaluation) }
	s.formulaWorkers.New = func() any { return new(formulaWorker) }
	s.rankings.New = func() any { return new(ranking) }
	s.rankers.New = func() any { return new(ranker) }
	return s
}

// Match implements plan.Store.
func (s *store) Match(ctx context.Context, b *plan.MatchBatch, out *plan.Results) error {
	if err := plan.Unfiltered(b.Filters); err != nil {
		return err
	}
	switch b.Kind() {
	case plan.Conjunctions:
		return s.intersect(ctx, b, out)
	case plan.Expressions:
		return s.evaluate(ctx, b, out)
	}
	return plan.MatchMixed(ctx, b, out, s.intersect, s.evaluate)
}

// intersect answers conjunctions.
func (s *store) intersect(ctx context.Context, b *plan.MatchBatch, out *plan.Results) error {
	start := time.Now()
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return &plan.DeviceError{Kind: plan.ErrClosed, Device: "host", Op: "intersect"}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := runs(b.Algorithm); err != nil {
		return err
	}
	if err := b.Validate(s.src); err != nil {
		return err
	}
	out.Reset()
	j := s.jobs.Get().(*job)
	defer s.jobs.Put(j)
	if err := j.run(ctx, s, b, out); err != nil {
		return err
	}
	q := b.Queries()
	out.Stats = plan.Stats{
		Queries:    uint64(q),
		Candidates: b.Candidates(s.src),
		Matches:    out.Offsets[q],
		Wall:       max(time.Since(start), 1),
	}
	return nil
}

// runs gives an error where a is none of algorithms.
func runs(a plan.Algorithm) error { return plan.Info{Kind: "host", Algorithms: algorithms}.Runs(a) }

// Memory implements plan.Store: the words of the source and all tables.
func (s *store) Memory() uint64 {
	return 4*uint64(len(s.src.Words)) + uint64(s.tables.Memory.Used())
}

// Close waits for running batches.
func (s *store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

// Explain implements plan.Store. It builds the tables that a needs, so the text
// describes a query whose shortest list has a sixteenth of the docIDs of h.
func (s *store) Explain(a plan.Algorithm, h plan.Handle) string {
	if uint64(h) >= uint64(len(s.src.Lists)) {
		return fmt.Sprintf("no list %d", h)
	}
	if err := runs(a); err != nil {
		return err.Error()
	}
	return s.tables.Explain(a, h)
}

// ExplainBatch implements plan.Store.
func (s *store) ExplainBatch(b *plan.MatchBatch) string {
	if err := runs(b.Algorithm); err != nil {
		return err.Error()
	}
	if b.Algorithm == plan.Auto {
		return "auto: chosen for each list"
	}
	return b.Algorithm.String()
}
