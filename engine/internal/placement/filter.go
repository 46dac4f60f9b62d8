package placement

import (
	"context"
	"errors"

	"heddle/engine/plan"
)

// filter is a set of documents on both stores of an overflow.
type filter struct {
	plan.Filter             // filter of the cached store
	host        plan.Filter // filter of the store of the host
}

// Filter implements plan.Store.
func (s *overflow) Filter(ctx context.Context, bits []uint64) (plan.Filter, error) {
	f, err := s.CachedStore.Filter(ctx, bits)
	if err != nil {
		return nil, err
	}
	host, err := s.host.Filter(ctx, bits)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &filter{f, host}, nil
}

// Sets implements plan.Store.
func (s *overflow) Sets(ctx context.Context, b *plan.MatchBatch, out *plan.Sets) error {
	return plan.SetsOf(ctx, s, s.docs, b, out)
}

// Close implements plan.Filter.
func (f *filter) Close() error { return errors.Join(f.Filter.Close(), f.host.Close()) }

// Memory implements plan.Filter.
func (f *filter) Memory() uint64 { return f.Filter.Memory() + f.host.Memory() }

// ofAny takes the filters of any store of this kind.
func ofAny(*filter) bool { return true }

// first returns the filter of the cached store, nil for none.
func first(f plan.Filter) plan.Filter {
	if f == nil {
		return nil
	}
	return f.(*filter).Filter
}

// second returns the filter of the host, nil for none.
func second(f plan.Filter) plan.Filter {
	if f == nil {
		return nil
	}
	return f.(*filter).host
}

// firsts returns the filters of the cached store.
func (x *spill) firsts(filters []plan.Filter) []plan.Filter {
	x.filters = x.filters[:0]
	for _, f := range filters {
		x.filters = append(x.filters, first(f))
	}
	return x.filters
}
