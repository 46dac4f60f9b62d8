package plan

import (
	"context"
	"errors"
	"fmt"
)

// Filter is a set of documents or rows as bits in the memory of one backend. A
// store of the same backend restricts queries to it (MatchBatch.Filters,
// RankBatch.Filters). It is safe for concurrent use. Close releases the memory
// and must come after the last batch that uses the filter.
type Filter interface {
	// Universe is the number of documents or rows, set or not.
	Universe() uint32
	// Count is the number of documents or rows in the set.
	Count() uint32
	// Memory is the size in bytes.
	Memory() uint64
	Close() error
}

// Sets are the documents of the queries of a batch as filters, which the caller closes.
type Sets struct {
	Filters []Filter // by query
	Stats   Stats
}

// Close closes the filters.
func (s *Sets) Close() error {
	var errs []error
	for _, f := range s.Filters {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	clear(s.Filters)
	s.Filters = s.Filters[:0]
	return errors.Join(errs...)
}

// Fail closes the filters and returns err.
func (s *Sets) Fail(err error) error {
	if closing := s.Close(); closing != nil {
		err = errors.Join(err, closing)
	}
	return err
}

// SetsOf is Store.Sets of a store that has the answers of Match on the host, for a source of so many documents.
func SetsOf(ctx context.Context, of Store, universe uint32, b *MatchBatch, s *Sets) error {
	all, r := *b, &Results{Borrow: true}
	all.CountOnly = false
	defer r.Reset()
	if err := of.Match(ctx, &all, r); err != nil {
		return err
	}
	bits := make([]uint64, FilterWords(universe))
	for i := range len(r.Offsets) - 1 {
		clear(bits)
		for _, d := range r.Query(i) {
			bits[d/64] |= 1 << (d % 64)
		}
		f, err := of.Filter(ctx, bits)
		if err != nil {
			return s.Fail(err)
		}
		s.Filters = append(s.Filters, f)
	}
	s.Stats = r.Stats
	return nil
}

// FilterWords is the number of 64-bit words of a filter of a universe.
func FilterWords(universe uint32) int { return int((uint64(universe) + 63) / 64) }

// CheckFilter returns an error if bits are not a set of documents of a universe: the number of
// words is wrong, or a bit behind the last document is set.
func CheckFilter(universe uint32, bits []uint64) error {
	if len(bits) != FilterWords(universe) {
		return fmt.Errorf("plan: a filter of %d words for %d documents, want %d words", len(bits), universe, FilterWords(universe))
	}
	if n := universe % 64; n > 0 && bits[len(bits)-1]>>n != 0 {
		return fmt.Errorf("plan: a filter has documents from %d on", universe)
	}
	return nil
}

// OwnFilters returns ErrUnsupported if a filter, unless it is nil, has another type than F or owns
// refuses it. Stores call it for the filters of a batch.
func OwnFilters[F Filter](filters []Filter, owns func(F) bool) error {
	for i, f := range filters {
		if own, ok := f.(F); f != nil && (!ok || !owns(own)) {
			return fmt.Errorf("%w: the filter of query %d is of another store", ErrUnsupported, i)
		}
	}
	return nil
}

// CountFilters sets Filtered to the number of queries with a filter, for a batch whose parts have
// counted them more than once.
func (s *Stats) CountFilters(filters []Filter) {
	s.Filtered = 0
	for _, f := range filters {
		if f != nil {
			s.Filtered++
		}
	}
	s.Sought = min(s.Sought, s.Filtered)
}

// filterOf returns filter i, nil if there are no filters.
func filterOf(filters []Filter, i int) Filter {
	if len(filters) == 0 {
		return nil
	}
	return filters[i]
}

// restrict makes f the filter of the last query of a batch with the given number of queries.
func restrict(filters []Filter, queries int, f Filter) []Filter {
	if f == nil && len(filters) == 0 {
		return filters
	}
	for len(filters) < queries {
		filters = append(filters, nil)
	}
	filters[queries-1] = f
	return filters
}
