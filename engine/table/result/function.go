package result

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"math/bits"
	"strings"

	"heddle/engine/plan"
	"heddle/engine/table/column"
	"heddle/engine/table/exact"
	"heddle/engine/table/group"
	"heddle/engine/table/statement"
	"heddle/engine/table/values"
)

// ErrOverflow is the error of a sum that no value can hold.
var ErrOverflow = errors.New("overflow")

// measure is the measure of an aggregate of a column.
func measure(f statement.Function, c *column.Column) (m plan.Measure, err error) {
	switch f {
	case statement.Count:
		m.Kind = plan.MeasureCount
	case statement.Min:
		m.Kind = plan.MeasureLeast
	case statement.Max:
		m.Kind = plan.MeasureGreatest
	case statement.CountDistinct, statement.Quantile:
		m.Kind = plan.MeasureCodes
	default:
		return sum(c)
	}
	return m, nil
}

// sum is the measure of a sum or mean of a column.
func sum(c *column.Column) (m plan.Measure, err error) {
	m.Base, m.Unit, m.Scale = c.Key(0), c.Unit, c.Scale
	switch {
	case c.Type == column.String || c.Type.IsTime():
		err = fmt.Errorf("column %q is of type %s: sum and avg are for numbers and booleans", c.Name, c.Type)
	case c.Type == column.Float:
		m.Kind, m.Keys = plan.MeasureFloats, c.Ranks
	case c.Type == column.Float32:
		m.Kind, m.Keys = plan.MeasureFloats32, c.Ranks
	case c.Type == column.Decimal128:
		m.Weights = make([]plan.Weight, len(c.Dictionary))
		for i, key := range c.Dictionary {
			m.Weights[i] = plan.Weight{High: binary.BigEndian.Uint64([]byte(key[:8])), Low: binary.BigEndian.Uint64([]byte(key[8:]))}
		}
		fallthrough
	default:
		m.Kind = plan.MeasureSum
		for _, key := range c.Ranks {
			m.Weights = append(m.Weights, plan.Weight{Low: key - m.Base})
		}
	}
	return m, err
}

// zero is the value that has weight 0 in sums of a column, in two's complement: keys of signed numbers
// begin at the least number.
func zero(c *column.Column) (high, low uint64) {
	switch c.Type {
	case column.Uint, column.Bool:
		return 0, c.Key(0)
	case column.Decimal128:
		return 1 << 63, 0
	}
	v := column.KeyInt(c.Key(0))
	return uint64(v >> 63), uint64(v)
}

// column computes an output of all groups.
func (o *output) column(g Groups) (values.Column, error) {
	c := values.Column{Codes: make([]uint64, g.Len())}
	if o.of != nil {
		c.Column = *o.of.Stored() // the elements of a multi-valued column
	}
	c.Name = o.name
	var err error
	switch o.Function {
	case statement.Bins:
		c.Column, c.Ordered = column.Column{Type: column.String, Dictionary: labels(o.of.Stored(), o.Term)}, true
		c.Name = o.name
		o.groups(g, &c)
	case statement.Column:
		o.groups(g, &c)
	case statement.Rows, statement.Count, statement.CountDistinct:
		o.counts(g, &c)
	case statement.Min, statement.Max:
		for i := range c.Codes {
			if g.Count(o.measure, i) > 0 {
				c.Codes[i] = g.Extreme(o.measure, i)
			}
		}
		o.absent(g, &c)
	case statement.Quantile:
		err = o.quantiles(g, &c)
		o.absent(g, &c)
	case statement.Avg:
		o.means(g, &c)
		o.absent(g, &c)
	case statement.Sum:
		err = o.sums(g, &c)
		o.absent(g, &c)
	}
	return c, err
}

// absent marks groups without a value as missing.
func (o *output) absent(g Groups, c *values.Column) {
	for i := range c.Codes {
		if g.Count(o.measure, i) == 0 {
			c.SetNull(i)
		}
	}
}

func (o *output) groups(g Groups, c *values.Column) {
	for i := range c.Codes {
		code, ok := g.Code(o.grouping, i)
		if c.Codes[i] = code; !ok {
			c.SetNull(i)
		}
	}
}

func (o *output) counts(g Groups, c *values.Column) {
	c.Column = column.Column{Name: o.name, Type: column.Uint}
	var distinct [][]group.Frequency
	if o.Function == statement.CountDistinct {
		distinct = g.Codes(o.measure)
	}
	for i := range c.Codes {
		switch o.Function {
		case statement.Rows:
			c.Codes[i] = g.Rows(i)
		case statement.Count:
			c.Codes[i] = g.Count(o.measure, i)
		default:
			c.Codes[i] = uint64(len(distinct[i]))
		}
	}
}

func (o *output) quantiles(g Groups, c *values.Column) (err error) {
	if f, ok := g.(found); ok && f.finders[o.measure] != nil {
		if n := g.Count(o.measure, 0); n > 0 {
			c.Codes[0], err = f.finders[o.measure].At(rank(o.fraction, n))
		}
		return err
	}
	for i, codes := range g.Codes(o.measure) {
		if n := g.Count(o.measure, i); n > 0 {
			place := rank(o.fraction, n)
			for _, f := range codes {
				if c.Codes[i] = f.Code; place < f.Rows {
					break
				}
				place -= f.Rows
			}
		}
	}
	return nil
}

// rank is the place of the quantile q among n values, from 0.
func rank(q *big.Rat, n uint64) uint64 {
	product := new(big.Int).Mul(q.Num(), new(big.Int).SetUint64(n))
	product.Add(product, q.Denom())
	product.Sub(product, big.NewInt(1))
	return max(product.Div(product, q.Denom()).Uint64(), 1) - 1
}

// exactSum is the sum of an integer or decimal column in group i, without its scale.
func (o *output) exactSum(g Groups, i int) exact.Integer {
	sum := g.Sum(o.measure, i).Times(o.of.Stored().Unit)
	high, low := zero(o.of.Stored())
	sum.AddTimes(g.Count(o.measure, i), high, low)
	return sum
}

func isFloat(c *column.Column) bool { return c.Type == column.Float || c.Type == column.Float32 }

func (o *output) means(g Groups, c *values.Column) {
	c.Column = column.Column{Name: o.name, Type: column.Float}
	var sum exact.Float
	of := o.of.Stored()
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(of.Scale)), nil)
	for i := range c.Codes {
		n := g.Count(o.measure, i)
		switch {
		case n == 0:
		case isFloat(of):
			g.Floats(o.measure, i, &sum)
			c.Codes[i] = column.FloatKey(sum.Mean(n))
		default:
			c.Codes[i] = column.FloatKey(quotient(o.exactSum(g, i), n, unit))
		}
	}
}

// quotient is the float64 nearest to sum / (n · unit).
func quotient(sum exact.Integer, n uint64, unit *big.Int) float64 {
	const most = 1 << 53 // float64 has all integers up to it
	if high, low, ok := sum.Wide(); ok && high+low>>63 == 0 && -most <= int64(low) && int64(low) <= most && unit.IsUint64() {
		if above, by := bits.Mul64(n, unit.Uint64()); above == 0 && by <= most {
			return float64(int64(low)) / float64(by)
		}
	}
	by := new(big.Int).SetUint64(n)
	v, _ := new(big.Rat).SetFrac(sum.Big(), by.Mul(by, unit)).Float64()
	return v
}

func (o *output) sums(g Groups, c *values.Column) error {
	c.Column = column.Column{Name: o.name, Type: column.Decimal128, Scale: o.of.Stored().Scale}
	if isFloat(o.of.Stored()) {
		c.Type, c.Scale = column.Float, 0
		var sum exact.Float
		for i := range c.Codes {
			g.Floats(o.measure, i, &sum)
			c.Codes[i] = column.FloatKey(sum.Sum())
		}
		return nil
	}
	var keys strings.Builder // one text of all entries
	keys.Grow(column.WideSize * len(c.Codes))
	var key [column.WideSize]byte
	for i := range c.Codes {
		sum := o.exactSum(g, i)
		high, low, ok := sum.Wide()
		if !ok || tooLong(high, low) {
			return fmt.Errorf("%s of column %q: %w: the sum has more than %d digits", o.Term, o.of.Name, ErrOverflow, column.MaxScale)
		}
		c.Codes[i] = uint64(i)
		keys.Write(column.AppendWideKey(key[:0], high, low))
	}
	c.Dictionary = make([]string, len(c.Codes))
	for i := range c.Dictionary {
		c.Dictionary[i] = keys.String()[i*column.WideSize:][:column.WideSize]
	}
	return nil
}

// tooLong tells whether an integer in two's complement has more digits than a Decimal128.
func tooLong(high, low uint64) bool {
	const limitHigh, limitLow = 0x4b3b4ca85a86c47a, 0x098a224000000000 // 10^38
	if high>>63 != 0 {                                                 // x becomes -x
		var borrow uint64
		low, borrow = bits.Sub64(0, low, 0)
		high, _ = bits.Sub64(0, high, borrow)
	}
	return high > limitHigh || high == limitHigh && low >= limitLow
}
