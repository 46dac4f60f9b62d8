package engine

import (
	"testing"

	"heddle/engine/plan"
)

// TestTableAllocations allows calls with prepared predicates no allocation in a steady
// state: on pure Go alone and beside a device.
func TestTableAllocations(t *testing.T) {
	skipRace(t)
	for name, opt := range map[string]Options{"host": {Backend: "host"}, "host and device": beside(t, newTableDevice(t, "device"))} {
		opt.Schedule.Policy = "wu-async"
		x := openTable(t, opt)
		var all []Selection
		for _, w := range wheres {
			p, err := x.Prepare(t.Context(), Selection{Where: w})
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, Selection{Prepared: p})
		}
		deliver := func(int, []Rows) error { return nil }
		batch := func() {
			if err := x.SelectAll(t.Context(), all, deliver); err != nil {
				t.Error(err)
			}
		}
		single := all[0]
		single.Output = plan.OutputCounts
		count := func() {
			if _, err := x.Select(t.Context(), single); err != nil {
				t.Error(err)
			}
		}
		bits, memory := all[0], make([]uint64, len(wantedBits(0)))
		lent := func() {
			r, err := x.Select(t.Context(), bits)
			if err != nil || r.Count == 0 || len(r.Bits) != len(memory) {
				t.Error(r, err)
			}
			r.Release()
		}
		into := all[0]
		into.Into = memory
		copied := func() {
			if r, err := x.Select(t.Context(), into); err != nil || r.Count == 0 || &r.Bits[0] != &memory[0] {
				t.Error(r, err)
			}
		}
		for _, f := range []func(){batch, count, lent, copied} {
			for range 10 {
				f()
			}
			// A collection of garbage empties the pools.
			if n := testing.AllocsPerRun(100, f); n >= 1 {
				t.Errorf("%s: %v allocations a call in a steady state", name, n)
			}
		}
	}
}
