package query

import (
	"context"
	"errors"
	"fmt"
	mathbits "math/bits"
	"slices"
	"time"

	"heddle/engine/plan"
)

// mostSets is the memory of the filters of expressions that are answered together, in bytes.
const mostSets = 128 << 20

// rankExpressions answers the expressions of the batch on s.
func (b *Batch) rankExpressions(ctx context.Context, s plan.Store) error {
	f := &b.expressions
	f.best.Reset()
	f.answers, f.part, f.owned = f.answers[:0], f.part[:0], f.owned[:0]
	wall, began := b.stats.Wall, time.Now()
	if err := b.makePhrases(ctx, s, &b.stats); err != nil {
		return err
	}
	for of, n := range f.of {
		if n == 0 {
			continue
		}
		f.answers = append(f.answers, answer{of: of})
		if b.ownedBy(of) == nil {
			f.part = append(f.part, int(n)-1)
		} else {
			f.owned = append(f.owned, int(n)-1)
		}
	}
	if err := b.rankOwned(ctx); err != nil {
		return err
	}
	if len(f.owned) > 0 {
		b.stats.Wall = wall + time.Since(began)
	}
	most := max(mostSets/(8*plan.FilterWords(b.source.Docs)+1), 1)
	for first := 0; first < len(f.part); first += most {
		if err := b.rankPart(ctx, s, f.part[first:min(first+most, len(f.part))]); err != nil {
			return err
		}
	}
	return nil
}

// rankPart answers some expressions, in halves where memory is short.
func (b *Batch) rankPart(ctx context.Context, s plan.Store, part []int) error {
	err := b.rankSets(ctx, s, part)
	switch n := len(part) / 2; {
	case !errors.Is(err, plan.ErrOutOfMemory):
		return err
	case n == 0: // the query runs elsewhere
		return fmt.Errorf("the documents of an expression: %w: %w", plan.ErrTooLarge, err)
	default:
		if err = b.rankPart(ctx, s, part[:n]); err == nil {
			err = b.rankPart(ctx, s, part[n:])
		}
		return err
	}
}

// rankSets makes the documents of some expressions filters, and ranks the OR of their terms.
func (b *Batch) rankSets(ctx context.Context, s plan.Store, part []int) (err error) {
	f := &b.expressions
	var sets plan.Sets
	defer func() { err = sets.Fail(err) }()
	f.resident.Reset()
	f.resident.Threads = b.Threads
	for _, i := range part {
		if _, not := b.complement(f.answers[i].of); !not {
			f.resident.Append(&b.match, i)
		}
	}
	if f.resident.Queries() > 0 {
		if err := s.Sets(ctx, &f.resident, &sets); err != nil {
			return err
		}
		b.addStats(&sets.Stats)
	}
	r, resident := &f.ranks, 0
	r.Reset()
	r.Mode, r.K, r.Norm, r.Accumulators, r.Threads = plan.Or, b.kind.K, b.kind.Norm, b.kind.Accumulators, b.Threads
	f.bits = f.bits[:0]
	for _, i := range part {
		a, terms := &f.answers[i], f.terms.Query(i)
		r.AddOrdered(terms)
		if _, not := b.complement(a.of); !not {
			a.count = uint64(sets.Filters[resident].Count())
			r.Restrict(sets.Filters[resident])
			resident++
			continue
		}
		bits, err := b.bits(ctx, s, i)
		if err != nil {
			return err
		}
		f.bits = append(f.bits, bits)
		if a.count = uint64(ones(bits)); len(terms) == 0 {
			continue
		}
		set, err := s.Filter(ctx, bits)
		if err != nil {
			return err
		}
		sets.Filters = append(sets.Filters, set)
		r.Restrict(set)
	}
	if err := s.Rank(ctx, r, &f.top); err != nil {
		return err
	}
	f.top.Stats.Filtered, f.top.Stats.Sought = 0, 0 // these are filters of queries
	b.addStats(&f.top.Stats)
	for n, i := range part {
		docs, sums := f.top.Query(n)
		a := &f.answers[i]
		start := len(f.best.Docs)
		f.best.Docs, f.best.Scores = append(f.best.Docs, docs...), append(f.best.Scores, sums...)
		var bits []uint64
		if _, not := b.complement(a.of); not {
			bits, f.bits = f.bits[0], f.bits[1:]
		}
		if more := int(min(uint64(b.kind.K), a.count)) - len(docs); more > 0 {
			if bits == nil {
				if bits, err = b.bits(ctx, s, i); err != nil {
					return err
				}
			}
			f.fill(bits, docs, more)
		}
		a.take(&f.best, start)
	}
	return nil
}

// bits returns the documents of expression i.
func (b *Batch) bits(ctx context.Context, s plan.Store, i int) ([]uint64, error) {
	f := &b.expressions
	f.one.Reset()
	f.one.Append(&b.match, i)
	f.one.Threads = b.Threads
	if err := s.Match(ctx, &f.one, &b.results); err != nil {
		return nil, err
	}
	b.addStats(&b.results.Stats)
	bits := make([]uint64, plan.FilterWords(b.source.Docs))
	if _, not := b.complement(f.answers[i].of); not {
		permitted, err := b.permitted(ctx, f.answers[i].of)
		if err != nil {
			return nil, err
		}
		if permitted != nil {
			copy(bits, permitted)
		} else {
			for d := range b.source.Docs {
				bits[d/64] |= 1 << (d % 64)
			}
		}
	}
	for _, d := range b.results.Query(0) { // the filter permits them
		bits[d/64] ^= 1 << (d % 64)
	}
	return bits, nil
}

// fill appends the first n documents of bits that are not in docs, with the score 0, to the last ranking.
func (f *expressions) fill(bits []uint64, docs []uint32, n int) {
	ranked := slices.Sorted(slices.Values(docs))
	for i, word := range bits {
		for ; word != 0 && n > 0; word &= word - 1 {
			d := uint32(64*i + mathbits.TrailingZeros64(word))
			if _, found := slices.BinarySearch(ranked, d); !found {
				f.best.Docs, f.best.Scores = append(f.best.Docs, d), append(f.best.Scores, 0)
				n--
			}
		}
	}
}
