package query

import (
	"context"
	"slices"
	"time"

	"heddle/engine/index/analyze"
	"heddle/engine/index/bm25"
	"heddle/engine/index/querylang"
	"heddle/engine/internal/cost"
	"heddle/engine/internal/limit"
	"heddle/engine/internal/resultcache"
	"heddle/engine/plan"
)

// Batch holds queries of one kind, ready for a backend, and their results. One goroutine uses
// it at a time. It keeps its memory from Reset to Reset.
type Batch struct {
	kind    Kind
	match   plan.MatchBatch
	results plan.Results
	handles []plan.Handle
	ranked

	// Threads is the most goroutines of pure Go that Run takes; 0: all that the store has, and GOMAXPROCS for the answers of the
	// batch itself. Reset sets it to 0.
	Threads int
	workers []worker // for these answers

	until  *limit.Until     // end of the time of the present query; nil: none
	whole  *bm25.Statistics // Query.Statistics
	terms  []string
	tokens *analyze.Tokenizer // made for the first text

	text      string    // Query.Text
	dismax    bool      // Query.Dismax.On
	expansion Expansion // Query.Expansion
	expanded  map[leaf]*expanded
	read      int // terms of the leaves of an expression so far

	resolved      []*resolved  // phrases of the present query
	scoredPhrases []*resolved  // phrases that add to its scores
	scoredLeaves  []scoredLeaf // leaves that add to its scores
	phrased       *phrased     // the present query, if pure Go answers it
	owned         []*phrased   // by query, nil for queries without phrases; empty if no query has some

	universe uint32 // number of documents of the index, for complements
	rests    []rest // by query that is a complement, in their order: the documents outside of it
	matched  []rest // by query with phrases that is not ranked, in their order: its documents

	sorted []sorted // queries with a Sorter

	filters []Filter      // by query, nil for none; empty if no query has one
	present []plan.Filter // by query, while it runs
	entered []Filter      // filters whose use ends with the run
}

// Reset empties the batch for queries of a kind.
func (b *Batch) Reset(k *Kind) {
	b.kind, b.Threads = *k, 0
	clear(b.filters)
	b.filters = b.filters[:0]
	clear(b.sorted)
	b.sorted = b.sorted[:0]
	clear(b.rests)
	b.rests = b.rests[:0]
	clear(b.matched)
	b.matched = b.matched[:0]
	clear(b.owned)
	b.owned = b.owned[:0]
	if k.Ranked() {
		b.resetRanked()
		return
	}
	b.match.Reset()
	b.match.CountOnly, b.match.Part, b.match.Algorithm = k.CountOnly, k.Part, k.Algorithm
}

// Add appends a query with settings s, which are of the kind of the batch. It returns the
// load of the query: its postings if it is ranked, else the docIDs that it reads.
func (b *Batch) Add(x *Index, q *Query, s *Settings) (load uint64, err error) {
	if q.Fault != nil {
		return 0, q.Fault
	}
	if b.kind.Ranked() {
		load, err = b.addRanked(x, q, s)
	} else {
		load, err = b.addBoolean(x, q)
	}
	if err == nil {
		b.restrict(q.Filter)
		b.own(b.phrased)
		if q.Sorter != nil {
			b.sorted = append(b.sorted, sorted{of: b.Queries() - 1, by: q.Sorter})
		}
	}
	return load, err
}

// Adopt appends the only query of another batch of the same kind.
func (b *Batch) Adopt(one *Batch) {
	if b.kind.Ranked() {
		b.adoptRanked(one)
	} else {
		b.source = one.source
		b.match.Append(&one.match, 0)
	}
	if len(one.rests) > 0 {
		b.universe = one.universe
		b.rests = append(b.rests, rest{of: b.Queries() - 1})
	}
	b.restrict(one.Filter())
	b.own(one.ownedBy(0))
	if len(one.sorted) > 0 {
		b.sorted = append(b.sorted, sorted{of: b.Queries() - 1, by: one.sorted[0].by})
	}
}

// AddLists appends a conjunction of lists, ascending by length and each once.
func (b *Batch) AddLists(lists []plan.Handle) { b.match.AddOrdered(lists) }

// Conjunction tells whether the only query is a conjunction of lists that is not ranked.
func (b *Batch) Conjunction() bool {
	return !b.kind.Ranked() && len(b.match.Ops) == 0 && len(b.rests)+len(b.sorted) == 0 && b.ownedBy(0) == nil
}

// Queries returns the number of queries.
func (b *Batch) Queries() int {
	if b.kind.Ranked() {
		return b.ranks.Queries()
	}
	return b.match.Queries()
}

// Run answers the queries on a store of a processor.
func (b *Batch) Run(ctx context.Context, s plan.Store, processor int) error {
	if len(b.filters) > 0 {
		defer b.leaveFilters(processor)
		if err := b.enterFilters(ctx, processor); err != nil {
			return err
		}
	}
	b.match.Threads = b.Threads
	if b.kind.Ranked() {
		return b.rank(ctx, s)
	}
	if len(b.sorted) > 0 {
		if all, err := b.sort(ctx, s, processor); all || err != nil {
			return err
		}
	}
	if err := s.Match(ctx, &b.match, &b.results); err != nil || len(b.rests)+len(b.owned) == 0 {
		return err
	}
	if err := b.complements(ctx); err != nil {
		return err
	}
	wall, began := b.results.Stats.Wall, time.Now()
	err := b.answerOwned(ctx, s)
	if len(b.owned) > 0 {
		b.results.Stats.Wall = wall + time.Since(began)
	}
	return err
}

// Borrow lets the next run leave docIDs in memory of the store. Return follows soon after it, and
// before the store is closed.
func (b *Batch) Borrow() { b.results.Borrow = true }

// Return gives borrowed memory back. The next results are copied again, unless Borrow is called.
func (b *Batch) Return() {
	b.results.Reset()
	b.results.Borrow = false
}

// Stats returns the statistics of the last run.
func (b *Batch) Stats() *plan.Stats {
	if b.kind.Ranked() {
		return &b.stats
	}
	return &b.results.Stats
}

// Hits returns the answer of query i after Run: the number of documents, and unless only
// the count was asked for the documents, with scores if they are ranked. These slices are
// views that the next run overwrites, and not nil.
func (b *Batch) Hits(i int) (count uint64, docs []uint32, scores []float64) {
	switch {
	case b.kind.Ranked():
		docs, scores = b.ranking(i)
		return uint64(len(docs)), present(docs), present(scores)
	}
	if f := b.First(i); f != nil {
		return f.Count, present(f.Rows), nil
	}
	if r, not := b.answered(i); not {
		if b.kind.CountOnly {
			return r.count, nil, nil
		}
		return r.count, present(r.docs), nil
	}
	if b.kind.CountOnly {
		return b.results.Count(i), nil, nil
	}
	docs = b.results.Query(i)
	return uint64(len(docs)), present(docs), nil
}

// Unit returns the value of 1 in the integer sums behind the scores of query i; 0 if it is not
// ranked. Statistics of a whole collection give all its shards the same unit.
func (b *Batch) Unit(i int) float64 {
	if !b.kind.Ranked() {
		return 0
	}
	return b.scales[i].Score(1) * b.kind.Unit
}

// present returns s, or an empty slice if s is nil.
func present[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// Cost returns the kind of costs of the only query.
func (b *Batch) Cost() cost.Kind {
	switch {
	case b.kind.Ranked():
		return b.kind.rankCost()
	case len(b.match.Ops) > 0 || len(b.rests)+len(b.sorted) > 0 || b.ownedBy(0) != nil:
		return cost.Boolean
	case b.kind.CountOnly:
		return cost.Count
	}
	return cost.And
}

// AppendLists appends the lists of the only query to dst, by ascending length and each once.
func (b *Batch) AppendLists(dst []plan.Handle, src *plan.Source) []plan.Handle {
	switch {
	case b.kind.Ranked() && b.expressions.of[0] == 0:
		return b.ranks.AppendLists(dst, 0)
	case b.kind.Ranked() || len(b.match.Ops) > 0:
		start := len(dst)
		dst = b.match.AppendLists(dst, 0)
		if b.kind.Ranked() {
			dst = b.expressions.terms.AppendLists(dst, 0)
		}
		own := dst[start:]
		slices.SortFunc(own, func(x, y plan.Handle) int { return plan.ByLength(src, x, y) })
		return dst[:start+len(slices.Compact(own))]
	}
	return append(dst, b.match.Query(0)...)
}

// Key returns the key of the only query on an index in the result cache, in the memory of
// an earlier key.
func (b *Batch) Key(key resultcache.Key, index uint64) resultcache.Key {
	key = b.key(key, index)
	if p := b.ownedBy(0); p != nil {
		key = key.Within(p.digest())
	} else if len(b.rests) > 0 {
		key = key.Complement()
	}
	if f := b.Filter(); f != nil {
		key = key.Within(f.Key())
	}
	return key
}

func (b *Batch) key(key resultcache.Key, index uint64) resultcache.Key {
	switch {
	case b.kind.Ranked():
		k := &b.kind
		opt := resultcache.Ranked{Mode: uint8(k.Match), K: k.K, Total: k.Total, Norm: k.Norm, Scale: b.scales[0], Missing: k.Match == querylang.AllElseAny && b.missing[0]}
		if b.expressions.of[0] == 0 {
			return key.Rank(index, opt, b.ranks.Query(0))
		}
		return key.Rank(index, opt, b.expressions.terms.Query(0)).Among(b.match.Expression(0), b.match.Query(0))
	case len(b.match.Ops) > 0:
		return key.Boolean(index, b.match.Ops, b.kind.CountOnly)
	}
	return key.And(index, b.match.Query(0), b.kind.CountOnly)
}

// Explain names the algorithm that a store runs the only query under, and the reason where
// the backend chooses. It is empty for a query that is no conjunction.
func (b *Batch) Explain(s plan.Store) string {
	if b.ownedBy(0) != nil {
		return b.ownedBy(0).why()
	}
	if b.kind.Ranked() || len(b.match.Query(0)) == 0 {
		return ""
	}
	return s.ExplainBatch(&b.match)
}
