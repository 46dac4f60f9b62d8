package plan

import "sort"

// Input is a column that an Aggregation reads.
type Input struct {
	Column uint32
	Last   uint64 // greatest stored code of the rows with a value
	// Bounds, ascending and at most Last, make bins of the stored codes: the code of a row is the
	// number of bounds that are not above its stored code. Default: nil, the stored code.
	Bounds []uint64
	// Missing tells that rows without a value exist. Vector has these rows.
	Missing bool
	Vector  uint32
}

// Top is the greatest code that a row with a value can have.
func (in *Input) Top() uint64 {
	if in.Bounds != nil {
		return uint64(len(in.Bounds))
	}
	return in.Last
}

// Bin is the code of a row with a stored code, under Bounds.
func (in *Input) Bin(stored uint64) uint64 {
	return uint64(sort.Search(len(in.Bounds), func(i int) bool { return in.Bounds[i] > stored }))
}

// MeasureKind is the kind of a Measure. Rows without a value of its input do not count.
type MeasureKind uint8

const (
	MeasureCount    MeasureKind = iota // number of rows
	MeasureSum                         // sum of the codes, or of their weights
	MeasureFloats                      // sum of the floats of the keys of codes
	MeasureFloats32                    // the same for floats of 32 bits
	MeasureLeast                       // least code
	MeasureGreatest                    // greatest code
	MeasureCodes                       // different codes, and the number of rows of each
)

// Weight is an unsigned integer of 128 bits.
type Weight struct{ High, Low uint64 }

// Measure is a quantity of the rows of a group.
type Measure struct {
	Kind  MeasureKind
	Input int // index in Aggregation.Inputs
	// Base is the key of code 0, and Unit the difference of the keys of neighbouring codes, of
	// MeasureFloats and MeasureFloats32. A key has the order of floats: its highest bit is inverted
	// if it is set, else all bits are. A Unit of 0 means 1.
	Base, Unit uint64
	// Keys of all codes, in place of Base and Unit. Default: nil.
	Keys []uint64
	// Scale of MeasureFloats: with a scale above 0, a key less 2^63 is a number n, and the
	// float is the nearest to n / 10^Scale.
	Scale uint8
	// Weights of all codes, of MeasureSum. Default: nil, the codes themselves.
	Weights []Weight
}

// Binary describes floats that are multiples of 2^-Scale: if a code is a multiple of divisor, its float is
// (first + factor · code/divisor) · 2^-Scale, exactly, where factor is Factor(divisor). ok is false for other kinds
// of measures, for floats without a scale or with Keys, and if the float of code 0 is no such multiple.
func (m *Measure) Binary() (first int64, divisor uint64, ok bool) {
	if m.Kind != MeasureFloats || m.Scale == 0 || m.Keys != nil {
		return 0, 0, false
	}
	divisor = m.fives()
	n := int64(m.Base ^ 1<<63)
	first, ok = n/int64(divisor), n%int64(divisor) == 0
	for unit := max(m.Unit, 1); unit%5 == 0 && divisor > 1; unit /= 5 {
		divisor /= 5
	}
	return first, divisor, ok
}

// Factor is the number that Binary names: Unit without its factors 5 that divisor lacks.
func (m *Measure) Factor(divisor uint64) uint64 { return max(m.Unit, 1) / (m.fives() / divisor) }

// fives is 5^Scale.
func (m *Measure) fives() uint64 {
	n := uint64(1)
	for range m.Scale {
		n *= 5
	}
	return n
}

// MaxGroupings is the number of columns that may form groups.
const MaxGroupings = 4

// Aggregation describes groups of selected rows, and quantities of each group. Rows of a
// group have equal codes in all columns of Groupings. Rows without a value of such a column
// form groups of their own. Without Groupings all rows are one group, which exists even if
// no row is selected.
type Aggregation struct {
	Inputs    []Input
	Groupings []int // indexes in Inputs
	Measures  []Measure
}
