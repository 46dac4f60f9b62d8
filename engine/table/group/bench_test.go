package group_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"heddle/engine/internal/cputime"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/engine/table/column"
	"heddle/engine/table/group"
)

// BenchmarkRun counts in 1,000 groups, and sums in 1,000 groups and in 1,000,000 groups, on one core, for selections of
// several sizes. The metric is CPU time, because other work may run.
func BenchmarkRun(b *testing.B) {
	const rows = 1 << 21
	t := plantest.NewTable(rows, 32)
	list := [4][]uint64{make([]uint64, rows), make([]uint64, rows), make([]uint64, rows), make([]uint64, rows)}
	random := rand.New(rand.NewPCG(1, 2))
	base := column.FloatKey(0)
	for i := range rows {
		list[0][i], list[1][i] = random.Uint64N(1000), random.Uint64N(100_000)
		list[2][i] = column.FloatKey(float64(random.Uint64N(100_000))/64) - base
		list[3][i] = random.Uint64N(1_000_000)
	}
	a := &plan.Aggregation{}
	for i, codes := range list {
		t.AddCodes(b, codes)
		last := uint64(0)
		for _, c := range codes {
			last = max(last, c)
		}
		a.Inputs = append(a.Inputs, plan.Input{Column: uint32(i), Last: last})
	}
	all := a.Inputs
	for _, test := range []struct {
		name    string
		by, sum int
		kind    plan.MeasureKind
	}{{"counts", 0, -1, plan.MeasureCount}, {"integers", 0, 1, plan.MeasureSum}, {"floats", 0, 2, plan.MeasureFloats}, {"many groups", 3, 1, plan.MeasureSum}} {
		for _, percent := range []float64{1, 10, 50, 100} {
			b.Run(fmt.Sprintf("%s/%v%%", test.name, percent), func(b *testing.B) {
				a := &plan.Aggregation{Inputs: []plan.Input{all[test.by]}, Groupings: []int{0}, Measures: []plan.Measure{{Kind: test.kind}}}
				if test.sum >= 0 {
					a.Inputs, a.Measures[0] = append(a.Inputs, all[test.sum]), plan.Measure{Kind: test.kind, Input: 1, Base: base}
				}
				set := make([]uint64, rows/64)
				for i := range rows {
					if random.Float64()*100 < percent {
						set[i/64] |= 1 << (i % 64)
					}
				}
				began := cputime.Total()
				for b.Loop() {
					if _, err := group.Run(&t.Table, a, set, group.Options{Workers: 1}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(cputime.Total()-began)/float64(b.N)/rows, "cpu-ns/row")
			})
		}
	}
}
