package query

import (
	"context"
	"errors"
	"slices"

	"heddle/engine/plan"
)

// Sorter finds the first documents of an order, by attributes, on the processor that matches a query. It is safe for concurrent
// use.
type Sorter interface {
	// Has tells whether a processor finds documents.
	Has(processor int) bool
	// First finds the first documents of a set on a processor; nil: of all documents. It returns the errors of plan.Sorter.
	First(ctx context.Context, processor int, set plan.Filter) (*plan.First, error)
}

// sorted is a query with a Sorter.
type sorted struct {
	of    int // query of the batch
	by    Sorter
	first *plan.First // its answer; nil: all documents answer it
}

// sort answers the queries with a Sorter that the processor has. It reports whether all queries are answered.
func (b *Batch) sort(ctx context.Context, s plan.Store, processor int) (all bool, err error) {
	answered := 0
	var stats plan.Stats
	for i := range b.sorted {
		x := &b.sorted[i]
		if x.first = nil; !x.by.Has(processor) || b.ownedBy(x.of) != nil {
			continue
		}
		x.first, err = b.first(ctx, s, processor, x, &stats)
		switch {
		case errors.Is(err, plan.ErrUnsupported), errors.Is(err, plan.ErrTooLarge), errors.Is(err, plan.ErrOutOfMemory):
			x.first = nil
		case err != nil:
			return false, err
		case x.first != nil:
			slices.Sort(x.first.Rows)
			answered++
		}
	}
	if all = answered == b.Queries(); all {
		b.results.Stats = stats
	}
	return all, nil
}

// first finds the first documents of a query; nil for a complement of some documents.
func (b *Batch) first(ctx context.Context, s plan.Store, processor int, x *sorted, stats *plan.Stats) (f *plan.First, err error) {
	set := b.match.Filter(x.of)
	if _, not := b.complement(x.of); not {
		if len(b.match.Query(x.of))+len(b.match.Expression(x.of)) > 0 {
			return nil, nil
		}
	} else {
		var one plan.MatchBatch
		var sets plan.Sets
		one.Reset()
		one.Append(&b.match, x.of)
		one.Threads = b.Threads
		if err := s.Sets(ctx, &one, &sets); err != nil {
			return nil, err
		}
		defer func() { err = sets.Fail(err) }()
		stats.Add(sets.Stats)
		set = sets.Filters[0]
	}
	if f, err = x.by.First(ctx, processor, set); err == nil {
		stats.Add(f.Stats)
		stats.Matches = f.Count
	}
	return f, err
}

// First returns the first documents of query i, with a few more, and the number of all its documents; nil if Hits has all of
// them.
func (b *Batch) First(i int) *plan.First {
	for _, x := range b.sorted {
		if x.of == i {
			return x.first
		}
	}
	return nil
}
