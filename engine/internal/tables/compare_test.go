package tables

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"heddle/codec/bitslice"
	"heddle/codec/wah"
	"heddle/engine/internal/limit"
	"heddle/engine/internal/schedule"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/engine/table/column"
	"heddle/engine/table/predicate"
	"heddle/engine/table/predicate/predicatetest"
)

// TestCompareEnds: a comparison ends with its context and its deadline. Rows that are not
// asked for stay out.
func TestCompareEnds(t *testing.T) {
	tab, columns := predicatetest.Table(t, 32, predicatetest.Flights()...)
	d, err := New(&tab.Table, columns)
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	s := &predicate.Set{Op: predicate.Compared, A: 4, B: 4, By: column.Eq}
	rows := make([]uint64, (tab.Rows+63)/64)
	rows[3], rows[70] = 5, 1<<63
	want := slices.Clone(rows)
	for _, x := range []struct {
		until limit.Until
		want  error
	}{
		{limit.Until{Context: ended}, context.Canceled},
		{limit.Until{Context: t.Context(), Deadline: time.Now().Add(-time.Second)}, schedule.ErrDeadline},
		{limit.Until{Context: t.Context()}, nil},
	} {
		if err := d.compareColumns(&x.until, s, rows); !errors.Is(err, x.want) || (err != nil) != (x.want != nil) {
			t.Errorf("error %v, want %v", err, x.want)
		}
	}
	if !slices.Equal(rows, want) {
		t.Errorf("other rows than wanted")
	}
	s.By = column.Lt
	if err := d.compareColumns(&limit.Until{Context: t.Context()}, s, rows); err != nil || slices.Max(rows) != 0 {
		t.Errorf("rows %v, error %v, want none", rows, err)
	}
}

// TestCompareTiles compares the rows of several tiles, which goroutines share.
func TestCompareTiles(t *testing.T) {
	rows := 2*tilesAtOnce*bitslice.TileRows + 77
	oneBin := func(i, n int) int { return 0 }
	in := []predicatetest.Column{{Name: "a", Type: column.Int, Bin: oneBin}, {Name: "b", Type: column.Int, Bin: oneBin}}
	want := make([]uint64, wah.Bitset(uint64(rows)))
	all := slices.Repeat([]uint64{^uint64(0)}, len(want))
	all[len(all)-1] = 1<<(rows%64) - 1
	for i := range rows {
		a, b := int64(i*7%1000), int64(i*11%997)
		in[0].Values, in[1].Values = append(in[0].Values, a), append(in[1].Values, b)
		if a < b {
			want[i/64] |= 1 << (i % 64)
		}
	}
	tab, columns := predicatetest.Table(t, 32, in...)
	d, err := New(&tab.Table, columns)
	if err != nil {
		t.Fatal(err)
	}
	err = d.compareColumns(&limit.Until{Context: t.Context()}, &predicate.Set{Op: predicate.Compared, B: 1, By: column.Lt}, all)
	if err != nil || !slices.Equal(all, want) {
		t.Errorf("other rows than wanted, error %v", err)
	}
}

// TestCompareWide compares values of more than 32 bits, whose lower halves have another order.
func TestCompareWide(t *testing.T) {
	oneBin := func(i, n int) int { return 0 }
	tab, columns := predicatetest.Table(t, 32, predicatetest.Column{Name: "a", Type: column.Int, Bin: oneBin, Values: []any{int64(0), int64(1 << 32), int64(2<<32 + 1)}},
		predicatetest.Column{Name: "b", Type: column.Int, Bin: oneBin, Values: []any{int64(0), int64(5), int64(1<<32 + 7)}})
	d, err := New(&tab.Table, columns)
	if err != nil {
		t.Fatal(err)
	}
	rows := []uint64{0b111}
	if err := d.compareColumns(&limit.Until{Context: t.Context()}, &predicate.Set{Op: predicate.Compared, B: 1, By: column.Gt}, rows); err != nil || rows[0] != 0b110 {
		t.Errorf("rows %b, %v", rows[0], err)
	}
}

// TestFilterKeys: keys of filters differ in the column of a check, in ranges and in the text of a comparison.
func TestFilterKeys(t *testing.T) {
	g := new(Generation)
	check := func(c uint32, r plan.CodeRange) *Predicate {
		p := new(Predicate)
		p.Steps.Any(1)
		p.Steps.Check(c, r)
		p.Steps.End()
		return p
	}
	compares := func(text string) *Predicate {
		return &Predicate{Text: text, Plan: predicate.Plan{Set: new(predicate.Set)}}
	}
	known := map[string]int{}
	for i, p := range []*Predicate{check(0, plan.CodeRange{Hi: 1}), check(1, plan.CodeRange{Hi: 1}), check(0, plan.CodeRange{Hi: 2}),
		check(0, plan.CodeRange{Lo: 1, Hi: 1}), compares("a < b"), compares("a > b")} {
		key := string(g.AppendKey(nil, p))
		if other, twice := known[key]; twice {
			t.Errorf("predicates %d and %d have one key", other, i)
		}
		known[key] = i
	}
}

// TestComparePlaces compares columns of different types, of which one or both have few codes, by all operators, in few
// rows and in enough for lanes.
func TestComparePlaces(t *testing.T) {
	comparePlaces(t, bitslice.TileRows+5000)
	comparePlaces(t, leastLanes+5000)
}

func comparePlaces(t *testing.T, rows int) {
	tab, columns, numbers := plantest.NewTable(uint32(rows), 32), []column.Column{}, [3][]float64{}
	for k, of := range []func(i int) float64{
		func(i int) float64 { return float64(i*7%100 - 40) }, func(i int) float64 { return float64(i*11%97)/2 - 3 }, func(i int) float64 { return float64(i*13%5003)/64 - 9 },
	} {
		c := column.Column{Type: column.Float}
		key := column.FloatKey
		if k == 0 {
			c.Type, key = column.Int, func(v float64) uint64 { return column.IntKey(int64(v)) }
		}
		for i := range rows {
			numbers[k] = append(numbers[k], of(i))
			c.Ranks = append(c.Ranks, key(of(i)))
		}
		slices.Sort(c.Ranks)
		c.Ranks = slices.Compact(c.Ranks)
		codes := make([]uint64, rows)
		for i := range codes {
			codes[i], _ = c.Code(key(numbers[k][i]))
		}
		tab.AddCodes(t, codes)
		c.Bins = []column.Bin{{Hi: uint64(len(c.Ranks) - 1), Rows: uint32(rows)}}
		columns = append(columns, c)
	}
	d := &Data{Table: &tab.Table, Columns: columns}
	for _, pair := range [][2]int{{0, 1}, {1, 0}, {0, 2}, {2, 0}} {
		var c comparison
		c.order = columns[pair[0]].Order(&columns[pair[1]])
		if c.place(&columns[pair[0]], &columns[pair[1]], uint32(rows)); c.places == nil || (c.bounds != nil) != (rows >= leastLanes) {
			t.Errorf("%d rows, columns %v: %d places, %d bounds", rows, pair, len(c.places), len(c.bounds))
		}
		for _, by := range []column.Op{column.Lt, column.Le, column.Eq, column.Ne, column.Ge, column.Gt} {
			got, want := make([]uint64, wah.Bitset(uint64(rows))), make([]uint64, wah.Bitset(uint64(rows)))
			for i := range rows {
				if i/64%7 == 3 || i%5 == 0 { // rows that are not asked for
					continue
				}
				got[i/64] |= 1 << (i % 64)
				if by.Holds(cmp.Compare(numbers[pair[0]][i], numbers[pair[1]][i])) {
					want[i/64] |= 1 << (i % 64)
				}
			}
			s := &predicate.Set{Op: predicate.Compared, A: pair[0], B: pair[1], By: by}
			if err := d.compareColumns(&limit.Until{Context: t.Context()}, s, got); err != nil || !slices.Equal(got, want) {
				t.Errorf("columns %v, operator %v: other rows, %v", pair, by, err)
			}
		}
	}
}

// TestCompareRounded compares a column of floats with one of more integers, some of which have one nearest float.
func TestCompareRounded(t *testing.T) {
	const rows = leastLanes
	for _, real := range []struct {
		of   column.Type
		bits int // width of the significand: 53 or 24
		near func(n int64) float64
	}{{column.Float, 53, func(n int64) float64 { return float64(n) }}, {column.Float32, 24, func(n int64) float64 { return float64(float32(n)) }}} {
		tab, numbers := plantest.NewTable(rows, 32), [2][]int64{}
		columns := []column.Column{{Type: column.Int}, {Type: real.of}}
		for k := range columns {
			c := &columns[k]
			c.Bins = []column.Bin{{Rows: rows}}
			key := func(n int64) uint64 { return column.IntKey(n) }
			if real.of == column.Float && k == 1 {
				key = func(n int64) uint64 { return column.FloatKey(float64(n)) }
			} else if k == 1 {
				key = func(n int64) uint64 { return column.Float32Key(float32(n)) }
			}
			for i := range rows {
				n := int64(1)<<real.bits + int64(i%7-2)*int64(1-k) + int64(i/7%3*2*k)
				numbers[k], c.Ranks = append(numbers[k], n), append(c.Ranks, key(n))
			}
			slices.Sort(c.Ranks)
			c.Ranks = slices.Compact(c.Ranks)
			c.Bins[0].Hi = uint64(len(c.Ranks) - 1)
			codes := make([]uint64, rows)
			for i := range codes {
				codes[i], _ = c.Code(key(numbers[k][i]))
			}
			tab.AddCodes(t, codes)
		}
		d := &Data{Table: &tab.Table, Columns: columns}
		for pair := range 2 {
			for _, by := range []column.Op{column.Lt, column.Le, column.Eq, column.Ne, column.Ge, column.Gt} {
				got, want := slices.Repeat([]uint64{^uint64(0)}, rows/64), make([]uint64, rows/64)
				for i := range rows {
					if by.Holds(cmp.Compare(real.near(numbers[pair][i]), real.near(numbers[1-pair][i]))) {
						want[i/64] |= 1 << (i % 64)
					}
				}
				s := &predicate.Set{Op: predicate.Compared, A: pair, B: 1 - pair, By: by}
				if err := d.compareColumns(&limit.Until{Context: t.Context()}, s, got); err != nil || !slices.Equal(got, want) {
					t.Errorf("%v, columns %d and %d, operator %v: other rows, %v", real.of, pair, 1-pair, by, err)
				}
			}
		}
	}
}
