package hostfallback

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"heddle/engine/plan"
)

// rankPart is a range of documents of one ranked query: what one goroutine ranks
// at a time. A query is one part, or several where it is large.
type rankPart struct {
	query    int
	from, to uint64         // documents
	keys     []rankKey      // the best, those of several parts in any order
	floor    *atomic.Uint32 // a score that K documents of the query have at least
}

// ranking is one batch of ranked queries on its way. It is reused.
type ranking struct {
	parts  []rankPart
	floors []atomic.Uint32 // by query
	lists  []plan.Handle   // those whose tables are to be made
	first  []int           // part of each query, and one more
}

// partLoad is the least work that is worth a part of its own, in postings.
const partLoad = 64 << 10

// Rank implements plan.Store.
func (s *store) Rank(ctx context.Context, r *plan.RankBatch, out *plan.TopK) error {
	if err := plan.Unfiltered(r.Filters); err != nil {
		return err
	}
	start := time.Now()
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return &plan.DeviceError{Kind: plan.ErrClosed, Device: "host", Op: "rank"}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := r.Validate(s.src); err != nil {
		return err
	}
	out.Reset()
	j := s.rankings.Get().(*ranking)
	defer s.rankings.Put(j)
	tables := s.norms.under(s.tables, r.Norm)
	if tables != nil {
		defer tables.done()
	}
	if err := j.prepare(ctx, s, r, tables); err != nil {
		return err
	}
	j.cut(s, r)
	err := parallel(ctx, s.opt.Threads, len(j.parts), func(i int) error {
		w := s.rankers.Get().(*ranker)
		defer s.rankers.Put(w)
		return w.rank(ctx, s, r, tables, &j.parts[i])
	})
	if err != nil {
		return err
	}
	if err := j.gather(ctx, s, r, out); err != nil {
		return err
	}
	out.Stats = plan.Stats{
		Queries: uint64(r.Queries()), Postings: r.Postings(s.src), Matches: uint64(len(out.Docs)),
		Wall: max(time.Since(start), 1),
	}
	return nil
}

// rank finds the best documents of p and puts them in ascending order.
func (w *ranker) rank(ctx context.Context, s *store, r *plan.RankBatch, tables *rankTables, p *rankPart) error {
	w.best.open(r.K)
	err := w.open(s, r, tables, p)
	switch {
	case err != nil || len(w.lists) == 0:
	case r.Mode == plan.And:
		err = w.and(ctx, p)
	case r.Accumulators == plan.GlobalAccumulators:
		err = w.orGlobal(ctx, p)
	default:
		err = w.or(ctx, s, r.K, p)
	}
	if err != nil {
		clear(w.scores[:])
		return err
	}
	w.best.cut()
	slices.Sort(w.best.keys)
	p.keys = append(p.keys[:0], w.best.keys...)
	return nil
}

// prepare makes the tables that the queries need and that are not there. A lazy
// store makes that of a list when it is used for the second time: to decode the list
// once takes less than its table.
func (j *ranking) prepare(ctx context.Context, s *store, r *plan.RankBatch, tables *rankTables) error {
	if tables == nil {
		return nil
	}
	j.lists = j.lists[:0]
	for _, t := range r.Terms {
		slot := tables.lists.At(t.List, len(s.src.Lists))
		switch got := slot.Load(); {
		case got == nil && s.opt.Lazy:
			slot.CompareAndSwap(nil, usedOnce)
		case got == nil || got == usedOnce:
			j.lists = append(j.lists, t.List)
		}
	}
	if len(j.lists) == 0 { // as a rule
		return nil
	}
	slices.Sort(j.lists)
	j.lists = slices.Compact(j.lists)
	return parallel(ctx, s.opt.Threads, len(j.lists), func(i int) error { return tables.make(ctx, j.lists[i]) })
}

// tell tells the other parts of the query what b knows of the least score among
// the best, and b what they know.
func (p *rankPart) tell(b *best) {
	known := b.least.score()
	for {
		all := p.floor.Load()
		if all >= known {
			b.expect(all)
			return
		}
		if p.floor.CompareAndSwap(all, known) {
			return
		}
	}
}

// cut makes the parts: a query is one, or as many as its lists are worth.
func (j *ranking) cut(s *store, r *plan.RankBatch) {
	load := func(terms []plan.Term) (n uint64) {
		for _, t := range terms {
			l := uint64(s.src.Lists[t.List].Len)
			if r.Mode == plan.And { // the shortest list decides
				return l * uint64(len(terms))
			}
			n += l
		}
		return n
	}
	total := uint64(0)
	for i := range r.Queries() {
		total += load(r.Query(i))
	}
	grain := max(partLoad, total/uint64(16*s.opt.Threads))
	universe := uint64(s.src.Docs)
	if len(j.floors) < r.Queries() {
		j.floors = make([]atomic.Uint32, r.Queries())
	}
	n := 0
	j.parts = j.parts[:cap(j.parts)]
	for i := range r.Queries() {
		j.floors[i].Store(0)
		parts := uint64(1)
		if s.opt.Threads > 1 {
			parts = max(min(load(r.Query(i))/grain, (universe+minRankDocs-1)/minRankDocs), 1)
		}
		size := (universe/parts/minRankDocs + 1) * minRankDocs
		if r.Accumulators == plan.GlobalAccumulators {
			size = min(size, maxGlobal)
		}
		for from := uint64(0); from == 0 || from < universe; from += size {
			if n == len(j.parts) {
				j.parts = append(j.parts, rankPart{})
				j.parts = j.parts[:cap(j.parts)]
			}
			p := &j.parts[n]
			p.query, p.from, p.to, p.floor = i, from, min(from+size, universe), &j.floors[i]
			n++
		}
	}
	j.parts = j.parts[:n]
}

// gatherLoad is the least number of documents that are worth a goroutine to copy.
const gatherLoad = 32 << 10

// gather joins the parts of each query and puts its best documents in order.
func (j *ranking) gather(ctx context.Context, s *store, r *plan.RankBatch, out *plan.TopK) error {
	first := j.first[:0]
	for i := range j.parts {
		p := &j.parts[i]
		if p.query == len(first) {
			first = append(first, i)
			out.Offsets = append(out.Offsets, 0)
		}
		out.Offsets[p.query+1] += uint64(len(p.keys))
	}
	j.first = append(first, len(j.parts))
	for i := range r.Queries() {
		out.Offsets[i+1] = out.Offsets[i] + min(out.Offsets[i+1], uint64(r.K))
	}
	total := int(out.Offsets[r.Queries()])
	out.Docs, out.Scores = slices.Grow(out.Docs, total)[:total], slices.Grow(out.Scores, total)[:total]
	pieces := total/gatherLoad + 1
	return parallel(ctx, s.opt.Threads, pieces, func(i int) error {
		for q := r.Queries() * i / pieces; q < r.Queries()*(i+1)/pieces; q++ {
			j.join(q, out)
		}
		return nil
	})
}

// join puts the documents of query q into out.
func (j *ranking) join(q int, out *plan.TopK) {
	parts := j.parts[j.first[q]:j.first[q+1]]
	keys := parts[0].keys
	if len(parts) > 1 {
		for _, p := range parts[1:] {
			keys = append(keys, p.keys...)
		}
		slices.Sort(keys)
		parts[0].keys = keys
	}
	docs, scores := out.Query(q)
	for i := range docs {
		docs[i], scores[i] = keys[len(keys)-1-i].split()
	}
}
