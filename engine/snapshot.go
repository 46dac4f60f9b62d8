package engine

import (
	"context"
	"sync/atomic"

	"heddle/engine/index/hdl"
	"heddle/engine/index/querylang"
	"heddle/engine/internal/query"
	"heddle/engine/internal/serve"
	"heddle/engine/plan"
)

// Snapshot is the content of an index at a moment. It is safe for concurrent use, except that
// Close must not run beside other calls.
type Snapshot struct {
	g      *serve.Lists
	closed atomic.Bool
}

// Close ends the use of the snapshot. Further calls have no effect; other methods must not be
// called afterwards.
func (s *Snapshot) Close() error {
	if !s.closed.Swap(true) {
		s.g.Release()
	}
	return nil
}

// Search is Index.Search on the snapshot.
func (s *Snapshot) Search(ctx context.Context, q Query) (Hits, error) { return search(ctx, s.g, &q) }

// SearchAll is Index.SearchAll on the snapshot.
func (s *Snapshot) SearchAll(ctx context.Context, qs []Query, deliver func(first int, hits []Hits) error) error {
	return searchAll(ctx, s.g, qs, deliver)
}

// File returns the index file, which names documents and stores their texts; nil for an index
// in memory. The snapshot closes it.
func (s *Snapshot) File() *hdl.File { return s.g.File }

// Source returns the lists. They must not be changed.
func (s *Snapshot) Source() *plan.Source { return s.g.Source }

// Terms analyses a query text as Search does. It keeps duplicates.
func (s *Snapshot) Terms(text string) []string { return s.g.Terms(text) }

// WeightedTerms reads a text as a ranked query does: its terms, analysed as documents were, and
// their weights. It keeps duplicates. The error has code InvalidQuery.
func (s *Snapshot) WeightedTerms(text string) ([]string, []float64, error) {
	terms, weights, err := s.g.WeightedTerms(text)
	return terms, weights, wrap("terms", err)
}

// Expression returns the meaning of a boolean expression over the lists, in canonical form
// (plan.Expr.Simplify). A term that the analysis splits is an AND of its parts; a term of
// which nothing is left, such as a stop word, drops out, with the terms that NOT subtracts
// from it; a term that no document has is the empty set.
func (s *Snapshot) Expression(e querylang.Expr) plan.Expr { return s.g.Expression(e) }

// Statistics is Index.Statistics of the snapshot.
func (s *Snapshot) Statistics(terms ...string) Statistics {
	return Statistics(s.g.Index.Statistics(terms...))
}

// ExplainList says how a processor looks elements up in a list under an algorithm: a short
// text such as "bitset, one load". An empty name is the first processor with the lists.
func (s *Snapshot) ExplainList(processor string, a plan.Algorithm, h plan.Handle) string {
	if t := s.target(processor); t != nil {
		return t.Store.Explain(s.g.Algorithm(a), h)
	}
	return ""
}

// ExplainQuery names the algorithm that a processor runs q under, and the reason where the
// processor chooses. It is empty for a query that is no conjunction.
func (s *Snapshot) ExplainQuery(processor string, q Query) string {
	t := s.target(processor)
	if t == nil {
		return ""
	}
	var in query.Query
	q.internal(&in)
	text, err := s.g.Explain(t.Store, &in)
	if err != nil {
		return err.Error()
	}
	return text
}

// target returns the lists on a processor; on the first one that has them if the name is
// empty; nil if there are none.
func (s *Snapshot) target(processor string) *serve.Target {
	for _, t := range s.g.Targets() {
		if processor == "" || t.Processor.Name == processor {
			return &t
		}
	}
	return nil
}

// IndexInfo describes an index.
type IndexInfo struct {
	Docs  uint32
	Lists int
	// Resident says how the lists lie on the processors that have them.
	Resident []Resident
}

// Resident says how lists or a table lie on a processor.
type Resident struct {
	Processor string
	Reserve   bool      // runs only queries that no other processor can run
	Info      plan.Info // of shards: of all devices together
	Bytes     uint64    // with auxiliary tables and scratch
	Reason    string    // of the placement
	// Batch and BatchPostings are the loads that close batches of boolean and of ranked
	// queries: see Options.BatchCandidates and Options.BatchPostings.
	Batch, BatchPostings uint64
	// Cache is nil if all lists are resident.
	Cache *plan.CacheStats
}

// Info describes the snapshot.
func (s *Snapshot) Info() IndexInfo {
	info := IndexInfo{Docs: s.g.Source.Docs, Lists: len(s.g.Source.Lists)}
	for _, t := range s.g.Targets() {
		r := Resident{Processor: t.Processor.Name, Reserve: t.Processor.Reserve, Info: t.Info, Bytes: t.Store.Memory(), Reason: t.Why,
			Batch: t.Threshold(&query.Kind{}), BatchPostings: t.Threshold(&query.Kind{K: 1})}
		if t.Cached != nil {
			c := t.Cached.CacheStats()
			r.Cache = &c
		}
		info.Resident = append(info.Resident, r)
	}
	return info
}
