package bitmap

import (
	"slices"
	"testing"
	"unsafe"

	"heddle/cl/internal/device"
	"heddle/cl/internal/device/devicetest"
	"heddle/engine/plan"
)

// TestCollect takes the counts of a round. A count above the number of rows is an error.
func TestCollect(t *testing.T) {
	words := []uint32{9, 9, 9, 9, 70, 0, 100}
	x := &slot{Flight: device.Flight{Device: &device.Runtime{}, Down: &device.Pinned{Words: words}}, store: &Store{t: &plan.Table{Rows: 100}}}
	x.cut.first, x.cut.count = 1, 3
	out := &plan.Rows{Counts: make([]uint32, 5)}
	if err := x.collect(out); err != nil || !slices.Equal(out.Counts, []uint32{0, 70, 0, 100, 0}) {
		t.Errorf("counts %v, %v", out.Counts, err)
	}
	if words[6]++; x.collect(out) == nil {
		t.Error("101 of 100 rows")
	}
}

// TestColumnsGiveUp finds the mark of a group that waited in vain, once, and grows the state of look-back.
func TestColumnsGiveUp(t *testing.T) {
	d := devicetest.Find(t, ops)
	rt := devicetest.OpenRow(t, d, devicetest.Forms(d)["local, look-back"], false)
	tab, groups := groupedVectors(20_000, 32)
	n := newColumnsRun(t, rt, &tab.Table)
	for _, vectors := range []int{2, 200} {
		var s plan.SelectBatch
		for v := range vectors {
			s.Operands = append(s.Operands, uint32(v%len(groups)))
		}
		s.Steps, s.Strategy, s.Rescan = []plan.Step{{Code: plan.StepAny, To: uint32(vectors)}}, plan.Hybrid, true
		s.End()
		if err := n.run(&s); err != nil {
			t.Fatal(err)
		}
		if n.scan.Look == nil {
			t.Skip("groups make no progress")
		}
		n.checkColumns(t, groups, &s)
		check := func() error { return n.check(t.Context()) }
		if err := check(); err != nil {
			t.Fatal(err)
		}
		failed := uint32(1)
		if err := rt.Do(func() error {
			e, err := n.x.Queue.EnqueueWriteBuffer(n.scan.Look.State, true, 4, 4, unsafe.Pointer(&failed), nil)
			if err == nil {
				e.Release()
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if check() == nil {
			t.Error("a group that gave up goes unnoticed")
		}
		if err := n.run(&s); err != nil {
			t.Fatal(err)
		}
		if err := check(); err != nil {
			t.Errorf("the launch after it: %v", err)
		}
		n.checkColumns(t, groups, &s)
	}
}
