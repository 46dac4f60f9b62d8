package bitmap

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"heddle/cl/internal/device"
	"heddle/cl/internal/device/devicetest"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
)

// TestGroups counts, sums and finds ends in groups by up to four narrow columns, whose tiles have any least code, all forms of slices, and
// rows without a value, of selections in slices, in vectors and in many ranges. It compares the kernels of cells in local and in
// global memory with sums row by row.
func TestGroups(t *testing.T) {
	const rows = 4096*17 + 77
	r := plantest.RNG(t)
	tab := plantest.NewTable(rows, 32)
	tab.AddVector(plantest.NewFilter(rows, func(uint32) bool { return r.IntN(3) == 0 }))
	var inputs []plan.Input
	for i, code := range []func(row uint32) uint64{
		func(uint32) uint64 { return 3 },
		func(uint32) uint64 { return r.Uint64N(7) },
		func(row uint32) uint64 { return uint64(row) / 5000 },
		func(uint32) uint64 {
			return r.Uint64N(2) * r.Uint64N(2) * r.Uint64N(2) * r.Uint64N(2) * r.Uint64N(2) * r.Uint64N(9)
		},
		func(uint32) uint64 { return r.Uint64N(3000) },
		func(uint32) uint64 { return 1<<32 - 1 - r.Uint64N(1<<20) },
		func(row uint32) uint64 { return 40_000 + uint64(row)/3 },
		func(row uint32) uint64 { return r.Uint64() >> 32 },
	} {
		codes := make([]uint64, rows)
		for row := range codes {
			codes[row] = code(uint32(row))
		}
		var has []uint64
		if i%2 == 1 {
			has = plantest.NewFilter(rows, func(row uint32) bool { return row/4096 == 2 || r.IntN(9) > 0 })
		}
		inputs = append(inputs, plan.Input{Column: tab.AddTiles(t, codes, has), Last: slices.Max(codes)})
	}
	var few, many, vector, none plan.SelectBatch
	few.Do(plan.StepAll)
	few.Check(4, plan.CodeRange{Hi: 20})
	many.Do(plan.StepAll)
	many.Check(5, plantest.RandomRanges(r, tab.Codes[5][:40])...)
	many.Do(plan.StepNot)
	vector.Any(0)
	none.Do(plan.StepAll)
	none.Check(1, plan.CodeRange{Lo: 7, Hi: 9})
	selections := []*plan.SelectBatch{&few, &many, &vector, &none}
	for _, s := range selections {
		s.End()
	}
	groupings := [][]int{{0}, {1}, {2, 1}, {3, 0, 2, 1}, {4}, {4, 1}, {6}, {2, 3}}
	measures := [][]int{{}, {4}, {5, 7}, {1, 3, 6, 7}}
	devicetest.ForShapes(t, devicetest.Find(t, ops), func(t *testing.T, rt *device.Runtime) {
		s, err := load(t.Context(), rt, &tab.Table)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for i, by := range groupings {
			a := &plan.Aggregation{Inputs: inputs, Groupings: by}
			for _, in := range measures[i%len(measures)] {
				a.Measures = append(a.Measures, plan.Measure{Kind: plan.MeasureSum, Input: in})
				if i%3 < 2 {
					a.Measures = append(a.Measures, plan.Measure{Kind: plan.MeasureGreatest, Input: in})
				}
				if i%3 > 0 {
					a.Measures = append(a.Measures, plan.Measure{Kind: plan.MeasureLeast, Input: in})
				}
			}
			for k, sel := range selections {
				cells, err := s.measure(t.Context(), sel, a)
				if err != nil {
					t.Fatal(err)
				}
				if err := compareCells(tab, a, tab.Scan(sel)[0], cells); err != nil {
					t.Errorf("groups by %v, selection %d: %v", by, k, err)
				}
			}
		}
	})
}

// TestTotals counts and sums the rows of ranges that end at codes of a column and beside them, of all kinds of columns.
func TestTotals(t *testing.T) {
	const rows = 4096*9 + 129
	tab := slicedTable(t, rows)
	devicetest.ForShapes(t, devicetest.Find(t, ops), func(t *testing.T, rt *device.Runtime) {
		r := plantest.RNG(t)
		s, err := load(t.Context(), rt, &tab.Table)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for c := range uint32(len(tab.Columns)) {
			a := &plan.Aggregation{Inputs: []plan.Input{{Column: 2, Last: slices.Max(tab.Codes[2])}, {Column: c, Last: slices.Max(tab.Codes[c])}},
				Measures: []plan.Measure{{Kind: plan.MeasureSum}, {Kind: plan.MeasureCount, Input: 1}}}
			for i, ranges := range boundaries(r, tab.Codes[c]) {
				if i%3 != int(c)%3 {
					continue
				}
				var sel plan.SelectBatch
				sel.Do(plan.StepAll)
				sel.Check(c, ranges...)
				sel.End()
				cells, err := s.measure(t.Context(), &sel, a)
				if err != nil {
					t.Fatal(err)
				}
				if err := compareCells(tab, a, tab.Scan(&sel)[0], cells); err != nil {
					t.Errorf("column %d in %v: %v", c, ranges[:min(len(ranges), 5)], err)
				}
			}
		}
	})
}

// compareCells compares cells with numbers and sums row by row.
func compareCells(tab *plantest.Table, a *plan.Aggregation, set []uint64, cells *plan.Cells) error {
	has := func(in, row int) bool {
		h := tab.Has[a.Inputs[in].Column]
		return h == nil || h[row/64]>>(row%64)&1 != 0
	}
	n := len(cells.Rows)
	lists := func() [][]uint64 { return make([][]uint64, len(a.Measures)) }
	rows, values, sums, high, least, greatest := make([]uint64, n), lists(), lists(), lists(), lists(), lists()
	for i := range a.Measures {
		values[i], sums[i], high[i] = make([]uint64, n), make([]uint64, n), make([]uint64, n)
		least[i], greatest[i] = slices.Repeat([]uint64{math.MaxUint64}, n), make([]uint64, n)
	}
	for row := range int(tab.Rows) {
		if set[row/64]>>(row%64)&1 == 0 {
			continue
		}
		place := uint64(0)
		for _, in := range a.Groupings {
			place *= a.Inputs[in].Last + 2
			if has(in, row) {
				place += tab.Codes[a.Inputs[in].Column][row] + 1
			}
		}
		rows[place]++
		for i, m := range a.Measures {
			if has(m.Input, row) {
				code, carry := tab.Codes[a.Inputs[m.Input].Column][row], uint64(0)
				values[i][place]++
				sums[i][place], carry = bits.Add64(sums[i][place], code, 0)
				high[i][place] += carry
				least[i][place], greatest[i][place] = min(least[i][place], code), max(greatest[i][place], code)
			}
		}
	}
	if !slices.Equal(rows, cells.Rows) {
		return fmt.Errorf("%d places have other numbers of rows", n)
	}
	for i, m := range a.Measures {
		got := cells.Values[m.Input]
		if (got == nil) != (tab.Has[a.Inputs[m.Input].Column] == nil) || got != nil && !slices.Equal(got, values[i]) {
			return fmt.Errorf("other numbers of values of input %d", m.Input)
		}
		if m.Kind == plan.MeasureSum && !slices.Equal(cells.Sums[i], sums[i]) {
			return fmt.Errorf("other sums of input %d", m.Input)
		}
		if m.Kind == plan.MeasureSum && slices.Max(high[i]) > 0 && !slices.Equal(cells.High[i], high[i]) {
			return fmt.Errorf("other upper halves of sums of input %d", m.Input)
		}
		for place, n := range values[i] {
			if n > 0 && (m.Kind == plan.MeasureLeast && cells.Ends[i][place] != least[i][place] || m.Kind == plan.MeasureGreatest && cells.Ends[i][place] != greatest[i][place]) {
				return fmt.Errorf("input %d of place %d ends at %d, want %d or %d", m.Input, place, cells.Ends[i][place], least[i][place], greatest[i][place])
			}
		}
	}
	return nil
}

// checkMeasure compares an aggregation of a selection with the plain rows.
func checkMeasure(t *testing.T, s *Store, tab *plantest.Table, sel *plan.SelectBatch, a *plan.Aggregation) {
	t.Helper()
	cells, err := s.measure(t.Context(), sel, a)
	if err != nil {
		t.Fatal(err)
	}
	if err := compareCells(tab, a, tab.Scan(sel)[0], cells); err != nil {
		t.Errorf("groups by %v: %v", a.Groupings, err)
	}
}

// TestLongSums adds up codes near 2^63, with and without groups, one of which has 57 % of the rows, and finds their ends.
func TestLongSums(t *testing.T) {
	const rows = 20_000
	r := plantest.RNG(t)
	tab := plantest.NewTable(rows, 32)
	tab.AddVector(plantest.NewFilter(rows, func(uint32) bool { return r.IntN(5) > 0 }))
	var inputs []plan.Input
	for i, code := range []func() uint64{
		func() uint64 { return min(r.Uint64N(100), 43) },
		func() uint64 { return 1<<63 - 1 - r.Uint64N(1<<40) },
		func() uint64 { return r.Uint64() >> r.IntN(60) },
		func() uint64 { return r.Uint64N(5_000) },
	} {
		codes := make([]uint64, rows)
		for row := range codes {
			codes[row] = code()
		}
		var has []uint64
		if i == 2 {
			has = plantest.NewFilter(rows, func(uint32) bool { return r.IntN(9) > 0 })
		}
		inputs = append(inputs, plan.Input{Column: tab.AddTiles(t, codes, has), Last: slices.Max(codes)})
	}
	var sel plan.SelectBatch
	sel.Any(0)
	sel.End()
	devicetest.ForShapes(t, devicetest.Find(t, ops), func(t *testing.T, rt *device.Runtime) {
		s, err := load(t.Context(), rt, &tab.Table)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for _, by := range [][]int{nil, {0}, {3}} {
			a := &plan.Aggregation{Inputs: inputs, Groupings: by}
			for _, in := range []int{1, 2} {
				for _, kind := range []plan.MeasureKind{plan.MeasureSum, plan.MeasureLeast, plan.MeasureGreatest} {
					a.Measures = append(a.Measures, plan.Measure{Kind: kind, Input: in})
				}
			}
			checkMeasure(t, s, tab, &sel, a)
		}
	})
}

// TestNoRows: a table without rows has no group but the one of all rows, without least and greatest values.
func TestNoRows(t *testing.T) {
	tab := plantest.NewTable(0, 32)
	a := &plan.Aggregation{}
	for i := range 2 {
		a.Inputs = append(a.Inputs, plan.Input{Column: tab.AddTiles(t, []uint64{}, nil), Last: 1 << 40})
		a.Measures = append(a.Measures, plan.Measure{Kind: plan.MeasureLeast, Input: i}, plan.Measure{Kind: plan.MeasureGreatest, Input: i}, plan.Measure{Kind: plan.MeasureSum, Input: i})
	}
	var sel plan.SelectBatch
	sel.Do(plan.StepAll)
	sel.End()
	devicetest.ForShapes(t, devicetest.Find(t, ops), func(t *testing.T, rt *device.Runtime) {
		s, err := load(t.Context(), rt, &tab.Table)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for _, by := range [][]int{nil, {0}} {
			a.Groupings = by
			if by != nil {
				a.Inputs[0].Last = 9
			}
			checkMeasure(t, s, tab, &sel, a)
		}
	})
}

// TestGroupsSkewed has a group of 57 % of the rows, whose sums of local cells are near their limit, in one work-group and more.
func TestGroupsSkewed(t *testing.T) {
	const rows = 1 << 17
	r := rand.New(rand.NewPCG(5, 7))
	tab := plantest.NewTable(rows, 32)
	for _, most := range []uint64{1, 1<<18 - 1, 1<<32 - 1} {
		codes := make([]uint64, rows)
		for row := range codes {
			if codes[row] = most; most == 1 && r.IntN(100) < 57 {
				codes[row] = 0
			}
		}
		tab.AddTiles(t, codes, nil)
	}
	a := &plan.Aggregation{Inputs: []plan.Input{{Column: 0, Last: 1}, {Column: 1, Last: 1<<18 - 1}, {Column: 2, Last: 1<<32 - 1}}, Groupings: []int{0},
		Measures: []plan.Measure{{Kind: plan.MeasureSum, Input: 1}, {Kind: plan.MeasureSum, Input: 2}}}
	var sel plan.SelectBatch
	sel.Do(plan.StepAll)
	sel.Check(1, plan.CodeRange{Hi: 1 << 20})
	sel.End()
	devicetest.ForShapes(t, devicetest.Find(t, ops), func(t *testing.T, rt *device.Runtime) {
		s, err := load(t.Context(), rt, &tab.Table)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		checkMeasure(t, s, tab, &sel, a)
	})
}
