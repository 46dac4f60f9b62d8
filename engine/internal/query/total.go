package query

import (
	"context"

	"heddle/engine/index/querylang"
	"heddle/engine/plan"
)

// totals counts the documents that match ranked queries. It asks the backend for the numbers that rankings
// leave open: a query with fewer hits than K matches no further document.
type totals struct {
	match   plan.MatchBatch // the queries that the backend counts
	results plan.Results
	both    []uint64 // by query of match: documents of two lists of an OR, whose AND is counted; 0: the query itself is
	of      []int    // by query of match: its number in the batch
	counts  []uint64 // by query of the batch: number of documents

	lists []plan.Handle // lists of the present query
	ops   []plan.Op     // their OR in reverse Polish notation
}

// count sets the totals of all queries after their ranking on s.
func (b *Batch) count(ctx context.Context, s plan.Store) error {
	if b.kind.Total == 0 {
		return nil
	}
	t := &b.totals
	t.match.Reset()
	t.match.CountOnly, t.match.Threads = true, b.Threads
	t.of, t.both, t.counts = t.of[:0], t.both[:0], t.counts[:0]
	for i := range b.ranks.Queries() {
		if n := b.expressions.of[i]; n > 0 {
			t.counts = append(t.counts, b.expressions.answers[n-1].count)
			continue
		}
		docs, _ := b.found(i)
		t.counts = append(t.counts, uint64(len(docs)))
		if len(docs) < b.kind.K {
			continue
		}
		least := b.atLeast(i)
		t.counts[i] = max(t.counts[i], least)
		if least > b.kind.Total || b.ranks.Filter(i) == nil && len(b.ranks.Query(i)) == 1 {
			continue
		}
		b.addCount(i)
	}
	if len(t.of) == 0 {
		return nil
	}
	if err := s.Match(ctx, &t.match, &t.results); err != nil {
		return err
	}
	for n, i := range t.of {
		if t.counts[i] = t.results.Count(n); t.both[n] > 0 {
			t.counts[i] = t.both[n] - t.counts[i]
		}
	}
	b.addStats(&t.results.Stats)
	return nil
}

// either reports whether query i ranks the documents with any of its terms, not with all of them.
func (b *Batch) either(i int) bool {
	return b.kind.Match == querylang.AnyTerm || len(b.again1) > 0 && b.again1[i] > 0
}

// atLeast is a number of documents that query i matches in any case: the longest list of an OR.
func (b *Batch) atLeast(i int) (n uint64) {
	terms := b.ranks.Query(i)
	if b.ranks.Filter(i) != nil || len(terms) > 1 && !b.either(i) {
		return 0
	}
	return uint64(b.source.Lists[terms[len(terms)-1].List].Len)
}

// addCount adds query i to the queries that the backend counts.
func (b *Batch) addCount(i int) {
	t, terms, both := &b.totals, b.ranks.Query(i), uint64(0)
	t.lists = t.lists[:0]
	for _, term := range terms {
		t.lists = append(t.lists, term.List)
	}
	switch either := b.either(i) && len(terms) > 1; {
	case either && (len(terms) > 2 || b.ranks.Filter(i) != nil):
		t.ops = t.ops[:0]
		for n, list := range t.lists {
			t.ops = append(t.ops, plan.Op{Code: plan.OpList, List: list})
			if n > 0 {
				t.ops = append(t.ops, plan.Op{Code: plan.OpOr})
			}
		}
		t.match.AddOps(t.ops)
	case either:
		both = uint64(b.source.Lists[t.lists[0]].Len) + uint64(b.source.Lists[t.lists[1]].Len)
		t.match.AddOrdered(t.lists)
	default:
		t.match.AddOrdered(t.lists)
	}
	t.match.Restrict(b.ranks.Filter(i))
	t.of, t.both = append(t.of, i), append(t.both, both)
}

// addStats adds the statistics of the backend for a part of the queries.
func (b *Batch) addStats(more *plan.Stats) {
	queries, matches := b.stats.Queries, b.stats.Matches
	b.stats.Add(*more)
	b.stats.Queries, b.stats.Matches = queries, matches
}

// Total returns the number of documents that ranked query i matches, after Run; the zero value if it was not asked for.
// It is a number of the documents that are ranked: under AllElseAny those with all terms if there are K of them,
// else those with any term.
func (b *Batch) Total(i int) plan.Total {
	if b.kind.Total == 0 {
		return plan.Total{}
	}
	return plan.UpTo(b.totals.counts[i], b.kind.Total)
}
