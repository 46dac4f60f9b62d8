package plan

import "context"

// Dense is the greatest number of possible groups that are places of an array.
const Dense = 1 << 16

// Cells are the quantities of all possible groups of an Aggregation, by the places of the groups. The
// place of a group is its number in the first grouping, times the numbers of the second grouping, plus
// its number there. A number is 0 for rows without a value, else 1 more than the code.
type Cells struct {
	Rows   []uint64
	Values [][]uint64 // rows with a value, by input; nil for an input without measures, or whose rows all have a value
	Sums   [][]uint64 // sums of codes, by measure; nil for a MeasureCount; of a MeasureFloats, of codes / 5^Scale (Measure.Binary)
	Stats  Stats
}

// Measurer is a TableStore that measures groups.
type Measurer interface {
	// Measure measures the groups of the rows of the only selection of s. The rows stay in the memory
	// of the backend. Errors: of Select; ErrUnsupported for an aggregation that the store does not
	// take; codec.ErrCorrupt for a code above Last.
	Measure(ctx context.Context, s *SelectBatch, a *Aggregation) (*Cells, error)
}
