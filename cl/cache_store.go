package cl

import (
	"context"
	"time"

	"heddle/engine/plan"
	"heddle/engine/plan/listcache"
)

// CachedStore is a Store of which some lists are resident, by the policy of package
// listcache. It is safe for concurrent use. A batch is cut into parts whose lists take a
// quarter of the cache at most, or are those of one query: while one part is answered,
// the lists of the next one are on their way.
//
// Lists that come and go have no tables: algorithms that need some run as BS, which looks
// bitsets up with one load all the same. Tables would take a sixteenth of raw lists more,
// or a fifth of compressed ones, to search half as long, where queries wait for the bus:
// while that brings in a list of 100 KB an H200 answers a dozen queries by BS.
//
// Of ranking the lengths of documents are resident, and frequencies come and go like
// lists; each counts as a list of the query.
type CachedStore struct {
	store *Store
	cache *listCache
}

var (
	_ plan.CachingBackend = (*Backend)(nil)
	_ plan.CachedStore    = (*CachedStore)(nil)
)

// partShare is how many parts that are no longer than they should be fit a cache.
const partShare = 4

// Match implements plan.Store.
func (s *CachedStore) Match(ctx context.Context, b *plan.MatchBatch, out *plan.Results) error {
	if err := plan.Unfiltered(b.Filters); err != nil {
		return err
	}
	switch b.Kind() {
	case plan.Conjunctions:
		return s.conjunctions(ctx, b, out)
	case plan.Expressions:
		return s.expressions(ctx, b, out)
	}
	return plan.MatchMixed(ctx, b, out, s.conjunctions, s.expressions)
}

// conjunctions is that of Store, part by part.
func (s *CachedStore) conjunctions(ctx context.Context, b *plan.MatchBatch, out *plan.Results) error {
	began := time.Now()
	if s.store.closed.Load() {
		return plan.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.store.backend.Info().Runs(b.Algorithm); err != nil {
		return err
	}
	asked := b.Algorithm
	if asked != plan.MergePath {
		asked = s.store.resolve(asked)
	}
	if err := s.store.backend.testAlgorithm(ctx, asked); err != nil {
		return err
	}
	t, err := s.store.begin(ctx, b, out)
	if err != nil {
		return err
	}
	lists := func(dst []plan.Handle, i int) []plan.Handle { return append(dst, b.Query(i)...) }
	err = s.each(ctx, "query", b.Queries(), false, lists, t, &out.Stats, func(ctx context.Context, first, end int, p *pins) error {
		queries := *b
		queries.Offsets = b.Offsets[:end+1]
		return s.store.conjoin(ctx, &queries, first, out, t, p)
	})
	if err != nil {
		return err
	}
	out.Stats.Queries = uint64(b.Queries())
	out.Stats.Wall = time.Since(began)
	return nil
}

// expressions is that of Store, part by part.
func (s *CachedStore) expressions(ctx context.Context, f *plan.MatchBatch, out *plan.Results) error {
	began := time.Now()
	t, err := s.store.beginFormulas(ctx, f, out, s.store.auto)
	if err != nil {
		return err
	}
	err = s.each(ctx, "formula", f.Queries(), false, f.AppendLists, t, &out.Stats, func(ctx context.Context, first, end int, p *pins) error {
		formulas := *f
		formulas.Offsets, formulas.OpOffsets = f.Offsets[:end+1], f.OpOffsets[:end+1]
		return s.store.evaluatePart(ctx, &formulas, first, out, t, p)
	})
	if err != nil {
		return err
	}
	endFormulas(s.store.src, f, out)
	out.Stats.Wall = time.Since(began)
	return nil
}

// Rank is that of Store, part by part.
func (s *CachedStore) Rank(ctx context.Context, r *plan.RankBatch, out *plan.TopK) error {
	if err := plan.Unfiltered(r.Filters); err != nil {
		return err
	}
	began := time.Now()
	if s.store.closed.Load() {
		return plan.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := r.Validate(s.store.src); err != nil {
		return err
	}
	if err := s.store.backend.testRanks(ctx, r.Accumulators); err != nil {
		return err
	}
	out.Reset()
	err := s.each(ctx, "ranked query", r.Queries(), true, r.AppendLists, nil, &out.Stats, func(ctx context.Context, first, end int, p *pins) error {
		ranks := *r
		ranks.Offsets = r.Offsets[:end+1]
		return s.store.rankPart(ctx, &ranks, first, out, p)
	})
	if err != nil {
		return err
	}
	endRanks(s.store.src, r, out)
	out.Stats.Wall = time.Since(began)
	return nil
}

// Explain names the method for list h.
func (s *CachedStore) Explain(a plan.Algorithm, h plan.Handle) string {
	return s.explain(a, func() string { return s.store.Explain(a, h) })
}

// ExplainBatch names the algorithm of b, and why where it is not what was asked for.
func (s *CachedStore) ExplainBatch(b *plan.MatchBatch) string {
	return s.explain(b.Algorithm, func() string { return s.store.ExplainBatch(b) })
}

// explain calls f while no term records change.
func (s *CachedStore) explain(a plan.Algorithm, f func() string) string {
	if _, err := s.store.tablesNow(a); err != nil { // f does not build any
		return err.Error()
	}
	s.cache.mu.Lock()
	defer s.cache.mu.Unlock()
	return f()
}

// Missing is how many bytes a query over lists would bring in now. It waits for nobody.
func (s *CachedStore) Missing(lists []plan.Handle, ranked bool) (bytes uint64, ok bool) {
	c := s.cache
	all := uint64(0)
	add := func(item uint32) {
		n := c.items.Bytes(item)
		if all += n; !c.items.Resident(item) {
			bytes += n
		}
	}
	for _, h := range lists {
		if add(h); ranked && len(c.freqs) > 0 {
			add(c.lists + h)
		}
	}
	if all <= c.items.Least() {
		return bytes, true
	}
	var uses []listcache.Use
	for _, h := range lists {
		if uses = append(uses, listcache.Use{Item: h}); ranked && len(c.freqs) > 0 {
			uses = append(uses, listcache.Use{Item: c.lists + h})
		}
	}
	return bytes, c.items.Fits(uses)
}

// CacheStats says what the cache holds and did.
func (s *CachedStore) CacheStats() plan.CacheStats {
	s.cache.mu.Lock()
	defer s.cache.mu.Unlock()
	return s.cache.items.Stats()
}

// Memory is what the store has to itself on the device.
func (s *CachedStore) Memory() uint64 { return s.store.memory.limit }

// Close waits for what is in flight and frees the device memory; callers that wait get
// plan.ErrClosed.
func (s *CachedStore) Close() error {
	if err := s.store.Close(); err != nil {
		return err
	}
	s.store.backend.unreserve(s.store.memory.limit)
	return nil
}
