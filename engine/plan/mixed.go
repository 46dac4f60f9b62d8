package plan

import (
	"context"
	"sync"
)

// MatchFunc runs batches that hold one kind of query.
type MatchFunc func(ctx context.Context, b *MatchBatch, out *Results) error

// mixed is the memory of one batch of conjunctions and expressions.
type mixed struct {
	expressions MatchBatch
	places      []int // index of each expression in the whole batch
	found, more Results
}

var mixedPool = sync.Pool{New: func() any { return new(mixed) }}

// MatchMixed runs a batch of both kinds on a backend that has one function for
// conjunctions and one for expressions, and puts the answers into the order of
// the queries. intersect gets the whole batch without its expressions, whose
// places match nothing; evaluate gets the expressions.
func MatchMixed(ctx context.Context, b *MatchBatch, out *Results, intersect, evaluate MatchFunc) error {
	m := mixedPool.Get().(*mixed)
	defer mixedPool.Put(m)
	x := &m.expressions
	x.Reset()
	x.CountOnly = b.CountOnly
	m.places = m.places[:0]
	for i := range b.Queries() {
		if ops := b.Expression(i); len(ops) > 0 {
			x.AddOps(ops)
			x.Restrict(b.Filter(i))
			m.places = append(m.places, i)
		}
	}
	conjunctions := *b
	conjunctions.OpOffsets, conjunctions.Ops = nil, nil
	if err := intersect(ctx, &conjunctions, &m.found); err != nil {
		return err
	}
	if err := evaluate(ctx, x, &m.more); err != nil {
		return err
	}
	out.Splice(b.Queries(), b.CountOnly, &m.found, &m.more, m.places)
	out.Stats.CountFilters(b.Filters)
	return nil
}

// Splice sets r to the answers of n queries in their order. The queries at places,
// which ascend, have their answers in some, one after the other; the remaining
// queries have theirs in all, at their own index.
func (r *Results) Splice(n int, countOnly bool, all, some *Results, places []int) {
	r.Reset()
	next := 0
	for i := range n {
		from, at := all, i
		if next < len(places) && places[next] == i {
			from, at = some, next
			next++
		}
		r.Offsets = append(r.Offsets, r.Offsets[i]+from.Count(at))
		if !countOnly {
			r.Docs = append(r.Docs, from.Query(at)...)
		}
	}
	r.Stats = all.Stats
	r.Stats.Add(some.Stats)
	r.Stats.Queries = uint64(n)
}
