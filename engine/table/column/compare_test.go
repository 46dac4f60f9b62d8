package column

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// edge draws an integer of 64 bits, often one at the end of a type.
func edge(t *rapid.T) int64 {
	near := rapid.SampledFrom([]int64{0, 1000, 1 << 24, 1 << 53, math.MaxInt64 / 1000, math.MaxInt64/1000 + 1, math.MaxInt64, math.MinInt64, math.MinInt64 / 1000, -1 << 53}).Draw(t, "near")
	return near + rapid.Int64Range(-3, 3).Draw(t, "more") // may wrap around
}

// drawn is a column of numbers or times, and the exact value of each code. NaN and infinite
// values have no exact value.
type drawn struct {
	*Column
	exact []*big.Rat
	float []float64
}

func draw(t *rapid.T, name string) drawn {
	c := drawn{Column: &Column{Name: name, Type: rapid.SampledFrom([]Type{Int, Float, Uint, Float32, Decimal, Decimal128}).Draw(t, "type")}}
	if c.Type.IsDecimal() {
		c.Scale = rapid.SampledFrom([]uint8{0, 1, 2, 9, 18, 22, 23, 38}).Draw(t, "scale")
	}
	if c.Type == Float {
		c.Scale = rapid.SampledFrom([]uint8{0, 0, 1, 2, MaxFloatScale}).Draw(t, "scale of keys")
	}
	unit := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(c.Scale)), nil))
	wide := map[string]*big.Rat{}
	for range rapid.IntRange(1, 6).Draw(t, "values") {
		n := edge(t)
		switch c.Type {
		case Int, Decimal:
			c.add(IntKey(n), new(big.Rat).Mul(unit, new(big.Rat).SetInt64(n)))
		case Uint:
			c.add(uint64(n), new(big.Rat).SetFrac(new(big.Int).SetUint64(uint64(n)), big.NewInt(1)))
		case Float:
			if c.Scale > 0 {
				f := float64(n%1e15) / math.Pow10(int(c.Scale))
				key, _ := ScaledKey(f, c.Scale)
				c.add(key, new(big.Rat).SetFloat64(f))
				c.float = append(c.float, f)
				continue
			}
			f := math.Ldexp(float64(n), rapid.SampledFrom([]int{0, 0, -60, 900}).Draw(t, "exponent"))
			f = rapid.SampledFrom([]float64{f, f, f, f, math.NaN(), math.Inf(1), math.Inf(-1), 0.1}).Draw(t, "float")
			c.add(FloatKey(f), new(big.Rat).SetFloat64(f))
			c.float = append(c.float, f)
		case Float32:
			f := rapid.SampledFrom([]float32{float32(n), float32(n) / 7, float32(math.Inf(1)), float32(math.NaN()), 0.1}).Draw(t, "float")
			c.add(Float32Key(f), new(big.Rat).SetFloat64(float64(f)))
			c.float = append(c.float, float64(f))
		case Decimal128:
			v := new(big.Int).Mul(big.NewInt(n), big.NewInt(rapid.SampledFrom([]int64{1, 10, 1e9, math.MaxInt64}).Draw(t, "factor")))
			key, err := WideKey(v)
			if err != nil {
				t.Fatal(err)
			}
			wide[string(key[:])] = new(big.Rat).Mul(unit, new(big.Rat).SetInt(v))
		}
	}
	for _, entry := range sortedKeys(wide) {
		c.Dictionary = append(c.Dictionary, entry)
		c.add(uint64(len(c.Dictionary)-1), wide[entry])
	}
	return c
}

func sortedKeys(m map[string]*big.Rat) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// add adds a value. The base of the column is 0, so that its codes are keys.
func (c *drawn) add(key uint64, exact *big.Rat) {
	c.Bins = append(c.Bins, Bin{Lo: key, Hi: key, Rows: 1})
	c.exact = append(c.exact, exact)
}

// nearest is value i as the nearest value of a type, Float or Float32.
func (c *drawn) nearest(t Type, i int) float64 {
	if c.float != nil {
		return c.float[i]
	}
	bits := 64
	if t == Float32 {
		bits = 32
	}
	f, err := strconv.ParseFloat(c.exact[i].FloatString(60), bits)
	if err != nil {
		panic(err)
	}
	return f
}

// compareFloats orders NaN behind all other values.
func compareFloats(a, b float64) int {
	switch {
	case a != a || b != b:
		return map[bool]int{true: 1}[a != a] - map[bool]int{true: 1}[b != b]
	}
	return cmp.Compare(a, b)
}

// TestOrder compares values of columns of all types of numbers with big.Rat.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := draw(t, "a"), draw(t, "b")
		order := a.Order(b.Column)
		for i, x := range a.Bins {
			for k, y := range b.Bins {
				var want int
				switch {
				case a.float == nil && b.float == nil:
					want = a.exact[i].Cmp(b.exact[k])
				case a.Type == Float || b.Type == Float || a.float != nil && b.float != nil:
					want = compareFloats(a.nearest(Float, i), b.nearest(Float, k))
				default:
					want = compareFloats(a.nearest(Float32, i), b.nearest(Float32, k))
				}
				if got := order(x.Lo, y.Lo); got != want {
					t.Fatalf("%v(%d) %s and %v(%d) %s: %d, want %d", a.Type, a.Scale, a.Format(x.Lo), b.Type, b.Scale, b.Format(y.Lo), got, want)
				}
			}
		}
	})
}

// TestOrderTimes compares microseconds with nanoseconds.
func TestOrderTimes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := edge(t), edge(t)
		if rapid.Bool().Draw(t, "near") {
			b = a*1000 + rapid.Int64Range(-1000, 1000).Draw(t, "more")
		}
		infinite := func(v, unit int64) *big.Int {
			if v == Infinity || v == -Infinity {
				return new(big.Int).Lsh(big.NewInt(v), 80)
			}
			return new(big.Int).Mul(big.NewInt(v), big.NewInt(unit))
		}
		if a == math.MinInt64 || b == math.MinInt64 {
			t.Skip("not a timestamp")
		}
		micros, nanos := &Column{Type: Timestamp}, &Column{Type: TimestampNS}
		want := infinite(a, 1000).Cmp(infinite(b, 1))
		if got := micros.Order(nanos)(IntKey(a), IntKey(b)); got != want {
			t.Fatalf("%s and %s: %d, want %d", micros.Format(IntKey(a)), nanos.Format(IntKey(b)), got, want)
		}
		if got := nanos.Order(micros)(IntKey(b), IntKey(a)); got != -want {
			t.Fatalf("%s and %s: %d, want %d", nanos.Format(IntKey(b)), micros.Format(IntKey(a)), got, -want)
		}
	})
}

// TestOrderInfinity compares infinite times with finite ones that the finer unit cannot hold.
func TestOrderInfinity(t *testing.T) {
	micros, nanos := &Column{Type: Timestamp}, &Column{Type: TimestampNS}
	order := micros.Order(nanos)
	for _, c := range []struct {
		micros, nanos int64
		want          int
	}{
		{Infinity, Infinity, 0}, {Infinity - 1, Infinity, -1}, {Infinity - 1, Infinity - 1, 1}, {Infinity, Infinity - 1, 1},
		{-Infinity, -Infinity, 0}, {1 - Infinity, -Infinity, 1}, {1 - Infinity, 1 - Infinity, -1}, {-Infinity, 1 - Infinity, -1},
	} {
		if got := order(IntKey(c.micros), IntKey(c.nanos)); got != c.want {
			t.Errorf("%d microseconds and %d nanoseconds: %d, want %d", c.micros, c.nanos, got, c.want)
		}
	}
}

// TestOrderStrings compares entries of different dictionaries, whose columns may begin
// behind the first entry.
func TestOrderStrings(t *testing.T) {
	a := &Column{Type: String, Base: 1, Dictionary: []string{"", "b", "c", "é"}}
	b := &Column{Type: String, Dictionary: []string{"a", "b", "bb", "c", "d"}}
	for i, x := range a.Dictionary[1:] {
		for k, y := range b.Dictionary {
			if got := a.Order(b)(uint64(i), uint64(k)); got != cmp.Compare(x, y) {
				t.Errorf("%s and %s: %d", x, y, got)
			}
			if got := b.Order(a)(uint64(k), uint64(i)); got != cmp.Compare(y, x) {
				t.Errorf("%s and %s: %d", y, x, got)
			}
		}
	}
	for _, pair := range [][2]Type{{String, Int}, {Bool, Int}, {Timestamp, Int}, {String, Timestamp}, {Bool, String}} {
		if pair[0].ComparesWith(pair[1]) || pair[1].ComparesWith(pair[0]) {
			t.Errorf("%v compare", pair)
		}
	}
	for _, pair := range [][2]Type{{Decimal128, Float32}, {Timestamp, TimestampNS}, {Uint, Int}, {Bool, Bool}} {
		if !pair[0].ComparesWith(pair[1]) {
			t.Errorf("%s do not compare", fmt.Sprint(pair))
		}
	}
}

// TestShifts compares codes plus their shifts with Order.
func TestShifts(t *testing.T) {
	found := 0
	for _, base := range []uint64{IntKey(-7), IntKey(5), IntKey(12)} {
		for _, unit := range []uint64{0, 1, 3, 5} {
			c, d := Column{Type: Int, Base: base, Unit: unit}, Column{Type: Int, Base: IntKey(5), Unit: 3}
			for _, pair := range [][2]*Column{{&c, &d}, {&d, &c}} {
				shift, other, ok := pair[0].Shifts(pair[1])
				if !ok {
					continue
				}
				found++
				order := pair[0].Order(pair[1])
				for x := range uint64(12) {
					for y := range uint64(12) {
						if got, want := cmp.Compare(shift+x, other+y), order(x, y); got != want {
							t.Errorf("bases %d and %d, codes %d and %d: %d, want %d", pair[0].Base, pair[1].Base, x, y, got, want)
						}
					}
				}
			}
		}
	}
	if found != 4 { // units of 3 whose bases differ by 0 or 12
		t.Errorf("%d pairs have shifts", found)
	}
	if _, _, ok := (&Column{Ranks: []uint64{1, 5}}).Shifts(&Column{}); ok {
		t.Error("ranks have shifts")
	}
}
