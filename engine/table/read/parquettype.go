package read

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"heddle/engine/table/column"
)

// parquetType converts the values of a column: by key to keys, or by text to texts.
type parquetType struct {
	to    column.Type
	scale uint8
	key   func(v *parquet.Value) (key uint64, err error)
	text  func(v *parquet.Value) (text []byte, err error)
}

// put appends a value.
func (t *parquetType) put(v *Values, x *parquet.Value) error {
	switch {
	case x.IsNull():
		v.missing(t.to)
	case t.text != nil:
		s, err := t.text(x)
		if err != nil {
			return err
		}
		v.text(s)
	default:
		k, err := t.key(x)
		if err != nil {
			return err
		}
		v.key(k)
	}
	return nil
}

// exactly is a type whose values all have keys.
func exactly(to column.Type, key func(v *parquet.Value) uint64) parquetType {
	return parquetType{to: to, key: func(v *parquet.Value) (uint64, error) { return key(v), nil }}
}

// typeOf finds the type of a column. The caller puts the name of the column before the
// text of the error.
func typeOf(c *parquet.Column) (parquetType, error) {
	if !c.Leaf() || c.Repeated() {
		return parquetType{}, errors.New("is nested; tables have flat columns")
	}
	t := c.Type()
	if old := t.ConvertedType(); old != nil && *old == deprecated.Interval {
		return parquetType{}, errors.New("is an INTERVAL: months, days and milliseconds have no order")
	}
	if l := t.LogicalType(); l != nil {
		switch l := l.Value.(type) {
		case *format.DateType:
			return parquetType{to: column.Timestamp, key: dateKey}, nil
		case *format.TimestampType:
			return timestampType(l.Unit.Value.Duration()), nil
		case *format.DecimalType:
			return decimalType(t.Kind(), l)
		case *format.UUIDType:
			return parquetType{to: column.String, text: uuidText}, nil
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
		return parquetType{to: column.Timestamp, key: int96Key}, nil
	case parquet.Float:
		return exactly(column.Float32, func(v *parquet.Value) uint64 { return column.Float32Key(v.Float()) }), nil
	case parquet.Double:
		return exactly(column.Float, func(v *parquet.Value) uint64 { return column.FloatKey(v.Double()) }), nil
	case parquet.ByteArray, parquet.FixedLenByteArray:
		return parquetType{to: column.String, text: func(v *parquet.Value) ([]byte, error) { return v.ByteArray(), nil }}, nil
	}
	return parquetType{}, fmt.Errorf("is of type %v, which is unknown", t)
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

// timeError is the error for a time that microseconds in 64 bits cannot express.
func timeError(n int64, unit string) error {
	return fmt.Errorf("%d %s since 1970-01-01; timestamps reach from -290308-12-22 to 294247-01-10", n, unit)
}

func dateKey(v *parquet.Value) (uint64, error) {
	key, ok := column.DayKey(v.Int32())
	if !ok {
		return 0, timeError(int64(v.Int32()), "days")
	}
	return key, nil
}

// timestampType reads counts of a unit since 1970. Parts of a microsecond are cut off,
// towards the past. The counts ±(2^63-1) mean ±Infinity.
func timestampType(unit time.Duration) parquetType {
	return parquetType{to: column.Timestamp, key: func(v *parquet.Value) (uint64, error) {
		n := v.Int64()
		switch {
		case n == math.MaxInt64 || n == -math.MaxInt64:
		case unit == time.Nanosecond:
			n = floorDiv(n, 1000)
		case unit == time.Millisecond && (n > math.MaxInt64/1000 || n < math.MinInt64/1000):
			return 0, timeError(n, "milliseconds")
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
	const dayMicros = int64(24 * 3600 * 1e6)
	const last = math.MaxInt64/dayMicros - 1
	x := v.Int96()
	nanos := int64(x[0]) | int64(x[1])<<32
	day := int64(int32(x[2])) - epoch
	if day > last || day < -last || nanos < 0 || nanos > 1000*dayMicros {
		return 0, timeError(day, fmt.Sprintf("days and %d nanoseconds", nanos))
	}
	return column.IntKey(day*dayMicros + nanos/1000), nil
}

// decimalType reads decimals exactly: of up to 18 digits as Decimal, of more as Decimal128.
func decimalType(kind parquet.Kind, l *format.DecimalType) (parquetType, error) {
	if l.Scale < 0 || l.Scale > l.Precision || l.Precision > column.MaxScale {
		return parquetType{}, fmt.Errorf("is a DECIMAL(%d,%d); at most %d digits are possible", l.Precision, l.Scale, column.MaxScale)
	}
	t := parquetType{to: column.Decimal, scale: uint8(l.Scale), key: decimalKey}
	switch {
	case l.Precision > column.MaxDecimalDigits && kind != parquet.Int32 && kind != parquet.Int64:
		t.to, t.text = column.Decimal128, wideText
	case l.Scale == 0:
		t.to = column.Int
	}
	return t, nil
}

// decimalKey is the key of a Decimal.
func decimalKey(v *parquet.Value) (uint64, error) {
	if kind := v.Kind(); kind == parquet.Int32 || kind == parquet.Int64 {
		return intKey(v), nil
	}
	n, ok := signed64(v.ByteArray())
	if !ok {
		return 0, errors.New("a decimal with more digits than its column or the statistics of its row group allow")
	}
	return column.IntKey(n), nil
}

// wideText is the dictionary entry of a Decimal128.
func wideText(v *parquet.Value) ([]byte, error) {
	b, ok := resize(v.ByteArray(), column.WideSize)
	if !ok {
		return nil, column.ErrWide
	}
	b[0] ^= 1 << 7
	return b, nil
}

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
