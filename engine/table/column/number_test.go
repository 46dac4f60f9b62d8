package column

import (
	"cmp"
	"errors"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestCompareNaN orders NaN as DuckDB and PostgreSQL do: equal to itself, and greater than
// other values.
func TestCompareNaN(t *testing.T) {
	values := []float64{math.Inf(-1), -1, 0, 0.5, math.Inf(1), math.NaN()}
	order := func(a, b float64) int {
		switch {
		case a != a && b != b:
			return 0
		case a != a:
			return 1
		case b != b:
			return -1
		}
		return cmp.Compare(a, b)
	}
	var wide, narrow []uint64
	for _, v := range values {
		wide, narrow = append(wide, FloatKey(v)), append(narrow, Float32Key(float32(v)))
	}
	if FloatKey(math.Copysign(math.NaN(), -1)) != FloatKey(math.NaN()) || Float32Key(math.Float32frombits(0xffc00001)) != Float32Key(float32(math.NaN())) {
		t.Error("NaNs have several keys")
	}
	for text, v := range map[string]float64{"nan": math.NaN(), "NaN": math.NaN(), "infinity": math.Inf(1), "-inf": math.Inf(-1)} {
		compareAll(t, Float, wide, Literal{Text, text}, func(key uint64) int { return order(KeyFloat(key), v) })
		compareAll(t, Float32, narrow, Literal{Text, text}, func(key uint64) int { return order(float64(KeyFloat32(key)), v) })
	}
	beyond := func(v float64) int { // a number that is greater than every finite value
		if v != v || math.IsInf(v, 1) {
			return 1
		}
		return -1
	}
	compareAll(t, Float, wide, Literal{Number, "1e400"}, func(key uint64) int { return beyond(KeyFloat(key)) })
	compareAll(t, Float32, narrow, Literal{Number, "3.5e38"}, func(key uint64) int { return beyond(float64(KeyFloat32(key))) })
}

// TestCompareFloat32 compares as float32: a value equals its printed form.
func TestCompareFloat32(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := math.Float32frombits(rapid.Uint32().Draw(t, "bits"))
		if v != v || math.IsInf(float64(v), 0) {
			return
		}
		key := Float32Key(v)
		if KeyFloat32(key) != v {
			t.Fatalf("%g becomes %g", v, KeyFloat32(key))
		}
		c := &Column{Type: Float32}
		keys := []uint64{key - 1, key, key + 1}
		compareAll(t, Float32, keys, Literal{Number, c.Format(key)}, func(k uint64) int { return cmp.Compare(k, key) })
	})
	// 26.352673 is no float32; the nearest is 26.35267257690429688.
	v, _ := strconv.ParseFloat("26.352673", 32)
	compareAll(t, Float32, []uint64{Float32Key(float32(v))}, Literal{Number, "26.352673"}, func(uint64) int { return 0 })
}

// TestCompareUint compares exactly, above the range of int64 too.
func TestCompareUint(t *testing.T) {
	keys := []uint64{0, 1, 59, math.MaxInt64, 1 << 63, math.MaxUint64 - 1, math.MaxUint64}
	for _, text := range []string{
		"0", "-0", "-0.5", "0.5", "-1", "59", "59.5", "9223372036854775807", "9223372036854775807.5", "9223372036854775808",
		"18446744073709551614", "18446744073709551614.5", "18446744073709551615", "18446744073709551615.5", "18446744073709551616", "1e20", "1e300", "-1e300",
	} {
		v, _ := new(big.Rat).SetString(text)
		compareAll(t, Uint, keys, Literal{Number, text}, func(key uint64) int {
			return new(big.Rat).SetInt(new(big.Int).SetUint64(key)).Cmp(v)
		})
	}
}

// TestCompareDecimal compares decimals of 64 and 128 bits with literals exactly, and
// reads the text of each value back.
func TestCompareDecimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scale := rapid.Uint8Range(0, MaxScale).Draw(t, "scale")
		text := rapid.StringMatching(`[+-]?([0-9]{1,39}(\.[0-9]{0,39})?|\.[0-9]{1,39})([eE][+-]?[0-9])?`).Draw(t, "literal")
		literal, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatal(text)
		}
		unit := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil))
		near := new(big.Rat).Quo(literal, unit)
		floor := new(big.Int).Div(near.Num(), near.Denom())
		most := new(big.Int).Lsh(big.NewInt(1), 127)
		values := []*big.Int{new(big.Int).Neg(most), big.NewInt(-1), big.NewInt(0), big.NewInt(1), new(big.Int).Sub(most, big.NewInt(1))}
		for d := int64(-1); d <= 1; d++ {
			values = append(values, new(big.Int).Add(floor, big.NewInt(d)))
		}
		slices.SortFunc(values, (*big.Int).Cmp)
		values = slices.CompactFunc(values, func(a, b *big.Int) bool { return a.Cmp(b) == 0 })
		c := &Column{Name: "c", Type: Decimal128, Scale: scale}
		narrow := &Column{Name: "c", Type: Decimal, Scale: scale, Bins: []Bin{{Hi: math.MaxUint64}}}
		var kept []*big.Int
		for _, v := range values {
			key, err := WideKey(v)
			if (err != nil) != (v.Cmp(most) >= 0 || v.Cmp(new(big.Int).Neg(most)) < 0) || err != nil && !errors.Is(err, ErrWide) {
				t.Fatalf("%v: error %v", v, err)
			}
			if err == nil {
				c.Dictionary, kept = append(c.Dictionary, string(key[:])), append(kept, v)
			}
		}
		c.Bins = []Bin{{Hi: uint64(len(kept) - 1), Rows: 1}}
		if !slices.IsSorted(c.Dictionary) {
			t.Fatal("keys are not in the order of their integers")
		}
		for op := Eq; op <= Ge; op++ {
			wide, err := c.Compare(op, Literal{Number, text})
			if err != nil {
				t.Fatal(err)
			}
			small, err := narrow.Compare(op, Literal{Number, text})
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range kept {
				want := holds(op, new(big.Rat).Mul(new(big.Rat).SetInt(v), unit).Cmp(literal))
				if has(wide, uint64(i)) != want {
					t.Fatalf("%s %v %s: %v", c.Format(uint64(i)), op, text, !want)
				}
				if back, ok := ParseDecimal(c.Format(uint64(i)), MaxScale+1, scale); !ok || back.Cmp(v) != 0 {
					t.Fatalf("%v of scale %d is %s", v, scale, c.Format(uint64(i)))
				}
				if v.IsInt64() && (has(small, IntKey(v.Int64())) != want || narrow.Format(IntKey(v.Int64())) != c.Format(uint64(i))) {
					t.Fatalf("64 bits: %s %v %s: %v", narrow.Format(IntKey(v.Int64())), op, text, !want)
				}
			}
		}
	})
}

func TestParseDecimal(t *testing.T) {
	for text, want := range map[string]string{"1.5": "150", "-0.01": "-1", "1e1": "1000", "0.000": "0", "-7.": "-700", "1.234": "", "x": "", "0.001": "", "1e60": "", "9999999.99": "999999999", "-1e7": "", "0e99": "0", "00000000000.1": "10"} {
		if got, ok := ParseDecimal(text, 9, 2); ok != (want != "") || ok && got.String() != want {
			t.Errorf("%s: %v %v, want %s", text, got, ok, want)
		}
	}
}

func TestParseDeclared(t *testing.T) {
	for text, want := range map[string]Declared{
		"int": {Type: Int}, "float32": {Type: Float32}, "uint": {Type: Uint}, "timestamp_ns": {Type: TimestampNS},
		"decimal(9,2)": {Type: Decimal, Digits: 9, Scale: 2}, "decimal(18)": {Type: Decimal, Digits: 18}, "decimal(19, 4)": {Type: Decimal128, Digits: 19, Scale: 4},
		"decimal(38,38)": {Type: Decimal128, Digits: 38, Scale: 38}, "string[]": {List: true, Type: String}, "decimal(9,2)[]": {Type: Decimal, Digits: 9, Scale: 2, List: true},
	} {
		if got, err := ParseDeclared(text); err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"decimal", "decimal128", "decimal()", "decimal(39,2)", "decimal(0)", "decimal(4,5)", "decimal(9,2", "decimal(9,2,1)", "decimal(-1)", "integer", "[]", "int[][]", "[]int"} {
		if _, err := ParseDeclared(text); err == nil || strings.HasPrefix(text, "decimal") && !strings.Contains(err.Error(), "decimal(P,S)") {
			t.Errorf("%s: error %v", text, err)
		}
	}
}

// TestDayKey converts the days that Timestamps have room for, and the days of ±Infinity.
func TestDayKey(t *testing.T) {
	for day, want := range map[int32]string{
		0: "1970-01-01T00:00:00Z", -1: "1969-12-31T00:00:00Z", math.MaxInt32: "infinity", -math.MaxInt32: "-infinity",
		106751991: "294247-01-10T00:00:00Z", -106751991: "-290308-12-22T00:00:00Z",
	} {
		key, ok := DayKey(day)
		if got := (&Column{Type: Timestamp}).Format(key); !ok || got != want {
			t.Errorf("day %d: %s %v, want %s", day, got, ok, want)
		}
	}
	for _, day := range []int32{106751992, -106751992, math.MinInt32, math.MaxInt32 - 1} {
		if key, ok := DayKey(day); ok {
			t.Errorf("day %d: key %d", day, key)
		}
	}
}

// TestLess orders decimals as their exact values, whatever their spelling.
func TestLess(t *testing.T) {
	number := rapid.StringMatching(`[+-]?([0-9]{1,4}(\.[0-9]{0,3})?|\.[0-9]{1,3})([eE][+-]?[0-4])?`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := number.Draw(t, "a"), number.Draw(t, "b")
		v, _ := new(big.Rat).SetString(a)
		w, _ := new(big.Rat).SetString(b)
		for _, of := range []Type{Int, Uint, Float, Float32, Decimal128} {
			if got, want := (&Column{Type: of}).Less(Literal{Number, a}, Literal{Number, b}), v.Cmp(w) < 0; got != want {
				t.Fatalf("%s: %s below %s: %t, want %t", of, a, b, got, want)
			}
		}
	})
}
