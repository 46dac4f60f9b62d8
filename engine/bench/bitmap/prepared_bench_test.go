package bitmap

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"heddle/engine"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/engine/plan/testneeds"
	"heddle/engine/table/column"
)

// BenchmarkPrepared answers prepared predicates on 32 M rows of the columns of BenchmarkSlices (package cl/internal/bitmap)
// through Table.Select, from one goroutine: the median time of counts (p50-µs), of one in a batch of 64 by SelectAll
// (batch-µs), and of rows as bits on the host, which are released.
func BenchmarkPrepared(b *testing.B) {
	rows := 32_000_000
	if testing.Short() {
		rows = 1 << 20
	}
	tab := plantest.NewTable(uint32(rows), 32)
	var columns []column.Column
	for i, n := range []uint64{64, 10_000, 1_000_000} {
		r := rand.New(rand.NewPCG(uint64(i), 39))
		codes := make([]uint64, rows)
		for k := range codes {
			codes[k] = r.Uint64N(n)
		}
		tab.AddTiles(b, codes, nil)
		tab.AddRuns(func(yield func(from, to uint64) bool) { yield(0, uint64(rows)) })
		columns = append(columns, column.Column{Name: "abc"[i : i+1], Type: column.Int, Base: column.IntKey(0), Encoding: column.None, Vector: uint32(i),
			Bins: []column.Bin{{Hi: n - 1, Rows: uint32(rows)}}})
	}
	backend, device := testneeds.Backend()
	e, err := engine.New(b.Context(), engine.Options{Backend: backend, Device: device})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	x, err := e.NewTable(b.Context(), &tab.Table, columns, engine.TableOptions{})
	if err != nil {
		b.Fatal(err)
	}
	defer x.Close()
	prepared := func(where string, output plan.Output) engine.Selection {
		p, err := x.Prepare(b.Context(), engine.Selection{Where: where})
		if err != nil {
			b.Fatal(err)
		}
		return engine.Selection{Prepared: p, Output: output}
	}
	one := func(name string, s engine.Selection) {
		b.Run(name, func(b *testing.B) {
			took := make([]time.Duration, 0, b.N+1)
			for b.Loop() {
				began := time.Now()
				rows, err := x.Select(b.Context(), s)
				if err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(began))
				rows.Release()
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1e3, "p50-µs")
		})
	}
	for _, where := range []string{"a BETWEEN 10 AND 30", "b < 3333", "c = 77777", "c BETWEEN 100000 AND 500000", "a >= 10 AND b < 5000 AND c > 300000"} {
		s := prepared(where, plan.OutputCounts)
		one(where+"/count", s)
		many := slices.Repeat([]engine.Selection{s}, 64)
		b.Run(where+"/batch of 64", func(b *testing.B) {
			for b.Loop() {
				if err := x.SelectAll(b.Context(), many, func(int, []engine.Rows) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e6/float64(64*b.N), "batch-µs")
		})
	}
	one("b < 3333/bits on the host", prepared("b < 3333", plan.OutputBits))
}
