package bitmap

import (
	"fmt"
	"testing"

	"heddle/cl/internal/device"
	"heddle/cl/internal/device/devicetest"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
)

// TestSlicesCompared compares columns of all kinds with one another, alone, under NOT, beside checks and vectors, whose tiles
// differ in width and least code and lie in one buffer or in several, with the plain evaluator.
func TestSlicesCompared(t *testing.T) {
	const rows = 4096*10 + 129
	d := devicetest.Find(t, ops)
	r := plantest.RNG(t)
	tab := slicedTable(t, rows)
	sel := &plan.SelectBatch{}
	for range 60 {
		sel.Do(plan.StepAll)
		c := plantest.RandomComparison(r, tab)
		sel.Compare(c)
		switch r.IntN(5) {
		case 0:
			sel.Do(plan.StepNot)
		case 1:
			sel.Check(c.Columns[0], plantest.RandomRanges(r, tab.Codes[c.Columns[0]])...)
		case 2:
			sel.Do(plan.StepAll)
			sel.Compare(plantest.RandomComparison(r, tab))
			sel.Do([]plan.StepCode{plan.StepAnd, plan.StepOr, plan.StepAndNot}[r.IntN(3)])
		case 3:
			sel.Any(r.Uint32N(uint32(len(tab.Vectors)))) // the comparison has bits of its own
			sel.Do(plan.StepAndNot)
		}
		sel.End()
	}
	if err := sel.Validate(&tab.Table); err != nil {
		t.Fatal(err)
	}
	want := tab.Scan(sel)
	poor := d.With(func(i *plan.Info, _ *device.Tuning) { i.MaxAlloc = 1 << 20 })
	for name, shape := range devicetest.Shapes(d) {
		for i, d := range []*device.Device{d, poor} {
			t.Run(fmt.Sprint(name, i), func(t *testing.T) {
				s, err := load(t.Context(), devicetest.OpenRow(t, d, shape, false), &tab.Table)
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				for _, sel.Output = range []plan.Output{plan.OutputBits, plan.OutputCounts} {
					var out plan.Rows
					if err := s.Select(t.Context(), sel, &out); err != nil {
						t.Fatal(err)
					}
					if err := tab.Compare(sel, want, &out); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
}
