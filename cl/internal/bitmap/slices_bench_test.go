package bitmap

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"heddle/cl/internal/device"
	"heddle/cl/internal/device/devicetest"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
)

// randomColumns is a table of 32 M rows with three columns of random values, of 64, 10,000 and 1,000,000. HEDDLE_TABLE_ROWS sets
// the rows.
func randomColumns(b *testing.B) (tab *plantest.Table, inputs []plan.Input) {
	rows := 32_000_000
	if devicetest.Small() {
		rows = 1 << 20
	}
	rows = setting(b, "ROWS", rows)
	tab = plantest.NewTable(uint32(rows), 32)
	for i, n := range []uint64{64, 10_000, 1_000_000} {
		r := rand.New(rand.NewPCG(uint64(i), 39))
		codes := make([]uint64, rows)
		for k := range codes {
			codes[k] = r.Uint64N(n)
		}
		inputs = append(inputs, plan.Input{Column: tab.AddTiles(b, codes, nil), Last: n - 1})
	}
	return tab, inputs
}

// BenchmarkSlices selects from 32 M rows of three columns of random values, a of 64, b of 10,000 and c of
// 1,000,000: the median time of counts one at a time (p50-µs), of a selection in a batch of 64 (batch-µs), of rows as bits
// on the host, in pinned memory and copied, of a sum and of groups, and the time of their kernels (kernel-µs). HEDDLE_TABLE_ROWS sets the rows.
func BenchmarkSlices(b *testing.B) {
	d := devicetest.Find(b, ops)
	tab, inputs := randomColumns(b)
	rt, err := device.Open(b.Context(), d, device.Options{SkipSelfTest: true})
	if err != nil {
		b.Fatal(err)
	}
	defer rt.Close()
	s, err := load(b.Context(), rt, &tab.Table)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	type check struct {
		column uint32
		in     []plan.CodeRange
	}
	one := func(lo, hi uint64) []plan.CodeRange { return []plan.CodeRange{{Lo: lo, Hi: hi}} }
	list := func(n, apart uint64) (in []plan.CodeRange) {
		for k := range n {
			in = append(in, plan.CodeRange{Lo: k * apart, Hi: k * apart})
		}
		return in
	}
	batch := func(output plan.Output, n int, checks ...check) *plan.SelectBatch {
		sel := &plan.SelectBatch{Output: output}
		for range n {
			sel.Do(plan.StepAll)
			for _, c := range checks {
				sel.Check(c.column, c.in...)
			}
			sel.End()
		}
		return sel
	}
	ctx := context.Background()
	run := func(name string, f func() error) {
		b.Run(name, func(b *testing.B) {
			if err := f(); err != nil { // makes scratch
				b.Fatal(err)
			}
			var took []time.Duration
			for b.Loop() {
				began := time.Now()
				if err := f(); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1e3, "p50-µs")
		})
	}
	compared := func(n int, x plan.Comparison) *plan.SelectBatch {
		sel := &plan.SelectBatch{Output: plan.OutputCounts}
		for range n {
			sel.Do(plan.StepAll)
			sel.Compare(x)
			sel.End()
		}
		return sel
	}
	var out plan.Rows
	counts := func(name string, single, many *plan.SelectBatch) {
		run(name+"/count", func() error { return s.Select(ctx, single, &out) })
		b.Run(name+"/batch of 64", func(b *testing.B) {
			for b.Loop() {
				if err := s.Select(ctx, many, &out); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e6/float64(64*b.N), "batch-µs")
		})
	}
	for _, c := range []struct {
		name   string
		checks []check
	}{
		{"a BETWEEN 10 AND 30", []check{{0, one(10, 30)}}},
		{"b < 3333", []check{{1, one(0, 3332)}}},
		{"c = 77777", []check{{2, one(77_777, 77_777)}}},
		{"c BETWEEN 100000 AND 500000", []check{{2, one(100_000, 500_000)}}},
		{"a >= 10 AND b < 5000 AND c > 300000", []check{{0, one(10, 63)}, {1, one(0, 4999)}, {2, one(300_001, 999_999)}}},
		{"a IN 20 values", []check{{0, list(20, 3)}}},
		{"b IN 40 values", []check{{1, list(40, 250)}}},
		{"c IN 200 values", []check{{2, list(200, 5000)}}},
		{"c IN 10000 values", []check{{2, list(10_000, 100)}}},
		{"b < 100 AND c IN 200 values", []check{{1, one(0, 99)}, {2, list(200, 5000)}}},
	} {
		counts(c.name, batch(plan.OutputCounts, 1, c.checks...), batch(plan.OutputCounts, 64, c.checks...))
	}
	for name, x := range map[string]plan.Comparison{
		"b < c":           {Columns: [2]uint32{1, 2}, Less: true},
		"b + 500000 >= c": {Columns: [2]uint32{1, 2}, Base: [2]uint64{500_000, 0}, Equal: true, Greater: true},
	} {
		counts(name, compared(1, x), compared(64, x))
	}
	bits := batch(plan.OutputBits, 1, check{1, one(0, 3332)})
	copied, lent := plan.Rows{}, plan.Rows{Lend: true}
	run("b < 3333/bits on the host", func() error { return s.Select(ctx, bits, &lent) })
	run("b < 3333/bits on the host, copied", func() error { return s.Select(ctx, bits, &copied) })
	lent.Release()
	timed, err := device.Open(b.Context(), d, device.Options{Profiling: true, SkipSelfTest: true})
	if err != nil {
		b.Fatal(err)
	}
	defer timed.Close()
	again, err := load(b.Context(), timed, &tab.Table)
	if err != nil {
		b.Fatal(err)
	}
	defer again.Close()
	for _, where := range []struct {
		name string
		rows *plan.SelectBatch
	}{{"b < 5000", batch(plan.OutputResident, 1, check{1, one(0, 4999)})}, {"b < 9999", batch(plan.OutputResident, 1, check{1, one(0, 9998)})},
		{"b < 10000", batch(plan.OutputResident, 1, check{1, one(0, 9999)})}, {"TRUE", batch(plan.OutputResident, 1)}} {
		for _, m := range []struct {
			name        string
			by, measure []int
		}{{"sum(c)", nil, []int{2}}, {"64 groups, sum(b)", []int{0}, []int{1}}, {"10000 groups, sum(c)", []int{1}, []int{2}}} {
			a := &plan.Aggregation{Inputs: inputs, Groupings: m.by, Measures: []plan.Measure{{Kind: plan.MeasureSum, Input: m.measure[0]}}}
			name := fmt.Sprintf("%s where %s", m.name, where.name)
			run(name, func() error {
				_, err := s.Measure(ctx, where.rows, a)
				return err
			})
			b.Run(name+"/kernels", func(b *testing.B) {
				var took []time.Duration
				for b.Loop() {
					cells, err := again.Measure(ctx, where.rows, a)
					if err != nil {
						b.Fatal(err)
					}
					took = append(took, cells.Stats.Probe)
				}
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1e3, "kernel-µs")
			})
		}
	}
}
