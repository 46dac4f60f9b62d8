package plan

import "context"

// Dense is the greatest number of possible groups for which Cells has a place each.
const Dense = 1 << 16

// Cells are the quantities of all possible groups of an Aggregation, by the places of the groups. The
// place of a group is its number in the first grouping, times the numbers of the second grouping, plus
// its number there. A number is 0 for rows without a value, else 1 more than the code.
type Cells struct {
	Rows   []uint64
	Values [][]uint64 // rows with a value, by input and place; nil for an input without measures, or whose rows all have a value
	Sums   [][]uint64 // sums of codes, by measure and place; nil for other measures, and for those with Codes; for MeasureFloats sums of codes / 5^Scale (see Measure.Binary)
	High   [][]uint64 // upper halves of sums of 128 bits, by measure and place; nil for others
	Ends   [][]uint64 // least or greatest codes, by measure and place, of MeasureLeast and MeasureGreatest; any for a group without values
	// Codes are the rows of each code in each group, by measure, of MeasureCodes and of sums without Sums: of the group at
	// place p those of number n at p · (Top + 2) + n.
	Codes [][]uint64
	Stats Stats
}

// Preparer is a TableStore that prepares for later calls.
type Preparer interface {
	// Prepare uploads stored values and builds programs in the background. A call that needs them waits for its own
	// ones alone. groups includes the programs of Measure and CountCodes. It is called once, before other calls.
	Prepare(groups bool)
}

// Measurer is a TableStore that measures groups.
type Measurer interface {
	// Measure measures the groups of the rows of the only selection of s. The rows stay in the memory
	// of the backend. It returns the errors of Select, ErrUnsupported for an aggregation that the store
	// does not take, and codec.ErrCorrupt for a code above Last.
	Measure(ctx context.Context, s *SelectBatch, a *Aggregation) (*Cells, error)
}
