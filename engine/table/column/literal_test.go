package column

import (
	"cmp"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"heddle/engine/plan"
)

// ofKeys makes a column of one bin from a key to another.
func ofKeys(t Type, lo, hi uint64) *Column {
	return &Column{Name: "c", Type: t, Base: lo, Bins: []Bin{{Lo: 0, Hi: hi - lo, Rows: 1}}}
}

// holds evaluates op for two values of the given order.
func holds(op Op, order int) bool {
	return []bool{order == 0, order != 0, order < 0, order <= 0, order > 0, order >= 0}[op]
}

func has(r []plan.CodeRange, code uint64) bool {
	for _, x := range r {
		if x.Lo <= code && code <= x.Hi {
			return true
		}
	}
	return false
}

// compareAll compares literals with keys, under every operator, in columns that begin
// and end at all keys.
func compareAll(t rapid.TB, typ Type, keys []uint64, l Literal, order func(key uint64) int) {
	for i, lo := range keys {
		for _, hi := range keys[i:] {
			c := ofKeys(typ, lo, hi)
			for op := Eq; op <= Ge; op++ {
				r, err := c.Compare(op, l)
				if err != nil {
					t.Fatal(err)
				}
				for k, x := range r {
					if x.Lo > x.Hi || x.Hi > hi-lo || k > 0 && x.Lo <= r[k-1].Hi {
						t.Fatalf("%v %s: ranges %v of %d codes", op, l.Text, r, hi-lo+1)
					}
				}
				for _, key := range keys {
					if lo <= key && key <= hi && has(r, key-lo) != holds(op, order(key)) {
						t.Fatalf("%s %v %s: %v", c.Format(key-lo), op, l.Text, !holds(op, order(key)))
					}
				}
			}
		}
	}
}

// TestCompareInt compares exactly, at the ends of int64 too.
func TestCompareInt(t *testing.T) {
	var keys []uint64
	for _, v := range []int64{math.MinInt64, math.MinInt64 + 1, -100, -60, -59, -1, 0, 1, 59, 60, 100, 1000, math.MaxInt64 - 1, math.MaxInt64} {
		keys = append(keys, IntKey(v))
	}
	for _, text := range []string{
		"0", "-0", "+0", "0.0", "0e99", "00", "1", "+1", "-1", "01", "59", "59.5", "-59.5", "-59.", ".5", "-.5", "0.999", "-0.999", "1e-9", "-1e-9",
		"1e3", "1E+3", "1000e-3", "10e-1", "0.0001e4", "6e1", "-6e+1", "599e-1", "60.000", "1e2", "123456789e-7",
		"9223372036854775806", "9223372036854775806.5", "9223372036854775807", "9223372036854775807.5", "9223372036854775808",
		"-9223372036854775807.5", "-9223372036854775808", "-9223372036854775808.5", "-9223372036854775809", "-9223372036854775808.0",
		"9999999999999999999", "18446744073709551616", "99999999999999999999", "-99999999999999999999", "1e19", "1e20", "-1e300", "9.3e18",
		"1" + strings.Repeat("0", 300) + "e-300",
	} {
		v, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatal(text)
		}
		compareAll(t, Int, keys, Literal{Number, text}, func(key uint64) int {
			return new(big.Rat).SetInt64(KeyInt(key)).Cmp(v)
		})
	}
	for text, sign := range map[string]int{"1e99999999999999999999": 1, "-1e99999999999999999999": -1, "1e9223372036854775807": 1} {
		compareAll(t, Int, keys, Literal{Number, text}, func(uint64) int { return -sign })
	}
	compareAll(t, Int, keys, Literal{Number, "1e-99999999999999999999"}, func(key uint64) int {
		return cmp.Or(cmp.Compare(KeyInt(key), 0), -1)
	})
}

// TestCompareIntRandom does the same with random literals.
func TestCompareIntRandom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[+-]?([0-9]{1,20}(\.[0-9]{0,5})?|\.[0-9]{1,5})([eE][+-]?[0-9]{1,2})?`).Draw(t, "literal")
		v, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatal(text)
		}
		var keys []uint64
		near := new(big.Int).Div(v.Num(), v.Denom())
		if near.IsInt64() {
			for d := int64(-1); d <= 1; d++ {
				if k := near.Int64(); k+d > k == (d > 0) {
					keys = append(keys, IntKey(k+d))
				}
			}
		} else {
			keys = []uint64{0, math.MaxUint64}
		}
		compareAll(t, Int, keys, Literal{Number, text}, func(key uint64) int {
			return new(big.Rat).SetInt64(KeyInt(key)).Cmp(v)
		})
	})
}

func TestCompareFloat(t *testing.T) {
	var keys []uint64
	values := []float64{math.Inf(-1), -math.MaxFloat64, -1.5, -math.SmallestNonzeroFloat64, 0, math.SmallestNonzeroFloat64, 0.1, 1, 1e300, math.MaxFloat64, math.Inf(1)}
	for i, v := range values {
		keys = append(keys, FloatKey(v))
		if i > 0 && keys[i] <= keys[i-1] {
			t.Fatalf("the key of %g is not above that of %g", v, values[i-1])
		}
		if got := KeyFloat(keys[i]); got != v || FloatKey(math.Copysign(0, -1)) != FloatKey(0) {
			t.Fatalf("%g becomes %g", v, got)
		}
	}
	for _, text := range []string{"0", "-0", "-0.0", "0.1", "0.10000000000000001", "1", "1e300", "-1.5", "-15e-1", "5e-324", "2", "-2", "1.7976931348623157e308"} {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		compareAll(t, Float, keys, Literal{Number, text}, func(key uint64) int { return cmp.Compare(KeyFloat(key), v) })
	}
	for text, v := range map[string]float64{"inf": math.Inf(1), "+Inf": math.Inf(1), "-INF": math.Inf(-1)} {
		compareAll(t, Float, keys, Literal{Text, text}, func(key uint64) int { return cmp.Compare(KeyFloat(key), v) })
	}
	// Greater than all doubles but infinity.
	for text, sign := range map[string]int{"1e309": 1, "-1e400": -1} {
		compareAll(t, Float, keys, Literal{Number, text}, func(key uint64) int {
			if v := KeyFloat(key); math.IsInf(v, sign) {
				return sign
			}
			return -sign
		})
	}
}

func TestCompareOthers(t *testing.T) {
	dictionary := []string{"", "AA", "a", "aa", "b", "\xff"}
	keys := []uint64{0, 1, 2, 3, 4, 5}
	for _, text := range append([]string{"A", "Z", "aaa", "\x00", "\xff\xff", "b "}, dictionary...) {
		for _, lo := range keys {
			c := ofKeys(String, lo, 5)
			c.Dictionary = dictionary
			for op := Eq; op <= Ge; op++ {
				r, err := c.Compare(op, Literal{Text, text})
				if err != nil {
					t.Fatal(err)
				}
				for _, k := range keys[lo:] {
					if has(r, k-lo) != holds(op, cmp.Compare(dictionary[k], text)) || c.Format(k-lo) != dictionary[k] {
						t.Errorf("%q %v %q: ranges %v from key %d on", dictionary[k], op, text, r, lo)
					}
				}
			}
		}
	}
	for text, v := range map[string]uint64{"false": 0, "true": 1} {
		compareAll(t, Bool, []uint64{0, 1}, Literal{Boolean, text}, func(key uint64) int { return cmp.Compare(key, v) })
	}
	times := []uint64{IntKey(math.MinInt64), IntKey(-1), IntKey(0), IntKey(500000), IntKey(86400e6), IntKey(math.MaxInt64)}
	for text, micros := range map[string]float64{
		"1970-01-01": 0, "1970-01-01T00:00:00.5Z": 5e5, "1970-01-02 00:00:00": 86400e6, "1970-01-02T01:00:00+01:00": 86400e6,
		"infinity": math.MaxInt64, "Infinity": math.MaxInt64, "5000000-01-01": math.MaxInt64 - 1e4, "-5000000-01-01": math.MinInt64 + 1e4,
		"@0": 0, "@-0.000001": -1, "@0.5": 5e5, "@864e2": 86400e6, "@0.0000005": 0.5, "@1e300": 1e300, "@-1e300": -1e300,
	} {
		compareAll(t, Timestamp, times, Literal{Text, text}, func(key uint64) int { return cmp.Compare(float64(KeyInt(key)), micros) })
	}
	for text, tenths := range map[string]int64{ // tenths of a unit: the literal may lie between values
		"1970-01-01T00:00:00.000001": 10, "1970-01-01T00:00:00.0000012": 12, "1970-01-01T00:00:00.000001000001": 11, "1969-12-31T23:59:59.9999995": -5,
		"@0.0000005": 5, "@-0.0000005": -5, "@0.000001": 10, "1970-01-01T00:00:00.000000999999": 9,
	} {
		compareAll(t, Timestamp, []uint64{IntKey(-1), IntKey(0), IntKey(1), IntKey(2)}, Literal{Text, text}, func(key uint64) int { return cmp.Compare(10*KeyInt(key), tenths) })
	}
	for text, tenths := range map[string]int64{
		"1970-01-01T00:00:00.000000001": 10, "1970-01-01T00:00:00.0000000012": 12, "1969-12-31T23:59:59.9999999995": -5, "@0.0000000005": 5, "@0.000000001": 10,
		"5000000-01-01": math.MaxInt64, "9999-12-31": math.MaxInt64, "0001-01-01": math.MinInt64,
	} {
		compareAll(t, TimestampNS, []uint64{IntKey(-1), IntKey(0), IntKey(1), IntKey(2)}, Literal{Time, text}, func(key uint64) int { return cmp.Compare(10*KeyInt(key), tenths) })
	}
}

// TestCompareErrors names the type of the column. Null compares with nothing.
func TestCompareErrors(t *testing.T) {
	for _, c := range []struct {
		t    Type
		l    Literal
		want string
	}{
		{Int, Literal{Text, "60"}, "of type int: it compares with a number"},
		{Int, Literal{Boolean, "true"}, "of type int"},
		{Int, Literal{Number, "1e"}, "of type int"},
		{Int, Literal{Number, "."}, "of type int"},
		{Int, Literal{Number, "0x1p3"}, "of type int"},
		{Float, Literal{Number, "nan"}, "of type float"},
		{Float, Literal{Text, "nano"}, "'inf', '-inf' or 'nan'"},
		{Float32, Literal{Boolean, "true"}, "of type float32"},
		{Int, Literal{Text, "nan"}, "of type int"},
		{Uint, Literal{Text, "inf"}, "of type uint: it compares with a number"},
		{Decimal, Literal{Text, "1.5"}, "of type decimal: it compares with a number"},
		{Decimal128, Literal{Text, "inf"}, "of type decimal128: it compares with a number"},
		{Float, Literal{Number, "0x1p3"}, "of type float"},
		{String, Literal{Number, "1"}, "'single quotes'"},
		{Bool, Literal{Number, "1"}, "TRUE or FALSE"},
		{Timestamp, Literal{Number, "1"}, "'@981173106' for seconds since 1970"},
		{Timestamp, Literal{Text, "yesterday"}, "of type timestamp"},
		{Timestamp, Literal{Text, "@x"}, "of type timestamp"},
	} {
		column := ofKeys(c.t, 0, 9)
		if c.t.IsDecimal() {
			column.Scale = 3
		}
		if r, err := column.Compare(Eq, c.l); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), `column "c"`) {
			t.Errorf("%s of %v: %v, %v, want %s", c.l.Text, c.t, r, err, c.want)
		}
		for op := Eq; op <= Ge; op++ {
			if r, err := column.Compare(op, Literal{}); r != nil || err != nil {
				t.Errorf("%v NULL: %v, %v", op, r, err)
			}
		}
		empty := &Column{Name: "c", Type: c.t}
		if _, err := empty.Compare(Eq, c.l); err == nil {
			t.Errorf("%s of an empty column of type %v has no error", c.l.Text, c.t)
		}
	}
	if r, err := (&Column{Type: Int}).Compare(Ge, Literal{Number, "0"}); r != nil || err != nil {
		t.Errorf("a column without values: %v, %v", r, err)
	}
}

// TestFormat: Compare reads the output of Format.
func TestFormat(t *testing.T) {
	for _, v := range []int64{math.MinInt64 + 1, math.MinInt64 + 2, -1, 0, 1, 1500000, math.MaxInt64 - 1, math.MaxInt64, 253402300800e6, -62167219200e6, -62167219200e6 - 1} {
		for _, typ := range []Type{Timestamp, TimestampNS} {
			c := ofKeys(typ, 0, math.MaxUint64)
			text := c.Format(IntKey(v))
			r, err := c.Compare(Eq, Literal{Text, text})
			if err != nil || len(r) != 1 || r[0].Lo != IntKey(v) {
				t.Errorf("%v %d is %s, which is %v, %v", typ, v, text, r, err)
			}
		}
	}
	for _, x := range []struct {
		t    Type
		key  uint64
		want string
	}{
		{Int, IntKey(-5), "-5"},
		{Float, FloatKey(0.1), "0.1"},
		{Float, FloatKey(math.Inf(-1)), "-inf"},
		{Bool, 1, "true"},
		{String, 9, "?"},
		{Timestamp, IntKey(981173106e6), "2001-02-03T04:05:06Z"},
		{Timestamp, IntKey(-1), "1969-12-31T23:59:59.999999Z"},
		{TimestampNS, IntKey(-1), "1969-12-31T23:59:59.999999999Z"},
		{TimestampNS, IntKey(Infinity), "infinity"},
		{Timestamp, IntKey(math.MinInt64), "-290308-12-21T19:59:05.224192Z"},
		{Timestamp, IntKey(253402300800e6), "10000-01-01T00:00:00Z"},
		{Timestamp, IntKey(Infinity), "infinity"},
		{Timestamp, IntKey(-Infinity), "-infinity"},
		{Float, FloatKey(math.Inf(1)), "+inf"},
		{Float, FloatKey(math.NaN()), "nan"},
		{Float32, Float32Key(0.1), "0.1"},
		{Float32, Float32Key(float32(math.NaN())), "nan"},
		{Uint, math.MaxUint64, "18446744073709551615"},
		{Decimal128, 9, "?"},
	} {
		if got := (&Column{Type: x.t}).Format(x.key); got != x.want {
			t.Errorf("%v: %s, want %s", x.t, got, x.want)
		}
	}
}

func TestNames(t *testing.T) {
	for i := range uint8(len(typeNames)) {
		if got, err := ParseType(Type(i).String()); err != nil || got != Type(i) {
			t.Errorf("type %d: %v, %v", i, got, err)
		}
		if got, err := ParseBinning(Binning(i % 5).String()); err != nil || got != Binning(i%5) {
			t.Errorf("binning %d: %v, %v", i, got, err)
		}
		if got, err := ParseEncoding(Encoding(i % 3).String()); err != nil || got != Encoding(i%3) {
			t.Errorf("encoding %d: %v, %v", i, got, err)
		}
	}
	if _, err := ParseType("integer"); err == nil || !strings.Contains(err.Error(), "one of int, float, string, bool, timestamp") {
		t.Errorf("an unknown type: %v", err)
	}
	if got := Encoding(9).String(); got != "encoding(9)" {
		t.Error(got)
	}
}
