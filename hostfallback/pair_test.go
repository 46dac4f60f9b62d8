package hostfallback

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/hostfallback/internal/hosttest"
	"heddle/hostfallback/internal/match/lookup"
)

// BenchmarkPair intersects two plain lists on one core, in turns with Roaring. DocIDs are
// uniform in [0, 2^26); the longer list has 4 Mi. -gov.only selects algorithms. The unit is
// elements of both lists per nanosecond and GHz of the clock, which a chain of
// multiplications measures. Figures are the best of the rounds. The ratio is the time of
// Roaring over the time of Auto.
func BenchmarkPair(b *testing.B) {
	const universe, longer = 1 << 26, 4 << 20
	r := rand.New(rand.NewPCG(8, 1))
	for _, ratio := range []int{1, 10, 100, 1000} {
		b.Run(fmt.Sprint("1:", ratio), func(b *testing.B) {
			lists := [][]uint32{hosttest.Uniform(r, longer/ratio, universe), hosttest.Uniform(r, longer, universe)}
			src := hosttest.Source(b, universe, []codec.ID{codec.Raw}, lists...)
			st := open(b, src, Options{Threads: 1})
			bitmaps := []*roaring.Bitmap{roaring.BitmapOf(lists[0]...), roaring.BitmapOf(lists[1]...)}
			bitmaps[0].RunOptimize()
			bitmaps[1].RunOptimize()
			all := []*contender{{name: "roaring", run: func() uint64 {
				return uint64(len(roaring.And(bitmaps[0], bitmaps[1]).ToArray()))
			}}}
			only := regexp.MustCompile(*govOnly)
			for _, a := range append([]plan.Algorithm{plan.Auto}, lookup.Algorithms...) {
				if !only.MatchString(a.String()) {
					continue
				}
				if ratio == 1000 && a == plan.MergePath {
					continue // reads four million docIDs to find four thousand
				}
				batch := &plan.MatchBatch{Algorithm: a}
				batch.Add(src, 0, 1)
				out := new(plan.Results)
				all = append(all, &contender{name: a.String(), run: func() uint64 {
					if err := st.Match(b.Context(), batch, out); err != nil {
						b.Fatal(err)
					}
					return out.Stats.Matches
				}})
			}
			want := all[0].run()
			for _, c := range all {
				if got := c.run(); got != want {
					b.Fatalf("%s found %d documents, want %d", c.name, got, want)
				}
			}
			ghz := 0.0
			for range max(b.N, 9) {
				ghz = max(ghz, gigahertz())
				for _, c := range all {
					start := time.Now()
					c.run()
					c.took = append(c.took, time.Since(start).Seconds())
				}
			}
			inputs := float64(len(lists[0])+len(lists[1])) / 1e9
			for _, c := range all {
				b.ReportMetric(inputs/slices.Min(c.took)/ghz, c.name+"-in/ns/GHz")
			}
			b.ReportMetric(slices.Min(all[0].took)/slices.Min(all[1].took), "auto-ratio")
			b.ReportMetric(ghz, "GHz")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// gigahertz measures the clock of this core: each 64-bit multiplication of a chain takes
// three cycles.
func gigahertz() float64 {
	const n = 40_000
	took := make([]float64, 9)
	x := uint64(3)
	for i := range took {
		start := time.Now()
		for range n {
			x *= x
			x *= x
			x *= x
			x *= x
		}
		took[i] = float64(time.Since(start).Nanoseconds())
	}
	runtime.KeepAlive(x)
	return 4 * 3 * n / slices.Min(took)
}
