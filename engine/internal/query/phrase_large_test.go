package query

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"heddle/cl"
	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
	"heddle/hostfallback"
)

// BenchmarkLargePhrases answers exact phrases of two words of the ranks 20 to 2,000 and 200 to 20,000 on the device of the tests, in batches of 4,096
// and alone. HEDDLE_PHRASE_LARGE is the number of documents, of 100 words on average; 25000000 need 64 GB of memory. Only the words of the phrases have
// lists. The answers are compared with pure Go.
func BenchmarkLargePhrases(b *testing.B) {
	device := testneeds.Device(b)
	docs, err := strconv.Atoi(os.Getenv("HEDDLE_PHRASE_LARGE"))
	if err != nil {
		b.Skip("HEDDLE_PHRASE_LARGE is no number of documents")
	}
	began := time.Now()
	step := func(format string, args ...any) {
		fmt.Printf("%6.1f s  %s\n", time.Since(began).Seconds(), fmt.Sprintf(format, args...))
	}
	ranks := [][2]int{{20, 2_000}, {200, 20_000}}
	size := 4096
	if strings.Contains(device, "Portable") { // to try the benchmark
		size = 64
	}
	x := zipfText(b, text{docs: docs, from: ranks[0][0], to: ranks[1][1]})
	step("%d documents; of the words of phrases %d postings, %d positions in %d MB", docs, x.Source.Postings(), x.Source.Positions.Values.Count, 4*len(x.Source.Positions.Values.Words)>>20)
	runtime.GC()
	devices, err := cl.Devices(device)
	if err != nil {
		b.Fatal(err)
	}
	open := func(opt cl.Options) (*cl.Backend, plan.Store) {
		gpu, err := cl.Open(b.Context(), devices[0], opt)
		if err != nil {
			b.Fatal(err)
		}
		s, err := gpu.Load(b.Context(), x.Source)
		if err != nil {
			b.Fatal(err)
		}
		return gpu, s
	}
	rule := DeviceDocuments
	DeviceDocuments = func(plan.PhraseStore) uint64 { return 0 }
	defer func() { DeviceDocuments = rule }()
	texts := make([][]string, len(ranks))
	for i, r := range ranks {
		texts[i] = phrasesOf(`"%d %d"`, 2, size, r[0], r[1])
	}
	gpu, s := open(cl.Options{SkipSelfTest: true})
	defer gpu.Close()
	defer s.Close()
	run := func(s plan.Store, texts []string, opt Options) *Batch {
		q := batchOf(b, x, texts, opt)
		if err := q.Run(b.Context(), s, 0); err != nil {
			b.Fatal(err)
		}
		return q
	}
	step("opened")
	run(s, texts[0][:1], Options{})
	step("loaded")
	kinds := []struct {
		name string
		opt  Options
	}{{"docIDs", Options{}}, {"counts", Options{CountOnly: true}}, {"top 10", Options{K: 10}}}
	for r := range texts {
		for _, k := range kinds {
			var one, two, alone []time.Duration
			for start := time.Now(); len(one) < 7 && (len(one) == 0 || time.Since(start) < 3*time.Second); {
				one = append(one, timeOf(b, s, batchOf(b, x, texts[r], k.opt)))
				fresh := [2][]*Batch{}
				for range 3 {
					for c := range fresh {
						fresh[c] = append(fresh[c], batchOf(b, x, texts[r], k.opt))
					}
				}
				var wg sync.WaitGroup
				start := time.Now()
				for c := range fresh {
					wg.Go(func() {
						for _, q := range fresh[c] {
							timeOf(b, s, q)
						}
					})
				}
				wg.Wait()
				two = append(two, time.Since(start)/6)
			}
			for i := range 200 {
				alone = append(alone, timeOf(b, s, batchOf(b, x, texts[r][i%size:][:1], k.opt)))
			}
			q := run(s, texts[r], k.opt)
			n, st := uint64(size), q.Stats()
			step("%v, %s: %s q/s, of two callers %s q/s; alone p50 %v, p90 %v; a query: %d candidates, %d matches, %d positions, %d bytes down", ranks[r], k.name, rates(size, one), rates(size, two),
				quantile(alone, 0.5), quantile(alone, 0.9), st.PhraseCandidates/n, matches(q)/n, st.Positions/n, st.BytesDown/n)
		}
	}
	host := hostfallback.New(hostfallback.Options{})
	defer host.Close()
	plain, err := host.Load(b.Context(), x.Source)
	if err != nil {
		b.Fatal(err)
	}
	defer plain.Close()
	for _, k := range kinds {
		some := slices.Concat(texts[0][:2*runtime.GOMAXPROCS(0)], texts[1][:2*runtime.GOMAXPROCS(0)])
		got, start := run(s, some, k.opt), time.Now()
		want := run(plain, some, k.opt)
		step("%s: pure Go on all cores %.0f q/s", k.name, float64(len(some))/time.Since(start).Seconds())
		for i := range some {
			n, found, scores := got.Hits(i)
			m, expected, sums := want.Hits(i)
			if n != m || !reflect.DeepEqual(found, expected) || !reflect.DeepEqual(scores, sums) {
				b.Errorf("%s, %s: %d documents, in pure Go %d", some[i], k.name, n, m)
			}
		}
	}
	for r := range texts {
		moved := map[bool]*plan.Stats{}
		for _, count := range []bool{false, true} {
			gpu, s := open(cl.Options{SkipSelfTest: true, Profiling: !count, CountLoads: count})
			defer gpu.Close()
			defer s.Close()
			run(s, texts[r], Options{})
			moved[count] = run(s, texts[r], Options{}).Stats()
			step("%v: a batch with profiling %t, counting of loads %t: %+v", ranks[r], !count, count, *moved[count])
		}
		kernel, bytes := moved[false].Kernel().Seconds(), float64(moved[true].BytesMoved)
		peak, err := gpu.CopyPeak(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		step("%v: a batch moves %.0f MB in %.1f ms of kernels: %.0f GB/s, %.0f %% of copies in memory (%.0f GB/s)", ranks[r], bytes/1e6, 1e3*kernel, bytes/kernel/1e9, 100*bytes/kernel/peak, peak/1e9)
	}
}

// timeOf is the time of a batch on a store.
func timeOf(tb testing.TB, s plan.Store, q *Batch) time.Duration {
	began := time.Now()
	if err := q.Run(context.Background(), s, 0); err != nil {
		tb.Error(err)
	}
	return time.Since(began)
}

// rates are the median of the queries in a second of batches with these times, and the slowest and fastest.
func rates(size int, took []time.Duration) string {
	rate := func(q float64) float64 { return float64(size) / quantile(took, q).Seconds() / 1e3 }
	return fmt.Sprintf("%.1f K (%.1f to %.1f)", rate(0.5), rate(1), rate(0))
}

func quantile(took []time.Duration, q float64) time.Duration {
	slices.Sort(took)
	return took[int(q*float64(len(took)-1))]
}

// matches is the number of documents of all answers.
func matches(q *Batch) (all uint64) {
	for i := range q.Queries() {
		n, _, _ := q.Hits(i)
		all += n
	}
	return all
}
