package hostfallback

import (
	"context"
	"fmt"
	"sync"

	"heddle/engine/file/mapped"
	"heddle/engine/plan"
	"heddle/hostfallback/internal/filter"
	"heddle/hostfallback/internal/match"
	"heddle/hostfallback/internal/match/lookup"
	"heddle/hostfallback/internal/rank"
	"heddle/hostfallback/work"
)

// store implements plan.Store on the words of its source, which it does not copy.
type store struct {
	gate    work.Gate
	src     *plan.Source
	aux     *lookup.Auxiliary
	matcher *match.Matcher
	ranker  *rank.Ranker
	results sync.Pool // *plan.Results
}

var _ plan.Store = (*store)(nil)

// Load checks the descriptors of src. A lazy source is checked list by list, at their first use.
func (b *Backend) Load(ctx context.Context, src *plan.Source) (s plan.Store, err error) {
	defer mapped.Catch(mapped.Watch(), &err)
	if err := b.gate.Enter(ctx, "load"); err != nil {
		return nil, err
	}
	defer b.gate.Leave()
	r := b.resources(16 * src.Postings())
	if src.Lazy == nil {
		if err := src.Validate(); err != nil {
			return nil, err
		}
		if err := lookup.Supports(src); err != nil {
			return nil, err
		}
	}
	aux := lookup.New(src, r.Memory)
	ranker := rank.New(aux, r)
	return &store{src: src, aux: aux, matcher: match.New(aux, r.Threads), ranker: ranker, results: sync.Pool{New: func() any { return new(plan.Results) }}}, nil
}

// Match implements plan.Store.
func (s *store) Match(ctx context.Context, b *plan.MatchBatch, out *plan.Results) error {
	if b.Kind() != plan.Expressions {
		if err := runs(b.Algorithm); err != nil {
			return err
		}
	}
	return work.Run(ctx, &s.gate, "match", &out.Stats, func() error { return s.matcher.Match(ctx, b, out) })
}

// Rank implements plan.Store.
func (s *store) Rank(ctx context.Context, b *plan.RankBatch, out *plan.TopK) error {
	return work.Run(ctx, &s.gate, "rank", &out.Stats, func() error {
		if err := b.Validate(s.src); err != nil {
			return err
		}
		return s.ranker.Rank(ctx, b, out)
	})
}

// Filter implements plan.Store.
func (s *store) Filter(ctx context.Context, bits []uint64) (plan.Filter, error) {
	if err := s.gate.Enter(ctx, "filter"); err != nil {
		return nil, err
	}
	defer s.gate.Leave()
	f, err := filter.New(s.src.Docs, bits)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Sets implements plan.Store. It makes the sets from docIDs: bits, as plan.SetsOf has them, take two to four times as long.
func (s *store) Sets(ctx context.Context, b *plan.MatchBatch, out *plan.Sets) error {
	all, r := *b, s.results.Get().(*plan.Results)
	defer s.results.Put(r)
	all.CountOnly = false
	if err := s.Match(ctx, &all, r); err != nil {
		return err
	}
	for i := range b.Queries() {
		out.Filters = append(out.Filters, filter.Of(s.src.Docs, r.Query(i)))
	}
	out.Stats = r.Stats
	return nil
}

// Explain implements plan.Store. It builds the tables that a needs, so the text describes
// a query whose shortest list has a sixteenth of the docIDs of h.
func (s *store) Explain(a plan.Algorithm, h plan.Handle) string {
	if uint64(h) >= uint64(len(s.src.Lists)) {
		return fmt.Sprintf("no list %d", h)
	}
	if err := runs(a); err != nil {
		return err.Error()
	}
	return s.aux.Explain(a, h)
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

// runs returns plan.ErrUnsupported unless the backend runs a.
func runs(a plan.Algorithm) error {
	return plan.Info{Kind: "host", Algorithms: lookup.Algorithms}.Runs(a)
}

// Memory implements plan.Store: the words of the source and all tables, in bytes.
func (s *store) Memory() uint64 {
	words, _ := s.src.Used()
	return 4*words + uint64(s.aux.Memory.Used())
}

// Close implements plan.Store. It waits for running batches.
func (s *store) Close() error {
	s.gate.Close()
	return nil
}
