package read

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"heddle/engine/table/column"
)

// parquetType converts the values of a column to keys; a nil key reads them as strings.
type parquetType struct {
	to  column.Type
	key func(v *parquet.Value) (key uint64, err error)
}

// errMissing is the error of a key function for a missing value: NaN.
var errMissing = errors.New("no value")

// put appends a value.
func (t *parquetType) put(v *Values, x *parquet.Value) error {
	switch {
	case x.IsNull():
		v.missing(t.to)
		return nil
	case t.key == nil:
		v.text(x.ByteArray())
		return nil
	}
	k, err := t.key(x)
	switch err {
	case nil:
		v.key(k)
	case errMissing:
		v.missing(t.to)
	default:
		return err
	}
	return nil
}

// typeOf finds the type of a column. The caller puts the name of the column before the
// text of the error.
func typeOf(c *parquet.Column) (parquetType, error) {
	if !c.Leaf() || c.Repeated() {
		return parquetType{}, errors.New("is nested; tables have flat columns")
	}
	t := c.Type()
	if l := t.LogicalType(); l != nil {
		switch l := l.Value.(type) {
		case *format.DateType:
			return parquetType{column.Timestamp, dateKey}, nil
		case *format.TimestampType:
			return timestampType(l.Unit.Value.Duration()), nil
		case *format.DecimalType:
			return decimalType(t.Kind(), l.Scale), nil
		case *format.IntType:
			if !l.IsSigned {
				return parquetType{column.Int, unsignedKey(l.BitWidth)}, nil
			}
		}
	}
	switch t.Kind() {
	case parquet.Boolean:
		return parquetType{column.Bool, boolKey}, nil
	case parquet.Int32:
		return parquetType{column.Int, func(v *parquet.Value) (uint64, error) { return column.IntKey(int64(v.Int32())), nil }}, nil
	case parquet.Int64:
		return parquetType{column.Int, func(v *parquet.Value) (uint64, error) { return column.IntKey(v.Int64()), nil }}, nil
	case parquet.Int96:
		return parquetType{column.Timestamp, int96Key}, nil
	case parquet.Float:
		return parquetType{column.Float, func(v *parquet.Value) (uint64, error) { return floatKey(float64(v.Float())) }}, nil
	case parquet.Double:
		return parquetType{column.Float, func(v *parquet.Value) (uint64, error) { return floatKey(v.Double()) }}, nil
	case parquet.ByteArray, parquet.FixedLenByteArray:
		return parquetType{to: column.String}, nil
	}
	return parquetType{}, fmt.Errorf("is of type %v, which is unknown", t)
}

func floatKey(v float64) (uint64, error) {
	if v != v {
		return 0, errMissing
	}
	return column.FloatKey(v), nil
}

func boolKey(v *parquet.Value) (uint64, error) {
	if v.Boolean() {
		return 1, nil
	}
	return 0, nil
}

func unsignedKey(bits int8) func(v *parquet.Value) (uint64, error) {
	if bits <= 32 {
		return func(v *parquet.Value) (uint64, error) { return column.IntKey(int64(v.Uint32())), nil }
	}
	return func(v *parquet.Value) (uint64, error) {
		if u := v.Uint64(); u > math.MaxInt64 {
			return 0, fmt.Errorf("%d, which is above %d, the greatest integer of a table", u, int64(math.MaxInt64))
		}
		return column.IntKey(v.Int64()), nil
	}
}

const dayMicros = 24 * 3600 * 1e6

func dateKey(v *parquet.Value) (uint64, error) {
	return column.IntKey(int64(v.Int32()) * dayMicros), nil
}

// timestampType reads counts of a unit since 1970. Parts of a microsecond are cut off,
// towards the past.
func timestampType(unit time.Duration) parquetType {
	return parquetType{column.Timestamp, func(v *parquet.Value) (uint64, error) {
		n := v.Int64()
		switch {
		case unit == time.Nanosecond:
			return column.IntKey(floorDiv(n, 1000)), nil
		case unit == time.Millisecond && (n > math.MaxInt64/1000 || n < math.MinInt64/1000):
			return 0, fmt.Errorf("%d ms since 1970, which microseconds in 64 bits cannot say", n)
		case unit == time.Millisecond:
			n *= 1000
		}
		return column.IntKey(n), nil
	}}
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// int96Key converts the timestamps of older writers: nanoseconds of a Julian day, then
// the day.
func int96Key(v *parquet.Value) (uint64, error) {
	const epoch = 2440588 // 1970-01-01
	x := v.Int96()
	nanos := int64(x[0]) | int64(x[1])<<32
	day := int64(int32(x[2])) - epoch
	return column.IntKey(day*dayMicros + floorDiv(nanos, 1000)), nil
}

// decimalType reads numbers with so many digits behind the point.
func decimalType(kind parquet.Kind, scale int32) parquetType {
	small := kind == parquet.Int32 || kind == parquet.Int64
	if scale == 0 && small {
		return parquetType{column.Int, func(v *parquet.Value) (uint64, error) {
			if kind == parquet.Int32 {
				return column.IntKey(int64(v.Int32())), nil
			}
			return column.IntKey(v.Int64()), nil
		}}
	}
	exponent := "e" + strconv.Itoa(-int(scale))
	return parquetType{column.Float, func(v *parquet.Value) (uint64, error) {
		var digits string
		switch kind {
		case parquet.Int32:
			digits = strconv.FormatInt(int64(v.Int32()), 10)
		case parquet.Int64:
			digits = strconv.FormatInt(v.Int64(), 10)
		default:
			digits = signed(v.ByteArray()).String()
		}
		f, err := strconv.ParseFloat(digits+exponent, 64)
		if err != nil {
			return 0, err
		}
		return column.FloatKey(f), nil
	}}
}

// signed reads an integer in two's complement, its highest byte first.
func signed(b []byte) *big.Int {
	v := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0]&0x80 != 0 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return v
}
