package bitmap

import (
	"testing"
	"time"

	"heddle/cl/internal/device"
	"heddle/cl/internal/device/devicetest"
	"heddle/engine/plan"
)

// TestPrepare: after Prepare, no selection and no group-by builds a program or uploads values. It logs the times of the first
// group-by of a store without Prepare, and of one with it.
func TestPrepare(t *testing.T) {
	d := devicetest.Find(t, ops)
	for _, prepared := range []bool{false, true} {
		faults := devicetest.NewFaults()
		b, err := device.Open(t.Context(), d, device.Options{Fault: faults.Hook})
		if err != nil {
			t.Fatal(err)
		}
		tab, sel, want := question(t, 32)
		s, err := Load(t.Context(), b, tab)
		if err != nil {
			t.Fatal(err)
		}
		if prepared {
			s.Prepare(true)
			s.preparing.work.Wait()
		}
		faults.Disarm() // counts from here
		var all plan.SelectBatch
		all.Do(plan.StepAll)
		all.Check(0, plan.CodeRange{Hi: 1 << 40})
		all.End()
		began := time.Now()
		in := plan.Input{}
		for _, tile := range tab.Columns[0].Tiles {
			in.Last = max(in.Last, tile.Max())
		}
		binned := in
		binned.Bounds = []uint64{1, 5, 1 << 30}
		for _, a := range []*plan.Aggregation{
			{Inputs: []plan.Input{binned, in}, Groupings: []int{0}, Measures: []plan.Measure{{Kind: plan.MeasureCount, Input: 1}}},
			{Inputs: []plan.Input{in}, Measures: []plan.Measure{{Kind: plan.MeasureGreatest}}},
		} {
			if _, err := s.Measure(t.Context(), &all, a); err != nil {
				t.Fatal(err)
			}
		}
		t.Logf("prepared: %t, the first groups take %v", prepared, time.Since(began))
		var out plan.Rows
		if err := s.Select(t.Context(), sel, &out); err != nil || !sameRows(&out, want) {
			t.Errorf("other rows: %v", err)
		}
		if n := faults.Count("build"); prepared != (n == 0) {
			t.Errorf("prepared: %t, queries build %d programs", prepared, n)
		}
		if prepared && s.values.Load() == nil {
			t.Error("values are not on the device")
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if n := b.Memory.InUse(); n != 0 {
			t.Errorf("%d bytes are still reserved", n)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestPrepareEnds closes stores at once, and while queries wait for values.
func TestPrepareEnds(t *testing.T) {
	d := devicetest.Find(t, ops)
	b := devicetest.OpenRow(t, d, d.Tuning(), false)
	tab, sel, want := question(t, 32)
	for i := range 6 {
		s, err := load(t.Context(), b, tab)
		if err != nil {
			t.Fatal(err)
		}
		s.Prepare(i%3 == 2)
		if i%2 == 1 {
			var out plan.Rows
			if err := s.Select(t.Context(), sel, &out); err != nil || !sameRows(&out, want) {
				t.Errorf("other rows: %v", err)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if n := b.Memory.InUse(); n != 0 {
			t.Errorf("%d bytes are still reserved", n)
		}
	}
}
