package tables

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"heddle/codec/wah"
	"heddle/engine/internal/backend"
	"heddle/engine/internal/pool"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/engine/table/column"
)

// benchTable has three columns of 640 values in 64 bins, over so many rows: values in no
// order, in order, and mostly small ones.
func benchTable(b *testing.B, rows int) (*plantest.Table, []column.Column) {
	b.Helper()
	const bins, values = 64, 10
	t := plantest.NewTable(uint32(rows), 32)
	r := rand.New(rand.NewPCG(1, 2))
	var columns []column.Column
	for k, bin := range []func(row int) int{
		func(int) int { return r.IntN(bins) },
		func(row int) int { return row / (rows/bins + 1) },
		func(int) int { return int(bins * r.Float64() * r.Float64() * r.Float64() * r.Float64()) },
	} {
		c := column.Column{
			Name: []string{"random", "sorted", "skewed"}[k], Type: column.Int, Base: column.IntKey(0),
			Vector: uint32(len(t.Vectors)), Bins: make([]column.Bin, bins),
		}
		sets := make([][]uint64, bins)
		for i := range sets {
			c.Bins[i] = column.Bin{Lo: uint64(i * values), Hi: uint64(i*values + values - 1)}
			sets[i] = make([]uint64, wah.Bitset(uint64(rows)))
		}
		codes := make([]uint64, rows)
		for row := range codes {
			i := bin(row)
			codes[row] = uint64(i*values + r.IntN(values))
			sets[i][row/64] |= 1 << (row % 64)
			c.Bins[i].Rows++
		}
		for _, s := range sets {
			t.AddVector(s)
		}
		t.AddCodes(b, codes)
		columns = append(columns, c)
	}
	return t, columns
}

// BenchmarkTable answers predicates on the processor that the estimates choose, and on each
// processor by itself. Metric of-estimate is the run time over the estimate: 1 is exact.
// HEDDLE_TEST_DEVICE names a device beside pure Go.
func BenchmarkTable(b *testing.B) {
	rows := 4_000_000
	if testing.Short() {
		rows = 100_000
	}
	find := &backend.Options{Kind: backend.Auto, Device: os.Getenv("HEDDLE_TEST_DEVICE")}
	list, err := find.Candidates(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	open, err := backend.OpenFirst(b.Context(), list, zerolog.Nop())
	if err != nil {
		b.Fatal(err)
	}
	p, err := pool.New(open, pool.Options{Workers: 2})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	tab, columns := benchTable(b, rows)
	d, err := New(&tab.Table, columns)
	if err != nil {
		b.Fatal(err)
	}
	g := loaded(b, p, d)
	for _, where := range []string{
		"random < 320", "sorted < 320", "skewed < 320", "random < 10", "sorted < 10", "skewed >= 600", "random < 10 AND sorted < 200",
		"random < 325", "sorted < 325", "sorted < 325 AND random < 15", "random < 100 AND sorted > 100 AND skewed < 50 OR random = 5",
	} {
		for output, name := range map[plan.Output]string{plan.OutputCounts: "count", plan.OutputBits: "rows"} {
			b.Run(fmt.Sprintf("%s,%s,auto", where, name), func(b *testing.B) { benchPredicate(b, g, nil, where, output) })
			for r := range g.residences() {
				b.Run(fmt.Sprintf("%s,%s,%s", where, name, r.p.Name), func(b *testing.B) { benchPredicate(b, g, r, where, output) })
			}
		}
	}
}

// benchPredicate answers a predicate on a processor, nil is any.
func benchPredicate(b *testing.B, g *Generation, only *residence, where string, output plan.Output) {
	p, err := g.Compile(where)
	if err != nil {
		b.Fatal(err)
	}
	took, estimate := time.Duration(0), time.Duration(0)
	run := func() {
		t := g.NewTask(output, plan.StrategyAuto, false)
		t.only = only
		t.Add(p)
		err := t.Do(b.Context(), &pool.Call{})
		if err != nil {
			b.Fatal(err)
		}
		took += t.took
		estimate += t.job.Trace.Estimate
		t.Done(nil)
	}
	run() // builds tables
	took, estimate = 0, 0
	for b.Loop() {
		run()
	}
	b.ReportMetric(float64(took)/float64(estimate), "of-estimate")
}
