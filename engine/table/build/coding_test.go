package build

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"heddle/engine/table/column"
	"heddle/engine/table/hdb"
)

// TestCoding compares units and ranks of columns with the rule of FORMAT.md, computed in another way but for its sample.
func TestCoding(t *testing.T) {
	const rows = 20000
	day, second := int64(86400e6), int64(1e6)
	generators := map[string]func(r *rand.Rand) int64{
		"multiples of a unit":      func(r *rand.Rand) int64 { return day * r.Int64N(201) },
		"many multiples":           func(r *rand.Rand) int64 { return second * r.Int64N(1<<30) },
		"few distinct wide values": func(r *rand.Rand) int64 { x := r.Int64N(50); return 1<<40 - x*x*x*x*x*x*x },
		"many distinct values":     func(r *rand.Rand) int64 { x := r.Int64N(3000); return x*x*x + 1 },
		"negative":                 func(r *rand.Rand) int64 { return -12 - 8*r.Int64N(9) },
		"extremes":                 func(r *rand.Rand) int64 { return []int64{math.MinInt64, -1, math.MaxInt64}[r.IntN(3)] },
		"ends":                     func(r *rand.Rand) int64 { return []int64{math.MinInt64, math.MaxInt64}[r.IntN(2)] },
		"one value":                func(r *rand.Rand) int64 { return 4711 },
		"neighbours":               func(r *rand.Rand) int64 { return r.Int64N(1000) },
	}
	var columns []data
	for name, next := range generators {
		r := rand.New(rand.NewPCG(1, uint64(len(name))))
		for _, typ := range []column.Type{column.Int, column.Timestamp, column.Float} {
			d := make1(name+" "+typ.String(), typ, rows, 1, 0.1, 7)
			for row := range d.keys {
				if d.keys[row] = column.IntKey(next(r)); typ == column.Float {
					d.keys[row] = column.FloatKey(float64(next(r)) / 100)
				}
			}
			columns = append(columns, d)
		}
	}
	columns = append(columns, make1("all missing", column.Int, rows, 1, 1, 7))
	src := newTable(columns...)
	path, _ := build(t, src, Options{})
	check(t, path, src)
	f, err := hdb.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ranked := 0
	for i := range f.Columns() {
		c, d := &f.Columns()[i], &src.columns[i]
		var keys []uint64
		n := uint64(0)
		for row, key := range d.keys {
			if d.missing[row] {
				continue
			}
			if n++; c.Scale > 0 {
				key, _ = column.ScaledKey(column.KeyFloat(key), c.Scale)
			}
			keys = append(keys, key)
		}
		slices.Sort(keys)
		keys = slices.Compact(keys)
		unit := new(big.Int)
		for k := range keys {
			unit.GCD(nil, nil, unit, new(big.Int).SetUint64(keys[k]-keys[0]))
		}
		ranks := false
		if len(keys) > 0 {
			spread := new(big.Int).SetUint64(keys[len(keys)-1] - keys[0])
			if unit.Sign() > 0 {
				spread.Div(spread, unit)
			}
			ranks = n*uint64(big.NewInt(int64(len(keys)-1)).BitLen())+64*uint64(len(keys)) < n*uint64(spread.BitLen())
		}
		if c.Ranks != nil {
			ranked++
			if !ranks || !slices.Equal(c.Ranks, keys) || c.Unit != 0 {
				t.Errorf("%s: %d ranks of %d keys, which pay: %v", c.Name, len(c.Ranks), len(keys), ranks)
			}
		} else if max(c.Unit, 1) != max(unit.Uint64(), 1) {
			t.Errorf("%s: %d ranks and unit %d, want unit %v", c.Name, len(c.Ranks), c.Unit, unit)
		}
	}
	if ranked != 9 { // three generators in three types
		t.Errorf("%d of %d columns have ranks", ranked, len(columns))
	}
}

// TestInverse divides by units with one multiplication.
func TestInverse(t *testing.T) {
	for _, unit := range []uint64{2, 3, 5, 6, 1 << 63, 86400e6, math.MaxUint64, math.MaxUint64 - 1} {
		c := coder{stored: column.Column{Type: column.Int}, least: 7}
		c.setUnit(unit)
		for _, n := range []uint64{0, 1, 2, math.MaxUint64 / unit} {
			n = min(n, math.MaxUint64/unit)
			keys := []uint64{7 + n*unit}
			if c.code(keys, nil); keys[0] != n {
				t.Errorf("%d units of %d: code %d", n, unit, keys[0])
			}
		}
	}
}
