package hostfallback

import (
	"context"
	"flag"
	"regexp"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/hostfallback/work"
)

// BenchmarkGOV answers a GOV-like log under every algorithm, in turns with Roaring: bitmaps
// built and run-optimised before, And from the shortest list on, results as arrays. The unit
// is queries per second on -gov.threads cores, the median over the rounds. The ratio to the
// first contender is taken round by round.
func BenchmarkGOV(b *testing.B) {
	for _, clustered := range []bool{false, true} {
		b.Run(map[bool]string{false: "uniform", true: "clustered"}[clustered], func(b *testing.B) {
			benchmarkLog(b, govWorkload(1, clustered, *govPostings, 2000))
		})
	}
}

var (
	govPostings = flag.Int("gov.postings", 32<<20, "docIDs in all lists of BenchmarkGOV")
	govThreads  = flag.Int("gov.threads", 1, "goroutines of every contender in BenchmarkGOV")
	govOnly     = flag.String("gov.only", "", "regular expression for contenders of BenchmarkGOV")
)

type contender struct {
	name string
	run  func() uint64 // answers the log, returns the number of matches
	took []float64     // seconds of each round
}

func benchmarkLog(b *testing.B, w *workload) {
	b.ReportAllocs()
	candidates, second := 0, 0
	for _, q := range w.queries {
		candidates += len(w.lists[q[0]])
		second += len(w.lists[q[1]])
	}
	only := regexp.MustCompile(*govOnly)
	var all []*contender
	if only.MatchString("roaring") {
		all = append(all, &contender{name: "roaring", run: roaringLog(w)})
	}
	for _, id := range []codec.ID{codec.Raw, codec.ParaPFor, 0} {
		coded := "choice"
		if id != 0 {
			coded = id.String()
		}
		algorithms := []plan.Algorithm{plan.Auto}
		if id == codec.Raw {
			algorithms = append(algorithms, New(Options{}).Info().Algorithms...)
		}
		algorithms = slices.DeleteFunc(algorithms, func(a plan.Algorithm) bool { return !only.MatchString(coded + "-" + a.String()) })
		if len(algorithms) == 0 {
			continue
		}
		src := w.source(b, id)
		st, err := New(Options{Threads: *govThreads}).Load(b.Context(), src)
		if err != nil {
			b.Fatal(err)
		}
		defer st.Close()
		for _, a := range algorithms {
			batch := &plan.MatchBatch{Algorithm: a}
			for _, q := range w.queries {
				batch.Add(src, q...)
			}
			out := new(plan.Results)
			all = append(all, &contender{name: coded + "-" + a.String(), run: func() uint64 {
				if err := st.Match(b.Context(), batch, out); err != nil {
					b.Fatal(err)
				}
				return out.Stats.Matches
			}})
		}
	}
	want := all[0].run()
	for _, c := range all {
		if got := c.run(); got != want {
			b.Fatalf("%s found %d documents, want %d", c.name, got, want)
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
	for _, c := range all {
		ratio := make([]float64, len(c.took)) // to the first contender, in the same round
		for i, t := range c.took {
			ratio[i] = all[0].took[i] / t
		}
		b.ReportMetric(float64(len(w.queries))/median(c.took), c.name+"-q/s")
		b.ReportMetric(median(ratio), c.name+"-ratio")
	}
	b.ReportMetric(0, "ns/op")
	b.Logf("%d threads, %d lists, %d queries: mean shortest %d, next %d, matches %d", *govThreads, len(w.lists), len(w.queries),
		candidates/len(w.queries), second/len(w.queries), want/uint64(len(w.queries)))
}

func median(v []float64) float64 {
	return slices.Sorted(slices.Values(v))[len(v)/2]
}

// source encodes the lists, with codec.Choose for id 0.
func (w *workload) source(tb testing.TB, id codec.ID) *plan.Source {
	src := &plan.Source{Docs: w.docs}
	for _, docs := range w.lists {
		c := id
		if c == 0 {
			c = codec.Choose(codec.Auto, docs, w.docs, codec.DefaultOptions()).ID
		}
		if _, err := src.Append(c, docs, codec.DefaultOptions()); err != nil {
			tb.Fatal(err)
		}
	}
	return src
}

func roaringLog(w *workload) func() uint64 {
	bitmaps := make([]*roaring.Bitmap, len(w.lists))
	for i, docs := range w.lists {
		bitmaps[i] = roaring.BitmapOf(docs...)
		bitmaps[i].RunOptimize()
	}
	return func() uint64 {
		var matches atomic.Uint64
		err := work.Parallel(context.Background(), *govThreads, len(w.queries), func(_, i int) error {
			q := w.queries[i]
			m := roaring.And(bitmaps[q[0]], bitmaps[q[1]])
			for _, h := range q[2:] {
				m.And(bitmaps[h])
			}
			matches.Add(uint64(len(m.ToArray())))
			return nil
		})
		if err != nil {
			panic(err)
		}
		return matches.Load()
	}
}
