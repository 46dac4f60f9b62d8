package rank

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"heddle/cl/internal/device"
	"heddle/cl/internal/device/devicetest"
	"heddle/codec"
	"heddle/engine/plan"
)

// setting reads a number that the environment may set.
func setting(b *testing.B, name string, normal int) int {
	text := os.Getenv("HEDDLE_RANK_" + name)
	if text == "" {
		return normal
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		b.Fatalf("HEDDLE_RANK_%s: %v", name, err)
	}
	return n
}

// BenchmarkRank measures ranked queries over lists of text-like lengths and
// frequencies: whole batches from some callers, and one query at a time. It is set by
// the environment: HEDDLE_RANK_DOCS, _POSTINGS (of all lists), _QUERIES, _CALLERS, and
// _ROWS, shapes "range/work-group" with commas between, "0/0" for the shape of the device.
// Batches named "stages" are measured by the device's clock, in a queue that keeps
// times.
func BenchmarkRank(b *testing.B) {
	d := devicetest.Find(b, ops)
	docs, postings, queries := 25_200_000, 400_000_000, 1000
	if devicetest.Small() {
		docs, postings, queries = 1<<20, 8_000_000, 30
	}
	docs, postings, queries = setting(b, "DOCS", docs), setting(b, "POSTINGS", postings), setting(b, "QUERIES", queries)
	began := time.Now()
	src := rankWorkload(b, uint32(docs), postings)
	b.Logf("%d lists made in %v", len(src.Lists), time.Since(began))
	rows := os.Getenv("HEDDLE_RANK_ROWS")
	if rows == "" {
		rows = "0/0"
	}
	for _, row := range strings.Split(rows, ",") {
		t := d.Tuning()
		if _, err := fmt.Sscanf(row, "%d/%d", &t.RankRange, &t.RankWG); err != nil {
			b.Fatal(err)
		}
		for _, profiling := range []bool{true, false} {
			backend, err := device.Open(b.Context(), d, device.Options{Tuning: &t, Profiling: profiling, SkipSelfTest: true})
			if err != nil {
				b.Fatal(err)
			}
			s, err := load(backend, src)
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { s.close() })
			for _, mode := range []plan.Mode{plan.Or, plan.And} {
				for _, k := range []int{10, 1000} {
					r := rankQueriesOf(src, mode, k, queries)
					name := fmt.Sprintf("%s/%v/k=%d/", row, mode, k)
					if profiling {
						b.Run(name+"stages", func(b *testing.B) { benchRanks(b, s, src, r, 1) })
						b.Run(name+"single stages", func(b *testing.B) { benchSingleRanks(b, s, src, r) })
						continue
					}
					b.Run(name+"batch", func(b *testing.B) { benchRanks(b, s, src, r, setting(b, "CALLERS", 2)) })
					b.Run(name+"single", func(b *testing.B) { benchSingleRanks(b, s, src, r) })
				}
			}
		}
	}
}

// rankWorkload has lists whose lengths are spread evenly over the orders of magnitude
// from docs/2500 to docs/4, frequencies of a shifted geometric distribution, and
// lengths of documents of a log-normal one around 900.
func rankWorkload(b *testing.B, docs uint32, postings int) *plan.Source {
	src := &plan.Source{Docs: docs, Lengths: make([]uint32, docs)}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range src.Lengths {
		src.Lengths[i] = uint32(900 * math.Exp(0.7*r.NormFloat64()-0.245))
	}
	type list struct{ words, freqs []uint32 }
	var lens []int
	for n := 0; n < postings; n += lens[len(lens)-1] {
		lens = append(lens, int(float64(docs)/4*math.Pow(625, -r.Float64())))
	}
	encoded := make([]list, len(lens))
	err := device.InParallel(len(lens), postings, func(i int) (err error) {
		r := rand.New(rand.NewPCG(3, uint64(i)))
		list := devicetest.Spread(r, lens[i], 1, max(2*docs/uint32(lens[i])*9/10, 2)-1)
		freqs := make([]uint32, len(list))
		for j := range freqs {
			for r.Uint32()%3 == 0 {
				freqs[j]++
			}
		}
		lens[i] = len(list)
		if encoded[i].words, err = codec.Append(nil, codec.ParaPFor, list, codec.DefaultOptions()); err != nil {
			return err
		}
		encoded[i].freqs, err = codec.AppendPacked(nil, freqs, codec.DefaultOptions())
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	for i, l := range encoded {
		src.Words = append(src.Words, make([]uint32, (plan.ListAlign-len(src.Words)%plan.ListAlign)%plan.ListAlign)...)
		src.Lists = append(src.Lists, plan.List{Off: uint64(len(src.Words)), Words: uint32(len(l.words)), Len: uint32(lens[i]),
			Codec: codec.ParaPFor, FreqOff: uint64(len(src.Freqs)), FreqWords: uint32(len(l.freqs))})
		src.Words = append(src.Words, l.words...)
		src.Freqs = append(src.Freqs, l.freqs...)
	}
	return src
}

// rankQueriesOf draws queries of one to seven lists, four on average.
func rankQueriesOf(src *plan.Source, mode plan.Mode, k, n int) *plan.RankBatch {
	r := rand.New(rand.NewPCG(4, 5))
	ranks := &plan.RankBatch{Mode: mode, K: k, Norm: plan.NewNorm(0.9, 0.4, 900)}
	ranks.Reset()
	for range n {
		var terms []plan.Term
		for range 1 + r.IntN(7) {
			h := plan.Handle(r.IntN(len(src.Lists)))
			w := math.Log(1 + float64(src.Docs)/float64(src.Lists[h].Len))
			terms = append(terms, plan.Term{List: h, Weight: uint32(w * (1 << 24))})
		}
		ranks.Add(src, terms...)
	}
	return ranks
}

func benchRanks(b *testing.B, s *Ranker, src *plan.Source, r *plan.RankBatch, callers int) {
	var sum plan.Stats
	var runs []plan.Stats
	outs := make([]plan.TopK, callers)
	round := func() {
		var wg sync.WaitGroup
		for i := range outs {
			wg.Go(func() {
				if err := s.Rank(context.Background(), r, &outs[i]); err != nil {
					b.Error(err)
				}
			})
		}
		wg.Wait()
	}
	round() // makes scratch
	for b.Loop() {
		round()
		for i := range outs {
			sum.Add(outs[i].Stats)
			runs = append(runs, outs[i].Stats)
		}
	}
	took, n := b.Elapsed().Seconds(), float64(sum.Queries)
	b.ReportMetric(n/took, "queries/s")
	b.ReportMetric(float64(sum.Postings)/took/1e9, "Gpostings/s")
	distinct := uint64(0)
	seen := map[plan.Handle]bool{}
	for _, t := range r.Terms {
		if !seen[t.List] {
			seen[t.List] = true
			distinct += uint64(src.Lists[t.List].Len)
		}
	}
	b.ReportMetric(float64(r.Postings(src))/float64(distinct), "postings/distinct")
	reportStages(b, runs)
}

// reportStages reports the least device times of some runs, where there are some: other programs
// delay kernels of a CPU.
func reportStages(b *testing.B, runs []plan.Stats) {
	for name, stage := range map[string]device.Counter{"upload": device.UploadTime, "decode": device.DecodeTime, "score": device.ScoreTime,
		"probe": device.ProbeTime, "select": device.SelectTime, "download": func(s *plan.Stats) *time.Duration { return &s.Download }} {
		least := math.Inf(1)
		for i := range runs {
			least = min(least, 1e6*stage(&runs[i]).Seconds()/float64(runs[i].Queries))
		}
		if least > 0 {
			b.ReportMetric(least, name+"-µs/q")
		}
	}
}

func benchSingleRanks(b *testing.B, s *Ranker, src *plan.Source, r *plan.RankBatch) {
	var took []time.Duration
	var out plan.TopK
	one := plan.RankBatch{Mode: r.Mode, K: r.K, Norm: r.Norm}
	next := 0
	var runs []plan.Stats
	for b.Loop() {
		var sum plan.Stats
		for range min(r.Queries(), 100) {
			q := r.Query(next % r.Queries())
			next++
			one.Reset()
			one.Terms = append(one.Terms, q...)
			one.Offsets = append(one.Offsets, uint32(len(q)))
			began := time.Now()
			if err := s.Rank(context.Background(), &one, &out); err != nil {
				b.Fatal(err)
			}
			took = append(took, time.Since(began))
			sum.Add(out.Stats)
		}
		runs = append(runs, sum)
	}
	reportStages(b, runs)
	slices.Sort(took)
	for _, p := range []int{50, 95, 99} {
		b.ReportMetric(float64(took[len(took)*p/100].Microseconds()), fmt.Sprintf("p%d-µs", p))
	}
}
