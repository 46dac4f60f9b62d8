package group_test

import (
	"testing"

	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/engine/table/group"
)

// TestTilesAllocateNothing: the allocations of a call do not grow with its tiles.
func TestTilesAllocateNothing(t *testing.T) {
	allocations := func(tiles uint32) float64 {
		rows := tiles * 4096
		table, codes := plantest.NewTable(rows, 32), make([]uint64, rows)
		for row := range codes {
			codes[row] = uint64(row*7919) % 100_003
		}
		table.AddCodes(t, codes)
		none := table.AddVector(plantest.NewFilter(rows, func(row uint32) bool { return row%9 == 0 }))
		a := &plan.Aggregation{Inputs: []plan.Input{{Last: 100_002, Missing: true, Vector: none}}}
		for _, kind := range []plan.MeasureKind{plan.MeasureSum, plan.MeasureLeast, plan.MeasureGreatest, plan.MeasureCount} {
			a.Measures = append(a.Measures, plan.Measure{Kind: kind})
		}
		some := plantest.NewFilter(rows, func(row uint32) bool { return row%3 > 0 })
		return testing.AllocsPerRun(3, func() {
			if _, err := group.Run(&table.Table, a, some, group.Options{Workers: 1}); err != nil {
				t.Fatal(err)
			}
		})
	}
	if few, many := allocations(10), allocations(110); many > few+20 {
		t.Errorf("%v allocations for 10 tiles, %v for 110", few, many)
	}
}
