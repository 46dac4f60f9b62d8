package engine

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"heddle/codec/wah"
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

// BenchmarkTable answers predicates where auto sends them. With a device named by
// HEDDLE_TEST_DEVICE, device and host follow by themselves, and how much of the
// estimates they take: the model is right where that is 1.
func BenchmarkTable(b *testing.B) {
	tab, columns := benchTable(b, pick(4_000_000, 100_000))
	x, err := NewTable(b.Context(), &tab.Table, columns, Options{Device: os.Getenv("HEDDLE_TEST_DEVICE")})
	closedTable(b, x, err)
	if _, err := x.Count(b.Context(), "sorted < 10"); err != nil { // has costs measured, where there is a choice
		b.Fatal(err)
	}
	for _, where := range []string{
		"random < 320", "sorted < 320", "skewed < 320", "random < 10", "sorted < 10", "skewed >= 600", "random < 10 AND sorted < 200",
		"random < 325", "sorted < 325", "sorted < 325 AND random < 15", "random < 100 AND sorted > 100 AND skewed < 50 OR random = 5",
	} {
		for _, output := range []plan.Output{plan.OutputCounts, plan.OutputBits} {
			s := plan.SelectBatch{Output: output}
			name := map[plan.Output]string{plan.OutputCounts: "count", plan.OutputBits: "rows"}[output]
			if _, err := x.compile(where, &s); err != nil {
				b.Fatal(err)
			}
			var out plan.Rows
			measure := func(place string, estimate func(*costs) costModel, run func() error) {
				b.Run(fmt.Sprintf("%s,%s,%s", where, name, place), func(b *testing.B) {
					if err := run(); err != nil { // what is made once
						b.Fatal(err)
					}
					for b.Loop() {
						if err := run(); err != nil {
							b.Fatal(err)
						}
					}
					if c := x.costs.Load(); c != nil && estimate != nil {
						b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/estimate(c).seconds(x.work(&s)), "of-estimate")
					}
				})
			}
			measure("auto", nil, func() error { return x.Run(b.Context(), &s, &out) })
			if x.spare == nil || x.spare == x.active.Load() {
				continue
			}
			device := x.active.Load().store
			measure("device", func(c *costs) costModel { return c.onDevice }, func() error { return device.Select(b.Context(), &s, &out) })
			measure("host", func(c *costs) costModel { return c.onHost }, func() error { return x.spare.store.Select(b.Context(), &s, &out) })
		}
	}
}
