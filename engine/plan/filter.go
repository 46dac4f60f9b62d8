package plan

import "fmt"

// Filter is a set of documents or rows as bits in the memory of one backend. A
// store of the same backend restricts queries to it (MatchBatch.Filters,
// RankBatch.Filters). It is safe for concurrent use. Close releases the memory
// and must come after the last batch that uses the filter.
type Filter interface {
	// Universe is the number of documents or rows, set or not.
	Universe() uint32
	// Memory is the size in bytes.
	Memory() uint64
	Close() error
}

// Unfiltered returns ErrUnsupported if one of the filters is set. Backends without
// filters call it.
func Unfiltered(filters []Filter) error {
	for i, f := range filters {
		if f != nil {
			return fmt.Errorf("%w: a filter of query %d", ErrUnsupported, i)
		}
	}
	return nil
}
