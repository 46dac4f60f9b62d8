package hostfallback

import (
	"flag"
	"math/bits"
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"heddle/codec/wah"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
)

var (
	tableRows = flag.Int("table.rows", 4<<20, "rows of the tables of BenchmarkTables")
	tableOnly = flag.String("table.only", "", "regular expression for contenders of BenchmarkTables")
)

// BenchmarkTables ORs 64 bins of tables after Nelson et al. 2020 and counts the rows, in
// turns with Roaring: bitmaps run-optimised before, FastOr, on one core. Names end with the
// number of goroutines; walked has no memory for plain rows, and copy copies the bytes of 64
// plain vectors. The unit is milliseconds, the least and the median over the rounds. The
// ratio is the least time of Roaring over the least time.
func BenchmarkTables(b *testing.B) {
	for _, c := range []struct {
		name string
		bins func(r *rand.Rand, rows uint32) [][]uint64
	}{
		{"skew0", func(r *rand.Rand, rows uint32) [][]uint64 { return zipfBins(r, rows, 0) }},
		{"skew1", func(r *rand.Rand, rows uint32) [][]uint64 { return zipfBins(r, rows, 1) }},
		{"skew2", func(r *rand.Rand, rows uint32) [][]uint64 { return zipfBins(r, rows, 2) }},
		{"longruns", func(r *rand.Rand, rows uint32) [][]uint64 { return runBins(r, rows, 100_000) }},
		{"runs", func(r *rand.Rand, rows uint32) [][]uint64 { return runBins(r, rows, 500) }},
		{"flights", flightBins},
	} {
		b.Run(c.name, func(b *testing.B) {
			benchmarkTable(b, c.bins(rand.New(rand.NewPCG(1, 2)), uint32(*tableRows)), uint32(*tableRows))
		})
	}
}

func newBins(rows uint32) [][]uint64 {
	bins := make([][]uint64, 64)
	for i := range bins {
		bins[i] = make([]uint64, wah.Bitset(uint64(rows)))
	}
	return bins
}

// zipfBins returns 64 bins, six or seven of the ten bins of each of ten attributes. The
// sizes of the bins of an attribute follow a Zipf distribution with the given skew.
func zipfBins(r *rand.Rand, rows uint32, skew int) [][]uint64 {
	var ends [10]float64
	sum := 0.0
	for i := range ends {
		share := 1.0
		for range skew {
			share /= float64(i + 1)
		}
		sum += share
		ends[i] = sum
	}
	bins := newBins(rows)
	for row := range rows {
		for attribute := range 10 {
			x, bin := r.Float64()*sum, 0
			for ends[bin] < x {
				bin++
			}
			if k := 10*(9-bin) + attribute; k < len(bins) { // the rarest first
				bins[k][row/64] |= 1 << (row % 64)
			}
		}
	}
	return bins
}

// runBins returns 64 bins of four attributes of 40 bins each. Runs of rows have the same
// bins.
func runBins(r *rand.Rand, rows uint32, mean float64) [][]uint64 {
	bins := newBins(rows)
	for attribute := range 4 {
		bin, left := 0, 0
		for row := range rows {
			if left == 0 {
				bin, left = min(int(r.ExpFloat64()*8), 39), 1+int(r.ExpFloat64()*mean)
			}
			if left--; bin >= 1 && bin < 17 {
				k := 16*attribute + bin - 1
				bins[k][row/64] |= 1 << (row % 64)
			}
		}
	}
	return bins
}

// flightBins returns bins of flights in the order of their dates: days, which are runs,
// carriers, airports and delays.
func flightBins(r *rand.Rand, rows uint32) [][]uint64 {
	bins := newBins(rows)
	set := func(k int, row uint32) { bins[k][row/64] |= 1 << (row % 64) }
	for row := range rows {
		if day := uint64(row) * 40 / uint64(rows); day < 16 {
			set(int(day), row)
		}
		for _, of := range []struct {
			first, bins int
			mean        float64
		}{{16, 10, 3}, {26, 22, 12}, {48, 16, 8}} {
			if k := int(r.ExpFloat64() * of.mean); k >= 1 && k <= of.bins {
				set(of.first+k-1, row)
			}
		}
	}
	return bins
}

func benchmarkTable(b *testing.B, bins [][]uint64, rows uint32) {
	want := make([]uint64, len(bins[0]))
	roarings := make([]*roaring.Bitmap, len(bins))
	for i, set := range bins {
		roarings[i] = roaring.New()
		var ids []uint32
		for k, w := range set {
			want[k] |= w
			for ; w != 0; w &= w - 1 {
				ids = append(ids, uint32(64*k+bits.TrailingZeros64(w)))
			}
		}
		roarings[i].AddMany(ids)
		roarings[i].RunOptimize()
	}
	matches := uint64(0)
	for _, w := range want {
		matches += uint64(bits.OnesCount64(w))
	}
	size := uint64(0)
	for _, r := range roarings {
		size += r.GetSizeInBytes()
	}
	from, to := make([]uint64, 64*len(want)), make([]uint64, 64*len(want))
	all := []*contender{
		{name: "roaring", run: func() uint64 { return roaring.FastOr(roarings...).GetCardinality() }},
		{name: "copy", run: func() uint64 { copy(to, from); return matches }},
	}
	only := regexp.MustCompile(*tableOnly)
	for _, word := range []int{32, 64} {
		tab := plantest.NewTable(rows, word)
		sel := new(plan.SelectBatch)
		operands := make([]uint32, len(bins))
		for i, set := range bins {
			operands[i] = tab.AddVector(set)
		}
		sel.Any(operands...)
		sel.End()
		sizes := 4*len(tab.Words32) + 8*len(tab.Words64)
		for _, c := range []struct {
			name string
			opt  Options
			s    plan.Strategy
			out  plan.Output
		}{
			{"fused-1", Options{Threads: 1}, plan.Fused, plan.OutputCounts},
			{"fused-2", Options{Threads: 2}, plan.Fused, plan.OutputCounts},
			{"auto-2", Options{Threads: 2}, plan.StrategyAuto, plan.OutputCounts},
			{"bits-2", Options{Threads: 2}, plan.Fused, plan.OutputBits},
			{"walked-1", Options{Threads: 1, MemoryLimit: 1}, plan.Fused, plan.OutputCounts},
			{"walked-2", Options{Threads: 2, MemoryLimit: 1}, plan.Fused, plan.OutputCounts},
			{"iterative-2", Options{Threads: 2}, plan.Iterative, plan.OutputCounts},
			{"reduction-2", Options{Threads: 2}, plan.Reduction, plan.OutputCounts},
		} {
			name := map[int]string{32: "wah32-", 64: "wah64-"}[word] + c.name
			if !only.MatchString(name) {
				continue
			}
			st, err := New(c.opt).LoadTable(b.Context(), &tab.Table)
			if err != nil {
				b.Fatal(err)
			}
			defer st.Close()
			mine := *sel
			mine.Strategy, mine.Output = c.s, c.out
			out := new(plan.Rows)
			all = append(all, &contender{name: name, run: func() uint64 {
				if err := st.Select(b.Context(), &mine, out); err != nil {
					b.Fatal(err)
				}
				return out.Stats.Matches
			}})
			if c.name == "fused-1" {
				b.Logf("wah%d: %.2f MB of words, %.2f MB in memory, %s", word, float64(sizes)/1e6, float64(st.Memory())/1e6, st.Explain(&mine, 0))
			}
		}
	}
	for _, c := range all {
		if got := c.run(); got != matches {
			b.Fatalf("%s found %d rows, want %d", c.name, got, matches)
		}
	}
	b.ResetTimer()
	for b.Loop() {
		for _, c := range all {
			start := time.Now()
			c.run()
			c.took = append(c.took, time.Since(start).Seconds())
		}
	}
	least := slices.Min(all[0].took)
	for _, c := range all {
		b.ReportMetric(1e3*slices.Min(c.took), c.name+"-ms")
		b.ReportMetric(1e3*median(c.took), c.name+"-median-ms")
		b.ReportMetric(least/slices.Min(c.took), c.name+"-ratio")
	}
	b.Logf("%d of %d rows, %.2f MB of plain vectors, %.2f MB in Roaring", matches, rows, 8*float64(len(from))/1e6, float64(size)/1e6)
	b.ReportMetric(0, "ns/op")
}
