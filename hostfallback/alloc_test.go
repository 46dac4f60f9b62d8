package hostfallback

import (
	"math/rand/v2"
	"testing"

	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
)

// TestTableAllocations: a repeated batch allocates nothing except for its goroutines.
func TestTableAllocations(t *testing.T) {
	if raceDetector {
		t.Skip("under the race detector a sync.Pool drops values at random")
	}
	const rows = 100_000
	r := rand.New(rand.NewPCG(rows, 32))
	tab := plantest.NewTable(rows, 32)
	for _, k := range plantest.VectorKinds() {
		tab.AddVector(k.Gen(r, rows))
	}
	codes := make([]uint64, rows)
	for row := range codes {
		codes[row] = r.Uint64N(1000)
	}
	tab.AddCodes(t, codes)
	for _, threads := range []int{1, 2} {
		st, err := New(Options{Threads: threads}).LoadTable(t.Context(), &tab.Table)
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		sel := new(plan.SelectBatch)
		for v := range 50 {
			sel.Any(uint32(v)%15, 3, 12)
			sel.Check(0, plan.CodeRange{Hi: 500})
			sel.Any(13)
			sel.Do(plan.StepAnd)
			sel.End()
		}
		for _, sel.Strategy = range []plan.Strategy{plan.StrategyAuto, plan.Fused} {
			for _, sel.Output = range []plan.Output{plan.OutputBits, plan.OutputCounts, plan.OutputResident} {
				var out plan.Rows
				allocs := testing.AllocsPerRun(5, func() {
					if err := st.Select(t.Context(), sel, &out); err != nil {
						t.Fatal(err)
					}
				})
				if most := float64(8 * (threads - 1)); allocs > most {
					t.Errorf("%d threads, %v, output %d: %v allocations", threads, sel.Strategy, sel.Output, allocs)
				}
			}
		}
	}
}
