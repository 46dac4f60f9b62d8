package parquet

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"heddle/engine/table/column"
	"heddle/engine/table/read"
)

// columnType converts the values of a column: by key to keys, or by text to texts.
type columnType struct {
	to    column.Type
	scale uint8
	key   func(v *parquet.Value) (key uint64, err error)
	text  func(v *parquet.Value) (text []byte, err error)
	utf8  bool // texts are UTF-8
}

// put appends a value.
func (t *columnType) put(v *read.Values, x *parquet.Value) error {
	switch {
	case x.IsNull():
		v.AppendMissing(t.to)
	case t.text != nil:
		s, err := t.text(x)
		if err != nil {
			return err
		}
		if t.utf8 {
			v.AppendChecked(s)
		} else {
			v.AppendText(s)
		}
	default:
		k, err := t.key(x)
		if err != nil {
			return err
		}
		v.AppendKey(k)
	}
	return nil
}

// exactly is a type whose values all have keys.
func exactly(to column.Type, key func(v *parquet.Value) uint64) columnType {
	return columnType{to: to, key: func(v *parquet.Value) (uint64, error) { return key(v), nil }}
}

// typeOf finds the type of a column. The caller puts the name of the column before the
// text of the error.
func typeOf(c *parquet.Column, e *format.SchemaElement) (of columnType, err error) {
	defer func() {
		if recover() != nil { // the library has no kind of it
			err = errors.New("is of a damaged type")
		}
	}()
	t := c.Type()
	switch e.LogicalType.Value.(type) {
	case *format.NullType:
		return columnType{to: column.String, text: noValue}, nil
	case *format.Float16Type:
		if e.TypeLength.V == 2 {
			return exactly(column.Float32, float16Key), nil
		}
	}
	if e.Type.V != format.Type(t.Kind()) {
		return columnType{}, fmt.Errorf("has the type %v, which values of type %s cannot have", t, named(e.Type.V))
	}
	if old := t.ConvertedType(); old != nil && *old == deprecated.Interval {
		return columnType{}, errors.New("is an INTERVAL: months, days and milliseconds have no order")
	}
	if l := t.LogicalType(); l != nil {
		switch l := l.Value.(type) {
		case *format.DateType:
			return columnType{to: column.Timestamp, key: dateKey}, nil
		case *format.TimestampType:
			return timestampType(l.Unit.Value.Duration()), nil
		case *format.DecimalType:
			return decimalType(t.Kind(), l)
		case *format.StringType, *format.EnumType, *format.JsonType:
			return columnType{to: column.String, text: bytesText, utf8: true}, nil
		case *format.UUIDType:
			return columnType{to: column.String, text: uuidText}, nil
		case *format.IntType:
			if !l.IsSigned && l.BitWidth == 64 {
				return exactly(column.Uint, (*parquet.Value).Uint64), nil
			}
			if !l.IsSigned {
				return exactly(column.Int, func(v *parquet.Value) uint64 { return column.IntKey(int64(v.Uint32())) }), nil
			}
		}
	}
	switch t.Kind() {
	case parquet.Boolean:
		return exactly(column.Bool, boolKey), nil
	case parquet.Int32, parquet.Int64:
		return exactly(column.Int, intKey), nil
	case parquet.Int96:
		return int96Type(column.TimestampNS), nil
	case parquet.Float:
		return exactly(column.Float32, func(v *parquet.Value) uint64 { return column.Float32Key(v.Float()) }), nil
	case parquet.Double:
		return exactly(column.Float, func(v *parquet.Value) uint64 { return column.FloatKey(v.Double()) }), nil
	case parquet.ByteArray, parquet.FixedLenByteArray:
		return columnType{to: column.String, text: bytesText}, nil
	}
	return columnType{}, fmt.Errorf("is of type %v, which is unknown", t)
}

func boolKey(v *parquet.Value) uint64 {
	if v.Boolean() {
		return 1
	}
	return 0
}

func intKey(v *parquet.Value) uint64 {
	if v.Kind() == parquet.Int32 {
		return column.IntKey(int64(v.Int32()))
	}
	return column.IntKey(v.Int64())
}

// noValue is the error for a value of the type NULL, which has none.
func noValue(*parquet.Value) ([]byte, error) { return nil, errors.New("a value of type NULL") }

// element is the description of a leaf in a footer. The types of the library tell neither FLOAT16, nor a type of values
// that a logical type may not have.
func element(f *format.FileMetaData, leaf int) *format.SchemaElement {
	for i := range f.Schema {
		e := &f.Schema[i]
		if e.NumChildren.Valid && e.NumChildren.V > 0 || i == 0 {
			continue
		}
		if leaf == 0 {
			return e
		}
		leaf--
	}
	return new(format.SchemaElement)
}

// float16Key is the key of a float of 16 bits, all of which a Float32 has.
func float16Key(v *parquet.Value) uint64 {
	b := v.ByteArray()
	if len(b) != 2 {
		return column.Float32Key(float32(math.NaN()))
	}
	bits := uint32(b[0]) | uint32(b[1])<<8
	sign, exp, part := bits>>15, int(bits>>10&31), float64(bits&1023)
	var x float64
	switch exp {
	case 0:
		x = math.Ldexp(part, -24)
	case 31:
		if x = math.Inf(1); part > 0 {
			x = math.NaN()
		}
	default:
		x = math.Ldexp(1024+part, exp-25)
	}
	if sign > 0 {
		x = -x
	}
	return column.Float32Key(float32(x))
}

func bytesText(v *parquet.Value) ([]byte, error) { return v.ByteArray(), nil }

// uuidText writes a UUID in lower case, with four hyphens.
func uuidText(v *parquet.Value) ([]byte, error) {
	b := v.ByteArray()
	var text []byte
	for i, x := range b {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			text = append(text, '-')
		}
		text = hex.AppendEncode(text, []byte{x})
	}
	return text, nil
}

// timeRanges are the ends of the types of times.
var timeRanges = map[column.Type]string{column.Timestamp: "timestamps reach from -290308-12-22 to 294247-01-10", column.TimestampNS: "timestamps in nanoseconds reach from 1677-09-21 to 2262-04-11"}

// timeError is the error for a time that 64 bits cannot express.
func timeError(t column.Type, n int64, unit string) error {
	return fmt.Errorf("%d %s since 1970-01-01; %s", n, unit, timeRanges[t])
}

func dateKey(v *parquet.Value) (uint64, error) {
	key, ok := column.DayKey(v.Int32())
	if !ok {
		return 0, timeError(column.Timestamp, int64(v.Int32()), "days")
	}
	return key, nil
}

// timestampType reads counts of a unit since 1970. The counts ±(2^63-1) mean ±Infinity.
func timestampType(unit time.Duration) columnType {
	t := columnType{to: column.Timestamp}
	if unit == time.Nanosecond {
		t.to = column.TimestampNS
	}
	t.key = func(v *parquet.Value) (uint64, error) {
		n := v.Int64()
		switch {
		case n == math.MaxInt64 || n == -math.MaxInt64:
		case n == math.MinInt64 || unit == time.Millisecond && (n > math.MaxInt64/1000 || n < math.MinInt64/1000):
			return 0, timeError(t.to, n, map[time.Duration]string{time.Millisecond: "milliseconds", time.Microsecond: "microseconds", time.Nanosecond: "nanoseconds"}[unit])
		case unit == time.Millisecond:
			n *= 1000
		}
		return column.IntKey(n), nil
	}
	return t
}

// int96Nanos is the nanoseconds of the day of a timestamp of older writers.
func int96Nanos(v *parquet.Value) int64 {
	x := v.Int96()
	return int64(x[0]) | int64(x[1])<<32
}

// int96Type converts the timestamps of older writers: nanoseconds of a Julian day, then
// the day. Parts of a microsecond in a Timestamp are an error.
func int96Type(to column.Type) columnType {
	const epoch = 2440588 // 1970-01-01
	unit := int64(1)      // in nanoseconds
	if to == column.Timestamp {
		unit = 1000
	}
	perDay := int64(24*time.Hour) / unit
	last := math.MaxInt64/perDay - 1
	return columnType{to: to, key: func(v *parquet.Value) (uint64, error) {
		nanos, day := int96Nanos(v), int64(int32(v.Int96()[2]))-epoch
		if day > last || day < -last || nanos < 0 || nanos > int64(24*time.Hour) || nanos%unit != 0 {
			return 0, timeError(to, day, fmt.Sprintf("days and %d nanoseconds", nanos))
		}
		return column.IntKey(day*perDay + nanos/unit), nil
	}}
}

// narrower is the type for a column whose values all fit fewer bits or a wider range: a
// Decimal for a Decimal128, a Timestamp for an INT96 in nanoseconds.
func (t columnType) narrower() columnType {
	switch t.to {
	case column.Decimal128:
		t.to, t.text = column.Decimal, nil
	case column.TimestampNS:
		return int96Type(column.Timestamp)
	}
	return t
}

// decimalType reads decimals exactly: of up to 18 digits as Decimal, of more as Decimal128.
func decimalType(kind parquet.Kind, l *format.DecimalType) (columnType, error) {
	if l.Scale < 0 || l.Scale > l.Precision || l.Precision > column.MaxScale {
		return columnType{}, fmt.Errorf("is a DECIMAL(%d,%d); at most %d digits are possible", l.Precision, l.Scale, column.MaxScale)
	}
	t := columnType{to: column.Decimal, scale: uint8(l.Scale), key: decimalKey(int(l.Precision))}
	switch {
	case l.Precision > column.MaxDecimalDigits && kind != parquet.Int32 && kind != parquet.Int64:
		t.to, t.text = column.Decimal128, wideText
	case l.Scale == 0:
		t.to = column.Int
	}
	return t, nil
}

// decimalKey returns the key function of decimals of the given number of digits.
func decimalKey(digits int) func(*parquet.Value) (uint64, error) {
	most := int64(math.MaxInt64)
	if digits <= column.MaxDecimalDigits {
		most = int64(math.Pow10(digits)) - 1
	}
	return func(v *parquet.Value) (uint64, error) {
		var n int64
		ok := true
		switch v.Kind() {
		case parquet.Int32:
			n = int64(v.Int32())
		case parquet.Int64:
			n = v.Int64()
		default:
			n, ok = signed64(v.ByteArray())
		}
		if !ok {
			return 0, errors.New("a decimal with more digits than its column or the statistics of its row group allow")
		}
		if n > most || n < -most && most < math.MaxInt64 {
			return 0, fmt.Errorf("a decimal with the digits %d; its column allows %d digits", n, digits)
		}
		return column.IntKey(n), nil
	}
}

// wideText gives the dictionary entry of a decimal of up to 38 digits: writers give more digits than they declare.
func wideText(v *parquet.Value) ([]byte, error) {
	b, ok := resize(v.ByteArray(), column.WideSize)
	if !ok {
		return nil, column.ErrWide
	}
	b[0] ^= 1 << 7
	if bytes.Compare(b, wideAbove[:]) >= 0 || bytes.Compare(b, wideBelow[:]) <= 0 {
		return nil, fmt.Errorf("a decimal with the digits %v; %d digits are possible", column.KeyWide(string(b)), column.MaxScale)
	}
	return b, nil
}

// wideBelow and wideAbove are the dictionary entries next to decimals of 38 digits.
var (
	wideLimit    = new(big.Int).Exp(big.NewInt(10), big.NewInt(column.MaxScale), nil)
	wideAbove, _ = column.WideKey(wideLimit)
	wideBelow, _ = column.WideKey(new(big.Int).Neg(wideLimit))
)

// signed64 reads an integer in two's complement, its highest byte first.
func signed64(b []byte) (n int64, ok bool) {
	b, ok = resize(b, 8)
	for _, x := range b {
		n = n<<8 | int64(x)
	}
	return n, ok
}

// resize copies an integer in two's complement, its highest byte first, to size bytes. ok
// is false if it needs more.
func resize(b []byte, size int) (out []byte, ok bool) {
	var sign byte
	if len(b) > 0 && b[0]&0x80 != 0 {
		sign = 0xff
	}
	for len(b) > size {
		if b[0] != sign {
			return nil, false
		}
		b = b[1:]
	}
	out = append(slices.Repeat([]byte{sign}, size-len(b)), b...)
	return out, (out[0]^sign)&0x80 == 0
}

// narrow reports whether the statistics of all row groups promise that the decimals of a
// column fit 64 bits.
func narrow(f *format.FileMetaData, leaf int) bool {
	for i := range f.RowGroups {
		if leaf >= len(f.RowGroups[i].Columns) {
			return false // the reader of the row group reports it
		}
		m := &f.RowGroups[i].Columns[leaf].MetaData
		if m.Statistics.NullCount == m.NumValues {
			continue
		}
		_, least := signed64(m.Statistics.MinValue)
		_, greatest := signed64(m.Statistics.MaxValue)
		if !least || !greatest || len(m.Statistics.MinValue) == 0 || len(m.Statistics.MaxValue) == 0 {
			return false
		}
	}
	return true
}
