package group_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/engine/table/column"
	"heddle/engine/table/group"
)

// TestCells compares groups of given cells with groups of the rows: sums of integers, of weights, and of floats that are
// multiples of a power of two or not, ends, and frequencies of codes, by one and two columns, with rows without a value.
func TestCells(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const rows = 100
		tab := plantest.NewTable(rows, 32)
		scale := rapid.Uint8Range(1, 15).Draw(rt, "scale")
		_, divisor, _ := (&plan.Measure{Kind: plan.MeasureFloats, Base: 1 << 63, Scale: scale}).Binary()
		first := rapid.Int64Range(-1000, 1000).Draw(rt, "first")
		a := &plan.Aggregation{Groupings: []int{0, 1}[:rapid.IntRange(0, 2).Draw(rt, "groupings")]}
		a.Measures = []plan.Measure{{Kind: plan.MeasureCount, Input: 2}, {Kind: plan.MeasureSum, Input: 2},
			{Kind: plan.MeasureFloats, Input: 3, Base: 1<<63 + uint64(first)*divisor, Scale: scale},
			{Kind: plan.MeasureLeast, Input: 2}, {Kind: plan.MeasureGreatest, Input: 2},
			{Kind: plan.MeasureCodes, Input: 2}, {Kind: plan.MeasureSum, Input: 2, Weights: make([]plan.Weight, 1001)},
			{Kind: plan.MeasureSum, Input: 2, Weights: make([]plan.Weight, 1001)}, {Kind: plan.MeasureFloats, Input: 2, Keys: make([]uint64, 1001)}}
		for i := range uint64(1001) {
			a.Measures[6].Weights[i].Low = i * i
			a.Measures[7].Weights[i] = plan.Weight{High: i << 52, Low: i << 60}
			a.Measures[8].Keys[i] = column.FloatKey(1 / float64(i+1))
		}
		missing := tab.AddVector(plantest.NewFilter(rows, func(row uint32) bool { return row%3 == 1 }))
		var codes [4][]uint64
		for i, most := range []uint64{3, 2, 1000, 1000} {
			in := plan.Input{Column: uint32(i), Last: most, Vector: missing, Missing: rapid.Bool().Draw(rt, "missing")}
			for range rows {
				codes[i] = append(codes[i], rapid.Uint64Range(0, most).Draw(rt, "code"))
			}
			stored := slices.Clone(codes[i])
			if i == 3 {
				in.Last *= divisor
				for row := range stored {
					stored[row] *= divisor
				}
			}
			tab.AddCodes(t, stored)
			a.Inputs = append(a.Inputs, in)
		}
		set := rowsOf(rt, rows)
		number := func(i int, row uint32) uint64 { // in a grouping
			if a.Inputs[i].Missing && row%3 == 1 {
				return 0
			}
			return codes[i][row] + 1
		}
		places := uint64(1)
		for _, i := range a.Groupings {
			places *= a.Inputs[i].Last + 2
		}
		list := func() []uint64 { return make([]uint64, places) }
		cells := &plan.Cells{Rows: list(), Values: make([][]uint64, 4), Sums: [][]uint64{nil, list(), list(), 8: nil}, Ends: [][]uint64{3: list(), 4: list()}}
		counts := make([]uint64, places*1002)
		cells.Codes = [][]uint64{5: counts, 6: counts, 7: counts, 8: counts}
		for place := range cells.Ends[3] {
			cells.Ends[3][place] = math.MaxUint64
		}
		for i, in := range a.Inputs {
			if in.Missing {
				cells.Values[i] = list()
			}
		}
		for row := range uint32(rows) {
			if set[row/64]>>(row%64)&1 == 0 {
				continue
			}
			place := uint64(0)
			for _, i := range a.Groupings {
				place = place*(a.Inputs[i].Last+2) + number(i, row)
			}
			cells.Rows[place]++
			for i := range a.Inputs {
				n := number(i, row)
				if n == 0 {
					continue
				}
				if a.Inputs[i].Missing {
					cells.Values[i][place]++
				}
				if i >= 2 {
					cells.Sums[i-1][place] += n - 1
				}
				if i == 2 {
					counts[place*1002+n]++
					cells.Ends[3][place], cells.Ends[4][place] = min(cells.Ends[3][place], n-1), max(cells.Ends[4][place], n-1)
				}
			}
		}
		want, err := group.Run(&tab.Table, a, set, group.Options{Workers: 1})
		if err != nil {
			rt.Fatal(err)
		}
		got, err := group.Run(&tab.Table, a, set, group.Options{Cells: cells})
		if err != nil {
			rt.Fatal(err)
		}
		if got, want := describeGroups(a, got), describeGroups(a, want); !slices.Equal(got, want) {
			rt.Fatalf("%q, want %q", got, want)
		}
		pairs := 0
		for _, n := range counts {
			pairs += int(min(n, 1))
		}
		if _, err := group.Run(&tab.Table, a, set, group.Options{Cells: cells, Codes: 1}); errors.Is(err, group.ErrCodes) != (pairs > 1) {
			rt.Fatalf("%d codes, limit 1: %v", pairs, err)
		}
		cells.Sums[2] = cells.Sums[2][1:]
		if _, err := group.Run(&tab.Table, a, set, group.Options{Cells: cells}); err == nil {
			rt.Fatal("sums of other groups are taken")
		}
	})
}
