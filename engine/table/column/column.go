// Package column is the data model of bitmap tables: types of columns, integer keys of
// their values, bins, and the vectors that answer a range. It contains values and pure
// functions.
//
// A value has a key: an integer with the order of the values. The code of a row is
// (key - Column.Base) / Column.Unit, or the rank of its key among Column.Ranks. Files store
// codes, and backends compare codes (plan.CodeRange).
package column

import (
	"slices"
	"unicode/utf8"
)

// Type is the type of a column.
type Type uint8

const (
	Int         Type = iota // int64
	Float                   // float64; -0 is 0; NaN equals itself and is greater than other values
	String                  // bytes, ordered bytewise
	Bool                    // false before true
	Timestamp               // microseconds since 1970-01-01T00:00:00Z, as int64; ±Infinity are its ends
	Uint                    // uint64
	Float32                 // float32, with the rules of Float
	Decimal                 // int64 times 10^-Scale
	Decimal128              // integer of 128 bits times 10^-Scale
	TimestampNS             // as Timestamp, in nanoseconds
)

// MaxScale is the greatest Scale: the number of digits of a Decimal128.
const MaxScale = 38

// MaxScale is the greatest Scale of a column of the type.
func (t Type) MaxScale() uint8 {
	switch t {
	case Decimal, Decimal128:
		return MaxScale
	case Float:
		return MaxFloatScale
	}
	return 0
}

// HasDictionary reports whether keys of the type are numbers of entries of a dictionary.
func (t Type) HasDictionary() bool { return t == String || t == Decimal128 }

// IsDecimal reports whether the type is Decimal or Decimal128.
func (t Type) IsDecimal() bool { return t == Decimal || t == Decimal128 }

// IsTime reports whether values of the type are times.
func (t Type) IsTime() bool { return t == Timestamp || t == TimestampNS }

// Encoding is the meaning of the vectors of a column with n bins.
type Encoding uint8

const (
	// Equality has a vector a bin: the rows in bin i. A range takes the OR of its bins.
	Equality Encoding = iota
	// Range has n-1 vectors: the rows in bins 0 to i. A range takes two at most.
	Range
	// Interval has n-Span(n)+1 vectors: the rows in bins i to i+Span(n)-1 (Chan and
	// Ioannidis 1999). A range takes two at most, of half as many as Range has.
	Interval
	// None has one vector: the rows of all bins. The bins are a summary of the values; stored codes
	// answer ranges.
	None
)

// Span is the number of bins that a vector of an Interval encoding covers: half of n,
// rounded up.
func Span(n int) int { return (n + 1) / 2 }

// Vectors is the number of vectors of n bins, without the vector of missing values.
func (e Encoding) Vectors(n int) int {
	switch {
	case n == 0:
		return 0
	case e == None:
		return 1
	case e == Range:
		return n - 1
	case e == Interval:
		return n - Span(n) + 1
	}
	return n
}

// Binning is the rule that divides the values of a column into bins.
type Binning uint8

const (
	Auto     Binning = iota // Distinct where there are few values, else Quantile
	Distinct                // a bin a value
	Width                   // ranges of keys, equally long
	Quantile                // about as many rows in each
	Lloyd                   // k-means in one dimension
)

// Bin is a range of codes, from the least to the greatest that a row has. Bins may leave gaps.
type Bin struct {
	Lo, Hi uint64 // both included
	Rows   uint32
}

// Column describes a column of a table.
type Column struct {
	Name     string
	Type     Type
	Scale    uint8   // digits behind the point of a Decimal or Decimal128, or of the keys of a Float (ScaledKey)
	Binning  Binning // binning of the column, never Auto
	Encoding Encoding
	Base     uint64 // key of code 0; 0 where no row has a value, and with Ranks
	Unit     uint64 // difference of the keys of neighbouring codes; 0 means 1
	Reason   string // why it has this encoding, in words; nothing depends on it
	Missing  uint32 // rows without a value
	Bins     []Bin  // ascending and disjoint; every value lies in one

	// Vector is the number of the column's first vector in its table. The vectors of the
	// encoding come first, then, unless Missing is 0, the vector of rows without a value.
	Vector uint32

	// Values describes the values of a multi-valued column: a column of their own, with a row for each
	// value and none without one. Type and Scale above are theirs; all else is of the rows: Bins has
	// one bin, the rows with a value, and Missing counts the other rows. Nil: a row has at most one value.
	Values *Column

	// Dictionary has the values of a String or Decimal128 column, ascending: key i is entry
	// i. WideKey gives the entries of a Decimal128.
	Dictionary []string

	// Ranks are the keys of all codes, ascending, without a dictionary. Default: nil, keys are
	// Base + Unit * code.
	Ranks []uint64
}

// TypeName is the name of the type, such as "string", or "string[]" of a multi-valued column.
func (c *Column) TypeName() string {
	if c.Values != nil {
		return c.Type.String() + listSuffix
	}
	return c.Type.String()
}

// Stored is the column that has the values: Values of a multi-valued column, else c.
func (c *Column) Stored() *Column {
	if c.Values != nil {
		return c.Values
	}
	return c
}

// Vectors is the number of vectors of the column, including the vector of missing values.
func (c *Column) Vectors() int {
	n := c.Encoding.Vectors(len(c.Bins))
	if c.Missing > 0 {
		n++
	}
	return n
}

// UTF8 reports whether all texts of the dictionary are UTF-8.
func (c *Column) UTF8() bool {
	return !slices.ContainsFunc(c.Dictionary, func(text string) bool { return !utf8.ValidString(text) })
}

// MissingVector is the number of the vector of rows without a value, if there is one.
func (c *Column) MissingVector() (v uint32, ok bool) {
	return c.Vector + uint32(c.Encoding.Vectors(len(c.Bins))), c.Missing > 0
}

// BinsOf is the bins whose rows vector v of the column has, counted from Vector on. That
// of missing values has none.
func (c *Column) BinsOf(v int) Run {
	switch c.Encoding {
	case Range:
		return Run{0, v}
	case Interval:
		return Run{v, v + Span(len(c.Bins)) - 1}
	case None:
		return Run{0, len(c.Bins) - 1}
	}
	return Run{v, v}
}

// VectorRows is how many rows each vector of the column has.
func (c *Column) VectorRows() []uint64 {
	before := make([]uint64, 1, len(c.Bins)+1) // rows of the bins before each
	for _, b := range c.Bins {
		before = append(before, before[len(before)-1]+uint64(b.Rows))
	}
	list := make([]uint64, 0, c.Vectors())
	for v := range c.Encoding.Vectors(len(c.Bins)) {
		bins := c.BinsOf(v)
		list = append(list, before[bins.To+1]-before[bins.From])
	}
	if c.Missing > 0 {
		list = append(list, uint64(c.Missing))
	}
	return list
}
