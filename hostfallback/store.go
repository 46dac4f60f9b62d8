package hostfallback

import (
	"context"
	"fmt"
	"sync"

	"heddle/engine/plan"
	"heddle/hostfallback/internal/match/lookup"
	"heddle/hostfallback/internal/rank"
	"heddle/hostfallback/internal/work"
)

// store implements plan.Store on the words of its source, where they are.
type store struct {
	src    *plan.Source
	opt    Options
	tables *lookup.Auxiliary
	ranker *rank.Ranker
	gate   work.Gate
	jobs   sync.Pool // *job

	evaluations    sync.Pool // *evaluation
	formulaWorkers sync.Pool // *formulaWorker

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
	s.ranker = rank.New(s.tables, work.Resources{Threads: opt.Threads, Memory: s.tables.Memory, Lazy: opt.Lazy})
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
	if err := runs(b.Algorithm); err != nil {
		return err
	}
	return work.Run(ctx, &s.gate, "match", b, s.src, &out.Stats, func() error {
		out.Reset()
		j := s.jobs.Get().(*job)
		defer s.jobs.Put(j)
		if err := j.run(ctx, s, b, out); err != nil {
			return err
		}
		q := b.Queries()
		out.Stats = plan.Stats{Queries: uint64(q), Candidates: b.Candidates(s.src), Matches: out.Offsets[q]}
		return nil
	})
}

// Rank implements plan.Store.
func (s *store) Rank(ctx context.Context, b *plan.RankBatch, out *plan.TopK) error {
	return work.Run(ctx, &s.gate, "rank", b, s.src, &out.Stats, func() error { return s.ranker.Rank(ctx, b, out) })
}

// runs gives an error where a is none of algorithms.
func runs(a plan.Algorithm) error { return plan.Info{Kind: "host", Algorithms: algorithms}.Runs(a) }

// Memory implements plan.Store: the words of the source and all tables.
func (s *store) Memory() uint64 {
	return 4*uint64(len(s.src.Words)) + uint64(s.tables.Memory.Used())
}

// Close waits for running batches.
func (s *store) Close() error {
	s.gate.Close()
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
