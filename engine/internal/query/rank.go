package query

import (
	"context"

	"heddle/engine/index/querylang"
	"heddle/engine/plan"
)

// rank answers ranked queries on s.
func (b *Batch) rank(ctx context.Context, s plan.Store) error {
	b.ranks.Threads = b.Threads
	b.again1 = b.again1[:0]
	if b.match.Queries() == b.ranks.Queries() { // expressions alone
		b.stats = plan.Stats{Queries: uint64(b.match.Queries())}
	} else if b.kind.Match == querylang.AllElseAny {
		if err := b.rankAndOr(ctx, s); err != nil {
			return err
		}
	} else {
		b.ranks.Mode = plan.Or
		if b.kind.Match == querylang.AllTerms {
			b.ranks.Mode = plan.And
		}
		if err := s.Rank(ctx, &b.ranks, &b.top); err != nil {
			return err
		}
		b.stats = b.top.Stats
	}
	if err := b.rankExpressions(ctx, s); err != nil {
		return err
	}
	b.score()
	return b.count(ctx, s)
}

// rankAndOr answers all queries under And, and again under Or the queries with fewer than K
// documents. A single term gives the same under both.
func (b *Batch) rankAndOr(ctx context.Context, s plan.Store) error {
	all, and, or := &b.ranks, &b.pass, &b.rest
	and.Threads, or.Threads = b.Threads, b.Threads
	and.Reset()
	or.Reset()
	and.Mode, or.Mode = plan.And, plan.Or
	for i := range all.Queries() {
		if b.missing[i] {
			and.AddOrdered(nil)
		} else {
			and.AddOrdered(all.Query(i))
		}
		and.Restrict(all.Filter(i))
	}
	if err := s.Rank(ctx, and, &b.top); err != nil {
		return err
	}
	for i := range all.Queries() {
		docs, _ := b.top.Query(i)
		if len(docs) < all.K && (b.missing[i] || len(all.Query(i)) > 1) {
			or.AddOrdered(all.Query(i))
			or.Restrict(all.Filter(i))
			b.again1 = append(b.again1, int32(or.Queries()))
		} else {
			b.again1 = append(b.again1, 0)
		}
	}
	b.stats = b.top.Stats
	if or.Queries() > 0 {
		if err := s.Rank(ctx, or, &b.again); err != nil {
			return err
		}
		b.stats.Add(b.again.Stats)
		b.stats.Widened = uint64(or.Queries())
	}
	b.stats.Queries = uint64(all.Queries())
	return nil
}

// leastNormal is the least unit whose multiples are exact.
const leastNormal = 0x1p-1022

// score turns the sums of all rankings into scores.
func (b *Batch) score() {
	b.scores, b.offsets = b.scores[:0], append(b.offsets[:0], 0)
	for i := range b.ranks.Queries() {
		_, sums := b.found(i)
		b.scores = b.appendScores(b.scores, i, sums)
		b.offsets = append(b.offsets, uint32(len(b.scores)))
	}
	if b.kind.Match == querylang.AllElseAny || b.match.Queries() > 0 {
		b.stats.Matches = uint64(len(b.scores))
	}
}

// appendScores appends the scores of sums of query i.
func (b *Batch) appendScores(dst []float64, i int, sums []uint32) []float64 {
	unit := b.Unit(i)
	for _, sum := range sums {
		if unit >= leastNormal {
			dst = append(dst, float64(sum)*unit)
		} else {
			dst = append(dst, b.scales[i].Score(sum)*b.kind.Unit)
		}
	}
	return dst
}

// found returns the ranking of query i as the backend gave it.
func (b *Batch) found(i int) (docs, sums []uint32) {
	if n := b.expressions.of[i]; n > 0 {
		a := &b.expressions.answers[n-1]
		return a.docs, a.sums
	}
	if len(b.again1) > 0 && b.again1[i] > 0 {
		return b.again.Query(int(b.again1[i]) - 1)
	}
	return b.top.Query(i)
}

// ranking returns documents and scores of query i.
func (b *Batch) ranking(i int) ([]uint32, []float64) {
	docs, _ := b.found(i)
	start, end := b.offsets[i], b.offsets[i+1]
	return docs, b.scores[start:end:end]
}
