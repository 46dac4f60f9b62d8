package bitmap

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
)

// BenchmarkChecks checks all rows against a list of single codes, of up to 20 bits and of 64 bits.
// One thread; metric ns/row is the time of a row.
func BenchmarkChecks(b *testing.B) {
	rows := 20_000_000
	if testing.Short() {
		rows = 200_000
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, bits := range []int{20, 64} {
		tab := plantest.NewTable(uint32(rows), 32)
		codes := make([]uint64, rows)
		for i := range codes {
			codes[i] = r.Uint64() >> (64 - bits)
		}
		tab.AddCodes(b, codes)
		st := loadAll(b, &tab.Table, 1, 0)
		for _, n := range []int{3, 10, 100, 5000} {
			values := slices.Clone(codes[:n])
			slices.Sort(values)
			sel := &plan.SelectBatch{Output: plan.OutputCounts}
			sel.Any()
			sel.Do(plan.StepNot)
			var ranges []plan.CodeRange
			for _, v := range slices.Compact(values) {
				ranges = append(ranges, plan.CodeRange{Lo: v, Hi: v})
			}
			sel.Check(0, ranges...)
			sel.End()
			b.Run(fmt.Sprintf("%d bits, %d values", bits, n), func(b *testing.B) {
				var out plan.Rows
				for b.Loop() {
					if err := st.Select(b.Context(), sel, &out); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(rows), "ns/row")
			})
		}
	}
}
