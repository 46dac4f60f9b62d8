package query

import (
	"context"

	"heddle/engine/plan"
)

// Filter restricts queries to a set of documents of one index. It is safe for concurrent use, and
// comparable.
type Filter interface {
	// On returns the set on a processor, which is made there if it does not exist. Off ends its
	// use.
	On(ctx context.Context, processor int) (plan.Filter, error)
	Off(processor int)
	// Bits returns the documents of the set as a bitset, which must not change.
	Bits(ctx context.Context) ([]uint64, error)
	// Key tells the set from all other sets of documents of the index.
	Key() *[KeyLen]byte
}

// KeyLen is the length of the key of a filter, a digest.
const KeyLen = 32

// restrict makes f the filter of the query that was added last; nil is none.
func (b *Batch) restrict(f Filter) {
	if f == nil && len(b.filters) == 0 {
		return
	}
	n := b.Queries()
	for len(b.filters) < n {
		b.filters = append(b.filters, nil)
	}
	b.filters[n-1] = f
}

// enterFilters makes the filters of the queries present on a processor.
func (b *Batch) enterFilters(ctx context.Context, processor int) error {
	b.present, b.entered = b.present[:0], b.entered[:0]
	var last plan.Filter
	for i, f := range b.filters {
		switch {
		case f == nil:
			last = nil
		case i == 0 || f != b.filters[i-1]:
			var err error
			if last, err = f.On(ctx, processor); err != nil {
				return err
			}
			b.entered = append(b.entered, f)
		}
		b.present = append(b.present, last)
	}
	if !b.kind.Ranked() {
		b.match.Filters = append(b.match.Filters[:0], b.present...)
		return nil
	}
	b.ranks.Filters = append(b.ranks.Filters[:0], b.present...)
	if b.match.Queries() > 0 {
		b.match.Filters = b.match.Filters[:0]
		for i, n := range b.expressions.of {
			if n > 0 {
				b.match.Filters = append(b.match.Filters, b.present[i])
			}
		}
	}
	return nil
}

// leaveFilters ends the use of the filters on a processor.
func (b *Batch) leaveFilters(processor int) {
	for _, f := range b.entered {
		f.Off(processor)
	}
	for _, all := range []*[]plan.Filter{&b.match.Filters, &b.ranks.Filters, &b.totals.match.Filters, &b.pass.Filters, &b.rest.Filters, &b.present} {
		clear(*all)
		*all = (*all)[:0]
	}
	clear(b.entered)
	b.entered = b.entered[:0]
}

// Filter returns the filter of the only query; nil if it has none.
func (b *Batch) Filter() Filter {
	if len(b.filters) == 0 {
		return nil
	}
	return b.filters[0]
}
