package bitmap

import (
	"slices"
	"testing"

	"heddle/cl/internal/device"
	"heddle/cl/internal/device/devicetest"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
)

// TestPairs adds up one column in groups by another one, with cells in local memory, in global memory, and in trials that fail at
// once, later and never, of rows in bounds of either column, in other columns and in vectors. It compares the cells with
// sums row by row.
func TestPairs(t *testing.T) {
	const rows = 130_077
	r := plantest.RNG(t)
	tab := plantest.NewTable(rows, 32)
	tab.AddVector(plantest.NewFilter(rows, func(uint32) bool { return r.IntN(3) == 0 }))
	var inputs []plan.Input
	for _, code := range []func(row uint64) uint64{
		func(uint64) uint64 { return 3 },
		func(uint64) uint64 { return r.Uint64N(64) },
		func(row uint64) uint64 { return row / 5000 },
		func(uint64) uint64 { return r.Uint64N(900) },
		func(uint64) uint64 { return 5 + r.Uint64N(100)/57*r.Uint64N(900) }, // most rows have one code
		func(row uint64) uint64 {
			if row/4096%2 > 0 && row%2 > 0 {
				return 7
			}
			return r.Uint64N(900)
		},
		func(uint64) uint64 { return r.Uint64N(5000) },
		func(uint64) uint64 { return 40_000 + r.Uint64N(1<<14) },
		func(uint64) uint64 { return r.Uint64N(200) / 199 * r.Uint64N(1<<20) }, // sparse slices
		func(uint64) uint64 { return 1<<32 - 1 - r.Uint64N(1<<20) },
		func(uint64) uint64 { return r.Uint64() >> 32 },
		func(row uint64) uint64 { return row / 9000 % 2 << 20 }, // slices of zeros and of ones
	} {
		codes := make([]uint64, rows)
		for row := range codes {
			codes[row] = code(uint64(row))
		}
		inputs = append(inputs, plan.Input{Column: tab.AddTiles(t, codes, nil), Last: slices.Max(codes)})
	}
	selections := func(group, sum uint32) []*plan.SelectBatch {
		var vector, both plan.SelectBatch
		vector.Any(0)
		both.Do(plan.StepAll)
		both.Check(1, plan.CodeRange{Lo: 3, Hi: 20})
		both.Check(7, plan.CodeRange{Lo: 40_100, Hi: 50_000})
		all := []*plan.SelectBatch{&vector, &both}
		for _, c := range []uint32{group, sum} {
			codes := tab.Codes[c]
			least, most := slices.Min(codes), slices.Max(codes)
			for _, in := range []plan.CodeRange{{Lo: least + (most-least)/4, Hi: most - (most-least)/3}, {Lo: least, Hi: least}, {Lo: most, Hi: most + 1<<33}, {Lo: most + 1, Hi: most + 1<<20}} {
				var bounds plan.SelectBatch
				bounds.Do(plan.StepAll)
				bounds.Check(c, in)
				all = append(all, &bounds)
			}
		}
		for _, s := range all {
			s.End()
		}
		return all
	}
	devicetest.ForShapes(t, devicetest.Find(t, ops), func(t *testing.T, rt *device.Runtime) {
		rt.Tuning.GroupLocal, rt.Info.ComputeUnits = 4096, 16
		s, err := load(t.Context(), rt, &tab.Table)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		next := 0
		for by := range uint32(7) {
			for of := range uint32(len(inputs)) {
				a := &plan.Aggregation{Inputs: inputs, Groupings: []int{int(by)}, Measures: []plan.Measure{{Kind: plan.MeasureSum, Input: int(of)}}}
				all := selections(by, of)
				if of == 0 {
					a.Measures = nil
				}
				for range 2 {
					sel := all[next%len(all)]
					next++
					cells, err := s.measure(t.Context(), sel, a)
					if err != nil {
						t.Fatal(err)
					}
					if err := compareCells(tab, a, tab.Scan(sel)[0], cells); err != nil {
						t.Errorf("sum of column %d by column %d, selection %d: %v", of, by, (next-1)%len(all), err)
					}
				}
			}
		}
	})
}
