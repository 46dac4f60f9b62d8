package result_test

import (
	"math/rand/v2"
	"testing"

	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/engine/table/column"
	"heddle/engine/table/result"
	"heddle/engine/table/statement"
	"heddle/engine/table/values"
)

// BenchmarkCells makes the result of 1,000 groups that a device has measured: sums and means of integers, and
// sums of floats.
func BenchmarkCells(b *testing.B) {
	const groups, rows = 1000, 20_000
	t := plantest.NewTable(rows, 32)
	random := rand.New(rand.NewPCG(1, 2))
	columns := make([]column.Column, 3)
	for i, n := range []uint64{groups, 100_000, 100_000} {
		codes := make([]uint64, rows)
		for k := range codes {
			codes[k] = random.Uint64N(n)
		}
		t.AddCodes(b, codes)
		columns[i] = column.Column{Name: string(rune('a' + i)), Type: column.Int, Base: column.IntKey(0), Bins: []column.Bin{{Hi: n - 1}}}
	}
	columns[2].Type, columns[2].Scale = column.Float, 6
	for _, list := range []string{"a, count(*), sum(b)", "a, avg(b)", "a, sum(c)"} {
		b.Run(list, func(b *testing.B) {
			s, err := statement.Parse(statement.Clauses{Select: list, GroupBy: "a"})
			if err != nil {
				b.Fatal(err)
			}
			q, err := result.Compile(s, columns)
			if err != nil {
				b.Fatal(err)
			}
			cells := &plan.Cells{Values: make([][]uint64, len(q.Inputs)), Sums: make([][]uint64, len(q.Measures))}
			cells.Rows = make([]uint64, groups+1)
			sums := make([]uint64, groups+1)
			for i := range groups {
				n := random.Uint64N(100)
				cells.Rows[i+1], sums[i+1] = n, n*random.Uint64N(100_000)
			}
			for i := range cells.Sums {
				cells.Sums[i] = sums
			}
			q.Cells = cells
			b.ReportAllocs()
			for b.Loop() {
				if err := q.Run(&t.Table, nil, result.Options{}, func(values.Batch) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
