package shard

import (
	"context"
	"errors"

	"heddle/engine/plan"
)

// filter is a set of documents as one filter for each part of a store.
type filter struct {
	of    *store
	parts []plan.Filter
}

// Filter implements plan.Store.
func (s *store) Filter(ctx context.Context, bits []uint64) (plan.Filter, error) {
	if err := plan.CheckFilter(s.src.Docs, bits); err != nil {
		return nil, err
	}
	f := &filter{s, make([]plan.Filter, len(s.parts))}
	err := s.each(ctx, func(ctx context.Context, i int) (err error) {
		f.parts[i], err = s.stores[i].Filter(ctx, Bits(bits, uint64(s.parts[i].First), s.parts[i].Source.Docs))
		return err
	})
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Sets implements plan.Store.
func (s *store) Sets(ctx context.Context, b *plan.MatchBatch, out *plan.Sets) error {
	if err := plan.OwnFilters(b.Filters, s.owns); err != nil {
		return err
	}
	sets := make([]plan.Sets, len(s.parts))
	err := s.answer(ctx, "match", &out.Stats, func() error { return b.Validate(s.src) }, func(ctx context.Context, r *run, i int) error {
		s.batch(&r.batches[i], i, b)
		return s.stores[i].Sets(ctx, &r.batches[i], &sets[i])
	}, func(*run) {
		for q := range b.Queries() {
			f := &filter{s, make([]plan.Filter, len(s.parts))}
			for i := range sets {
				f.parts[i] = sets[i].Filters[q]
			}
			out.Filters = append(out.Filters, f)
		}
		for i := range sets {
			out.Stats.Add(sets[i].Stats)
		}
		out.Stats.Queries = uint64(b.Queries())
		out.Stats.CountFilters(b.Filters)
	})
	if err != nil {
		for i := range sets {
			err = sets[i].Fail(err)
		}
	}
	return err
}

// Bits copies n bits of a bitset from bit first on.
func Bits(bits []uint64, first uint64, n uint32) []uint64 {
	part := make([]uint64, plan.FilterWords(n))
	at, shift := int(first/64), first%64
	for i := range part {
		part[i] = bits[at+i] >> shift
		if next := at + i + 1; shift > 0 && next < len(bits) {
			part[i] |= bits[next] << (64 - shift)
		}
	}
	if last := n % 64; last > 0 {
		part[len(part)-1] &= 1<<last - 1
	}
	return part
}

// owns reports whether a filter is of this store.
func (s *store) owns(f *filter) bool { return f.of == s }

// part returns the filter of a part; nil for no filter.
func part(f plan.Filter, i int) plan.Filter {
	if f == nil {
		return nil
	}
	return f.(*filter).parts[i]
}

// Universe implements plan.Filter.
func (f *filter) Universe() uint32 { return f.of.src.Docs }

// Count implements plan.Filter.
func (f *filter) Count() (n uint32) {
	for _, p := range f.parts {
		n += p.Count()
	}
	return n
}

// Memory implements plan.Filter.
func (f *filter) Memory() (bytes uint64) {
	for _, p := range f.parts {
		bytes += p.Memory()
	}
	return bytes
}

// Close implements plan.Filter.
func (f *filter) Close() error {
	var errs []error
	for _, p := range f.parts {
		if p != nil {
			errs = append(errs, p.Close())
		}
	}
	return errors.Join(errs...)
}
