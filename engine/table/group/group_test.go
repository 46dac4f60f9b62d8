package group_test

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/engine/plan/reference"
	"heddle/engine/table/column"
	"heddle/engine/table/exact"
	"heddle/engine/table/group"
	"heddle/engine/table/predicate/predicatetest"
)

// input describes column i of a table.
func input(columns []column.Column, i int) plan.Input {
	c := &columns[i]
	in := plan.Input{Column: uint32(i)}
	if n := len(c.Bins); n > 0 {
		in.Last = c.Bins[n-1].Hi
	}
	in.Vector, in.Missing = c.MissingVector()
	return in
}

// measures are the measures that a column can have.
func measures(c *column.Column, i int) []plan.Measure {
	list := []plan.Measure{{Kind: plan.MeasureCount}, {Kind: plan.MeasureSum}, {Kind: plan.MeasureLeast}, {Kind: plan.MeasureGreatest}, {Kind: plan.MeasureCodes}}
	if c.Type == column.Float {
		list = append(list, plan.Measure{Kind: plan.MeasureFloats, Base: c.Base, Unit: c.Unit, Keys: c.Ranks, Scale: c.Scale})
	}
	if c.Type == column.String || c.Type == column.Bool {
		weights := make([]plan.Weight, max(2, len(c.Dictionary)))
		for i := range weights {
			weights[i] = plan.Weight{High: math.MaxUint64 / uint64(i+1), Low: uint64(i) << 60}
		}
		list = append(list, plan.Measure{Kind: plan.MeasureSum, Weights: weights})
	}
	for k := range list {
		list[k].Input = i
	}
	return list
}

// describe writes groups of the reference.
func describe(a *plan.Aggregation, groups []*reference.Group) (lines []string) {
	for _, g := range groups {
		line := fmt.Sprint(g.Codes, g.Missing, g.Rows)
		for i, m := range g.Measures {
			line += fmt.Sprintf(" %d:", m.Count)
			switch a.Measures[i].Kind {
			case plan.MeasureSum:
				line += m.Sum.String()
			case plan.MeasureFloats:
				line += fmt.Sprint(m.Floats)
			case plan.MeasureLeast:
				if m.Count > 0 {
					line += fmt.Sprint(m.Least)
				}
			case plan.MeasureGreatest:
				if m.Count > 0 {
					line += fmt.Sprint(m.Greatest)
				}
			case plan.MeasureCodes:
				for _, code := range slices.Sorted(maps.Keys(m.Codes)) {
					line += fmt.Sprint(group.Frequency{Code: code, Rows: m.Codes[code]})
				}
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// describeGroups writes groups in the same form.
func describeGroups(a *plan.Aggregation, g *group.Groups) (lines []string) {
	different := make([][][]group.Frequency, len(a.Measures))
	for m := range a.Measures {
		if a.Measures[m].Kind == plan.MeasureCodes {
			different[m] = g.Codes(m)
		}
	}
	for i := range g.Len() {
		var codes []uint64
		var missing []bool
		for k := range a.Groupings {
			code, ok := g.Code(k, i)
			codes, missing = append(codes, code), append(missing, !ok)
		}
		line := fmt.Sprint(codes, missing, g.Rows(i))
		for m := range a.Measures {
			line += fmt.Sprintf(" %d:", g.Count(m, i))
			switch a.Measures[m].Kind {
			case plan.MeasureSum:
				sum := g.Sum(m, i)
				line += sum.Big().String()
			case plan.MeasureFloats:
				var sum exact.Float
				g.Floats(m, i, &sum)
				line += fmt.Sprint(sum.Sum())
			case plan.MeasureLeast, plan.MeasureGreatest:
				if g.Count(m, i) > 0 {
					line += fmt.Sprint(g.Extreme(m, i))
				}
			case plan.MeasureCodes:
				for _, f := range different[m][i] {
					line += fmt.Sprint(f)
				}
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// check compares the groups of rows with the reference, for one and for several workers.
func check(t rapid.TB, table *plantest.Table, a *plan.Aggregation, rows []uint64) {
	plain, err := reference.DecodeTable(&table.Table)
	if err != nil {
		t.Fatal(err)
	}
	want := describe(a, plain.Aggregate(a, rows))
	for _, workers := range []int{1, 3} {
		g, err := group.Run(&table.Table, a, rows, group.Options{Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		if got := describeGroups(a, g); !slices.Equal(got, want) {
			t.Fatalf("%d workers: %+v:\n%q, want\n%q", workers, a, got, want)
		}
	}
}

// TestRun compares groups of random tables with the reference.
func TestRun(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(0, 300).Draw(rt, "rows")
		table, columns := predicatetest.Table(t, rapid.SampledFrom([]int{32, 64}).Draw(rt, "word"), predicatetest.Draw(rt, n)...)
		a := &plan.Aggregation{}
		for i := range columns {
			a.Inputs = append(a.Inputs, input(columns, i))
			a.Measures = append(a.Measures, measures(&columns[i], i)...)
		}
		for range rapid.IntRange(0, plan.MaxGroupings).Draw(rt, "groupings") {
			a.Groupings = append(a.Groupings, rapid.IntRange(0, len(columns)-1).Draw(rt, "grouping"))
		}
		check(rt, table, a, rowsOf(rt, uint32(n)))
	})
}

// rowsOf draws a bitset of rows: none, few, all but some, all.
func rowsOf(t *rapid.T, n uint32) []uint64 {
	set := make([]uint64, (n+63)/64)
	most := rapid.SampledFrom([]int{0, 1, 50, 99, 100}).Draw(t, "percent")
	for row := range n {
		if rapid.IntRange(0, 99).Draw(t, "row") < most {
			set[row/64] |= 1 << (row % 64)
		}
	}
	return set
}

// wide is a table of many rows. Columns: few codes, many codes, codes of 64 bits, each with
// some rows without a value.
func wide(tb testing.TB, rows uint32) (*plantest.Table, *plan.Aggregation, []uint64) {
	t := plantest.NewTable(rows, 32)
	codes := [3][]uint64{make([]uint64, rows), make([]uint64, rows), make([]uint64, rows)}
	all := make([]uint64, (rows+63)/64)
	missing := make([]uint64, len(all))
	x := uint64(1)
	for row := range rows {
		x = x*6364136223846793005 + 1442695040888963407
		codes[0][row], codes[1][row], codes[2][row] = x>>60, x>>40, uint64(row%97)*(math.MaxUint64/96)
		all[row/64] |= 1 << (row % 64)
		if x>>50%11 == 0 {
			missing[row/64] |= 1 << (row % 64)
		}
	}
	a := &plan.Aggregation{}
	for i, list := range codes {
		t.AddCodes(tb, list)
		a.Inputs = append(a.Inputs, plan.Input{Column: uint32(i), Last: slices.Max(list)})
		a.Measures = append(a.Measures, plan.Measure{Kind: plan.MeasureSum, Input: i}, plan.Measure{Kind: plan.MeasureCount, Input: i})
	}
	v := t.AddVector(missing)
	a.Inputs[1].Missing, a.Inputs[1].Vector = true, v
	a.Inputs[2].Missing, a.Inputs[2].Vector = true, v
	return t, a, all
}

// TestRunWide has groups of an array and of hash tables over many batches, where goroutines
// number the groups differently.
func TestRunWide(t *testing.T) {
	const rows = 10_000
	table, a, all := wide(t, rows)
	for _, groupings := range [][]int{{0}, {2}, {0, 2}, {2, 0}, {2, 0, 2}, {0, 2, 0, 2}} {
		a.Groupings = groupings
		check(t, table, a, all)
	}
	a.Groupings = []int{1}
	g, err := group.Run(&table.Table, a, all, group.Options{Workers: 3})
	if err != nil {
		t.Fatal(err)
	}
	sum, n := new(big.Int), uint64(0)
	for i := range g.Len() {
		part := g.Sum(4, i)
		sum.Add(sum, part.Big())
		n += g.Rows(i)
	}
	a.Groupings = nil
	whole, err := group.Run(&table.Table, a, all, group.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := whole.Sum(4, 0); n != rows || sum.Cmp(want.Big()) != 0 {
		t.Errorf("the groups have %d rows and the sum %v", n, sum)
	}
}

// TestLimits has groups and codes at the limits and above.
func TestLimits(t *testing.T) {
	table, a, all := wide(t, 5000)
	a.Groupings, a.Measures = []int{2}, []plan.Measure{{Kind: plan.MeasureCodes, Input: 2}}
	for _, test := range []struct {
		opt  group.Options
		want error
	}{
		{group.Options{Groups: 98}, nil}, {group.Options{Groups: 97}, group.ErrGroups},
		{group.Options{Codes: 97}, nil}, {group.Options{Codes: 96}, group.ErrCodes},
	} {
		if _, err := group.Run(&table.Table, a, all, test.opt); !errors.Is(err, test.want) {
			t.Errorf("%+v: %v", test.opt, err)
		}
	}
	ended := errors.New("ended")
	if _, err := group.Run(&table.Table, a, all, group.Options{Ended: func() error { return ended }}); !errors.Is(err, ended) {
		t.Errorf("%v", err)
	}
}

// TestCounts compares the groups of given counts with the groups of rows, for dense and sparse selections
// and rows without a value.
func TestCounts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := uint32(rapid.IntRange(1, 1000).Draw(rt, "rows"))
		last := rapid.Uint64Range(0, 300).Draw(rt, "last")
		table := plantest.NewTable(n, 32)
		codes := rapid.SliceOfN(rapid.Uint64Range(0, last), int(n), int(n)).Draw(rt, "codes")
		set := plantest.DrawFilter(rt, n)
		if set == nil {
			set = make([]uint64, plan.FilterWords(n))
		}
		none := plantest.NewFilter(n, func(row uint32) bool { return row%5 == 3 })
		in := plan.Input{Last: last, Missing: rapid.Bool().Draw(rt, "missing"), Vector: table.AddVector(none)}
		table.AddCodes(t, codes)
		a := &plan.Aggregation{Inputs: []plan.Input{in}, Groupings: []int{0}, Measures: []plan.Measure{{Kind: plan.MeasureCount}}}
		check(rt, table, a, set)
		counts := make([]uint64, last+2)
		for row, code := range codes {
			switch {
			case set[row/64]>>(row%64)&1 == 0:
			case in.Missing && row%5 == 3:
				counts[0]++
			default:
				counts[code+1]++
			}
		}
		values := slices.Clone(counts)
		values[0] = 0
		want, err := group.Run(&table.Table, a, set, group.Options{})
		if err != nil {
			rt.Fatal(err)
		}
		got, err := group.Run(&table.Table, a, set, group.Options{Cells: &plan.Cells{Rows: counts, Values: [][]uint64{values}}})
		if err != nil {
			rt.Fatal(err)
		}
		if got, want := describeGroups(a, got), describeGroups(a, want); !slices.Equal(got, want) {
			rt.Fatalf("%q, want %q", got, want)
		}
		if _, err := group.Run(&table.Table, a, set, group.Options{Cells: &plan.Cells{Rows: counts[1:], Values: [][]uint64{values}}}); err == nil {
			rt.Error("counts of too few codes went through")
		}
	})
}

// TestTiles compares groups with the reference where whole tiles are in one group, and where they are not.
func TestTiles(t *testing.T) {
	const rows = 2*4096 + 1000
	r := rand.New(rand.NewPCG(1, 2))
	shapes := []func(row int) uint64{
		func(row int) uint64 { return uint64(row / 4096) },      // one code a tile
		func(row int) uint64 { return uint64(row) / 5000 },      // one code in some tiles
		func(row int) uint64 { return 1000 + uint64(row)/3 },    // sorted
		func(row int) uint64 { return r.Uint64N(50) },           // few codes
		func(row int) uint64 { return r.Uint64N(1 << 40) },      // wide codes
		func(row int) uint64 { return uint64(row/4096) * 1e18 }, // wide codes, one a tile
	}
	table, a := plantest.NewTable(rows, 32), &plan.Aggregation{}
	none := [][]uint64{
		plantest.NewFilter(rows, func(row uint32) bool { return row/4096 == 1 }),
		plantest.NewFilter(rows, func(row uint32) bool { return row%7 == 0 }),
	}
	for i, shape := range shapes {
		codes := make([]uint64, rows)
		for row := range codes {
			codes[row] = shape(row)
		}
		table.AddCodes(t, codes)
		a.Inputs = append(a.Inputs, plan.Input{Column: uint32(i), Last: slices.Max(codes)})
	}
	for k, set := range none { // the same columns with missing values
		in := a.Inputs[2*k+1]
		in.Missing, in.Vector = true, table.AddVector(set)
		a.Inputs = append(a.Inputs, in)
	}
	sets := [][]uint64{
		plantest.NewFilter(rows, func(uint32) bool { return true }),
		plantest.NewFilter(rows, func(row uint32) bool { return row%3 == 0 || row > 8000 }),
		plantest.NewFilter(rows, func(row uint32) bool { return row%1000 == 0 || row/4096 == 1 }),
		plantest.NewFilter(rows, func(row uint32) bool { return row == 5000 }),
	}
	for i := range a.Inputs[:7] {
		for _, kind := range []plan.MeasureKind{plan.MeasureCount, plan.MeasureSum, plan.MeasureLeast, plan.MeasureGreatest} {
			a.Measures = append(a.Measures, plan.Measure{Kind: kind, Input: i})
		}
	}
	weights := make([]plan.Weight, 50)
	for i := range weights {
		weights[i].Low = r.Uint64N(1 << 40)
	}
	a.Measures = append(a.Measures, plan.Measure{Kind: plan.MeasureSum, Input: 3, Weights: weights})
	for k, groupings := range [][]int{nil, {0}, {1}, nil, {5}, {6}, {7}, {0, 6}} {
		a.Groupings = groupings
		check(t, table, a, sets[k%len(sets)])
	}
}

// TestLanes compares groups with the reference where all rows of tiles are selected and codes have at most 16 bits. Some
// tiles have codes above 16 bits, or rows without a value.
func TestLanes(t *testing.T) {
	const rows = 3*4096 + 500
	r := rand.New(rand.NewPCG(5, 6))
	table, a := plantest.NewTable(rows, 32), &plan.Aggregation{}
	none := table.AddVector(plantest.NewFilter(rows, func(row uint32) bool { return row/4096 == 1 && row%5 == 0 }))
	for i, shape := range []func(row int) uint64{
		func(int) uint64 { return 7 + r.Uint64N(30) },
		func(int) uint64 { return r.Uint64N(100) },
		func(row int) uint64 { return r.Uint64N(60_000) << (row / 8192 * 8) },
	} {
		codes := make([]uint64, rows)
		for row := range codes {
			codes[row] = shape(row)
		}
		table.AddCodes(t, codes)
		in := plan.Input{Column: uint32(i), Last: slices.Max(codes)}
		a.Inputs = append(a.Inputs, in)
		in.Missing, in.Vector = true, none
		a.Inputs = append(a.Inputs, in)
	}
	for i := range a.Inputs {
		for _, kind := range []plan.MeasureKind{plan.MeasureCount, plan.MeasureSum, plan.MeasureLeast, plan.MeasureGreatest} {
			a.Measures = append(a.Measures, plan.Measure{Kind: kind, Input: i})
		}
	}
	weights := make([]plan.Weight, a.Inputs[2].Last+1)
	for i := range weights {
		weights[i].Low = r.Uint64N(1 << 40)
	}
	weighted := plan.Measure{Kind: plan.MeasureSum, Input: 2, Weights: weights}
	a.Measures = append(a.Measures, weighted, plan.Measure{Kind: plan.MeasureCodes, Input: 2})
	all := plantest.NewFilter(rows, func(uint32) bool { return true })
	for _, groupings := range [][]int{{0}, {1}, {2}, {0, 2}, {3, 0}} {
		a.Groupings = groupings
		check(t, table, a, all)
		check(t, table, &plan.Aggregation{Inputs: a.Inputs[:4], Groupings: groupings, Measures: []plan.Measure{{Kind: plan.MeasureSum}, weighted}}, all)
	}
	some := plantest.NewFilter(rows, func(row uint32) bool { return row/64%3 == 1 || row/64%3 == 2 && r.Uint32N(2) == 0 })
	for _, set := range [][]uint64{all, some} {
		check(t, table, &plan.Aggregation{Inputs: a.Inputs[:4], Measures: []plan.Measure{weighted}}, set)
	}
}

// TestPlaces has more groups than plan.Dense, in an array for many rows and in a hash table for few, and
// their limit.
func TestPlaces(t *testing.T) {
	const rows = 1 << 17
	table := plantest.NewTable(rows, 32)
	codes := make([]uint64, rows)
	for row := range codes {
		codes[row] = uint64(row*7919) % 100_003
	}
	table.AddCodes(t, codes)
	a := &plan.Aggregation{Inputs: []plan.Input{{Last: 100_002}}, Groupings: []int{0}, Measures: []plan.Measure{{Kind: plan.MeasureSum}}}
	for _, every := range []uint32{1, 100} {
		want := map[uint64]uint64{}
		set := plantest.NewFilter(rows, func(row uint32) bool { return row%every == 0 })
		for row := 0; row < rows; row += int(every) {
			want[codes[row]]++
		}
		g, err := group.Run(&table.Table, a, set, group.Options{Workers: 2, Groups: len(want)})
		if err != nil || g.Len() != len(want) {
			t.Fatalf("%d groups, %v, want %d", g.Len(), err, len(want))
		}
		last := uint64(0)
		for i := range g.Len() {
			code, _ := g.Code(0, i)
			if sum := g.Sum(0, i); g.Rows(i) != want[code] || sum.Low != code*want[code] || i > 0 && code <= last {
				t.Fatalf("group %d has code %d behind %d, %d rows and the sum %v", i, code, last, g.Rows(i), sum)
			}
			last = code
		}
		if _, err := group.Run(&table.Table, a, set, group.Options{Groups: len(want) - 1}); !errors.Is(err, group.ErrGroups) {
			t.Errorf("%d groups: %v", len(want), err)
		}
	}
}
