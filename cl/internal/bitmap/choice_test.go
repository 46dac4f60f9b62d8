package bitmap

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"heddle/cl/internal/device"
	"heddle/cl/internal/device/devicetest"
	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
)

// TestStrategyOf lets auto take ideal hybrid only for ORs of many vectors of a small table.
func TestStrategyOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		units, tiles := rapid.IntRange(1, 200).Draw(t, "compute units"), rapid.IntRange(1, 200).Draw(t, "tiles")
		widths := rapid.SliceOfN(rapid.SampledFrom([]int{1, 127, 128, 300}), 1, 3).Draw(t, "vectors of ORs")
		s := &Store{rt: &device.Runtime{}, dir: &directory{tiles: tiles}}
		s.rt.Info.ComputeUnits = units
		s.rt.Tuning.Serial = rapid.Bool().Draw(t, "serial")
		var sel plan.SelectBatch
		vectors := 0
		for _, n := range widths {
			sel.Any(make([]uint32, n)...)
			sel.End()
			vectors += n
		}
		want := plan.Fused
		if !s.rt.Tuning.Serial && 2*tiles*len(widths) <= units && vectors >= 128*len(widths) {
			want = plan.IdealHybrid
		}
		if got := s.strategyOf(&sel); got != want {
			t.Errorf("%v, want %v", got, want)
		}
		if sel.Strategy = plan.Fused; s.strategyOf(&sel) != plan.Fused {
			t.Error("auto overrides the caller")
		}
	})
}

// TestAutoIdeal compares the rows of auto, where it takes ideal hybrid, with the rows of fused.
func TestAutoIdeal(t *testing.T) {
	testneeds.OneCaller(t)
	d := devicetest.Find(t, ops).With(func(info *plan.Info, row *device.Tuning) {
		info.ComputeUnits, row.Serial, row.NVShuffle = 1000, false, false
	})
	rt := devicetest.OpenRow(t, d, d.Tuning(), false)
	tab, groups := groupedVectors(50_000, 64)
	s, err := load(t.Context(), rt, &tab.Table)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	sel := plan.SelectBatch{Output: plan.OutputBits}
	many := make([]uint32, idealVectors)
	for i := range many {
		many[i] = uint32(i % (len(groups) / 2))
	}
	sel.Any(many...)
	sel.End()
	if s.strategyOf(&sel) != plan.IdealHybrid {
		t.Fatalf("auto takes %v", s.strategyOf(&sel))
	}
	var auto, fused plan.Rows
	if err := s.Select(t.Context(), &sel, &auto); err != nil {
		t.Fatal(err)
	}
	sel.Strategy = plan.Fused
	if err := s.Select(t.Context(), &sel, &fused); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(auto.Bits, fused.Bits) || !slices.Equal(auto.Counts, fused.Counts) || auto.Counts[0] == 0 {
		t.Errorf("%d rows by ideal hybrid, %d by fused", auto.Counts, fused.Counts)
	}
}
