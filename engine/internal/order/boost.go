package order

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"strconv"

	"heddle/engine/internal/query"
	"heddle/engine/syntax"
	"heddle/engine/table/column"
)

// Boost is a function of an attribute that is added to scores: 0 up to From, Weight from To on, and linear between
// them. It falls with the attribute if To is below From. A document without a value gets 0.
//
// The function is computed in integers: its position between From and To in steps of 2^-32, rounded down, times
// Weight in units of the scores, rounded. So each part and each processor gives a document the same score.
type Boost struct {
	Column   string
	From, To string // values of the column, as predicates write them, without quotes
	Weight   float64
}

// Validate checks the boost as far as it does not depend on the column.
func (b *Boost) Validate() error {
	switch {
	case b.Column == "" || b.From == "" || b.To == "":
		return query.Option(fmt.Errorf("boost of column %s from %s to %s: want a column and two values", syntax.Quote(b.Column), syntax.Quote(b.From), syntax.Quote(b.To)))
	case !(b.Weight > 0) || math.IsInf(b.Weight, 0):
		return query.Option(fmt.Errorf("boost: the weight is %v, want a positive number; to below from prefers low values", b.Weight))
	}
	return nil
}

// stepBits is the number of bits of a position between From and To.
const stepBits = 32

// slope gives the position of a value of a column between From and To, 0 to 1<<stepBits.
type slope func(of *values, i int) uint64

// slope returns the positions in a column.
func (b *Boost) slope(c *column.Column) (slope, error) {
	switch c.Type {
	case column.String, column.Bool, column.Decimal128:
		return nil, query.Option(fmt.Errorf("boost: column %s is of type %s: want a number of at most 64 bits or a time", syntax.Quote(c.Name), c.TypeName()))
	case column.Float, column.Float32:
		from, wrong := strconv.ParseFloat(b.From, 64)
		to, err := strconv.ParseFloat(b.To, 64)
		if span := to - from; wrong != nil || err != nil || !(math.Abs(span) > 0) || math.IsInf(span, 0) {
			return nil, query.Option(fmt.Errorf("boost: from is %s and to is %s: want two numbers with a finite distance", syntax.Quote(b.From), syntax.Quote(b.To)))
		}
		return func(of *values, i int) uint64 { return between(of.Float(of.Codes[i]), from, to) }, nil
	}
	from, wrong := c.Parse(b.From)
	to, err := c.Parse(b.To)
	switch err = cmp.Or(wrong, err); {
	case err != nil:
		return nil, query.Option(fmt.Errorf("boost: %w", err))
	case from == to:
		return nil, query.Option(fmt.Errorf("boost: from and to are both %s: want two values", syntax.Quote(b.From)))
	}
	return func(of *values, i int) uint64 { return betweenKeys(of.key(i), from, to) }, nil
}

// between returns the position of x, in floating-point operations that all processors round alike.
func between(x, from, to float64) uint64 {
	switch t := (x - from) / (to - from); {
	case t >= 1:
		return 1 << stepBits
	case t > 0:
		return uint64(t * (1 << stepBits)) // a product with a power of two is exact
	}
	return 0
}

// betweenKeys returns the position of a key whose distances are the distances of the values.
func betweenKeys(key, from, to uint64) uint64 {
	low, high := min(from, to), max(from, to)
	d := min(max(key, low), high) - low
	if to < from {
		d = high - low - d
	}
	if d == high-low {
		return 1 << stepBits
	}
	q, _ := bits.Div64(d>>(64-stepBits), d<<stepBits, high-low)
	return q
}

// mostUnits bounds the weight in units of the scores: sums stay exact in a float64.
const mostUnits = 1 << 52

// add adds the boost of documents to their scores, which are multiples of unit. It returns the sum of a score and the greatest boost.
func (b *Boost) add(scores []float64, unit float64, of *values, most float64) (float64, error) {
	s, err := b.slope(&of.Column.Column)
	if err != nil {
		return 0, err
	}
	weight := math.Round(b.Weight / unit)
	if !(weight <= mostUnits) {
		return 0, query.Option(fmt.Errorf("boost: the weight %v is more than 2^52 units of the scores of this query, %v", b.Weight, unit))
	}
	for i := range scores {
		if of.Null(i) {
			continue
		}
		hi, lo := bits.Mul64(uint64(weight), s(of, i))
		lo, carry := bits.Add64(lo, 1<<(stepBits-1), 0)
		more := (hi+carry)<<(64-stepBits) | lo>>stepBits
		scores[i] = (math.Round(scores[i]/unit) + float64(more)) * unit
	}
	return (math.Round(most/unit) + weight) * unit, nil
}
