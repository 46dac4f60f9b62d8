package bitmap

import (
	"slices"
	"testing"

	"heddle/cl/internal/device"
	"heddle/cl/internal/device/devicetest"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
)

// TestLocalEdges counts codes, and adds them up in groups, where the counters or cells just fit local memory, and where they
// do not. Most rows have the first or the last code, and sums of lower halves overflow.
func TestLocalEdges(t *testing.T) {
	const rows = 3001
	tab := plantest.NewTable(rows, 32)
	all := plantest.NewFilter(rows, func(uint32) bool { return true })
	tab.AddVector(all)
	var sel plan.SelectBatch
	sel.Any(0)
	sel.End()
	add := func(last uint64) plan.Input {
		codes := make([]uint64, rows)
		for r := range codes {
			codes[r] = []uint64{0, last, last - 1, uint64(r) * 7 % (last + 1), last}[r%5]
		}
		return plan.Input{Column: tab.AddCodes(t, codes), Last: last}
	}
	var counted, grouped []plan.Input
	for n := range uint64(4) {
		counted = append(counted, add(facetLocal-5+n))
		grouped = append(grouped, add(groupCells-4+n))
	}
	summed := []plan.Input{add(1<<32 - 1), add(1<<33 + 5)}
	grouped = append(grouped, add(1), add(measureCells/4-3), add(measureCells/4-2), add(measureCells/4-1))
	devicetest.ForShapes(t, devicetest.Find(t, ops), func(t *testing.T, rt *device.Runtime) {
		s, err := load(t.Context(), rt, &tab.Table)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		got, err := s.countCodes(t.Context(), all, counted)
		if err != nil {
			t.Fatal(err)
		}
		for i, in := range counted {
			want := make([]uint64, in.Last+2)
			for _, code := range tab.Codes[in.Column] {
				want[code+1]++
			}
			if !slices.Equal(got[i], want) {
				t.Errorf("codes up to %d have other numbers", in.Last)
			}
		}
		for i, by := range grouped {
			a := plan.Aggregation{Inputs: append([]plan.Input{by}, summed...), Groupings: []int{0}}
			if i > 3 {
				a.Measures = []plan.Measure{{Kind: plan.MeasureSum, Input: 1}, {Kind: plan.MeasureSum, Input: 2}}
			}
			cells, err := s.measure(t.Context(), &sel, &a)
			if err != nil {
				t.Fatal(err)
			}
			counts, sums := make([]uint64, by.Last+2), [2][]uint64{make([]uint64, by.Last+2), make([]uint64, by.Last+2)}
			for r, code := range tab.Codes[by.Column] {
				counts[code+1]++
				for k, in := range summed {
					sums[k][code+1] += tab.Codes[in.Column][r]
				}
			}
			if !slices.Equal(cells.Rows, counts) {
				t.Errorf("groups of codes up to %d have other numbers of rows", by.Last)
			}
			for k := range a.Measures {
				if !slices.Equal(cells.Sums[k], sums[k]) {
					t.Errorf("groups of codes up to %d have other sums of column %d", by.Last, k)
				}
			}
		}
	})
}
