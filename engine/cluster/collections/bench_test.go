package collections

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/internal/cputime"
)

// lines makes documents of 20 words in JSON lines.
func lines(r *rand.Rand, first, n int) []byte {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"id":"d%d","year":%d,"text":"`, first+i, 1990+r.IntN(30))
		for range 20 {
			fmt.Fprintf(&b, "w%d ", int(r.ExpFloat64()*500))
		}
		b.WriteString("\"}\n")
	}
	return []byte(b.String())
}

// BenchmarkBeside measures queries of two terms at 200 a second, without additions and beside additions in requests of 10
// documents: the median and the 99th percentile, the CPU time, the memory
// allocated, the garbage collections, and the mean number of segments.
// The environment variable HEDDLE_BESIDE is the number of seconds of each run, HEDDLE_BESIDE_RATE of documents that are
// added in a second, 1000 by default.
func BenchmarkBeside(b *testing.B) {
	seconds, err := strconv.Atoi(os.Getenv("HEDDLE_BESIDE"))
	if err != nil {
		b.Skip("set HEDDLE_BESIDE to a number of seconds")
	}
	adds := 1000
	if text := os.Getenv("HEDDLE_BESIDE_RATE"); text != "" {
		adds, err = strconv.Atoi(text)
		must(b, err)
	}
	f := open(b)
	r := rand.New(rand.NewPCG(1, 2))
	docs := 0
	for ; docs < 50_000; docs += 10_000 {
		_, err := f.Add(b.Context(), "news", lines(r, docs, 10_000))
		must(b, err)
	}
	for _, rate := range []int{0, adds, 0, adds} {
		b.Run(fmt.Sprint("adds=", rate), func(b *testing.B) {
			ctx, stop := context.WithTimeout(b.Context(), time.Duration(seconds)*time.Second)
			defer stop()
			var mu sync.Mutex
			var acks, times []time.Duration
			segments := 0
			var running sync.WaitGroup
			cpu, first, memory := cputime.Total(), docs, allocated()
			if rate > 0 {
				running.Go(func() {
					every(ctx, time.Second*10/time.Duration(rate), func() {
						text := lines(r, docs, 10)
						docs += 10
						running.Go(func() {
							began := time.Now()
							_, err := f.Add(context.Background(), "news", text)
							if err != nil {
								b.Error(err)
							}
							mu.Lock()
							defer mu.Unlock()
							acks = append(acks, time.Since(began))
						})
					})
				})
			}
			words := rand.New(rand.NewPCG(3, 4))
			every(ctx, 5*time.Millisecond, func() {
				q := engine.Query{Text: fmt.Sprintf("w%d w%d", words.IntN(500), words.IntN(500)), K: 10}
				running.Go(func() {
					began := time.Now()
					if _, _, err := f.c.Search(context.Background(), "news", q, api.Ask{Names: true}); err != nil {
						b.Error(err)
					}
					mu.Lock()
					defer mu.Unlock()
					times = append(times, time.Since(began))
					if m, err := f.c.Maps(context.Background()); err == nil {
						segments += len(m[0].Shards)
					}
				})
			})
			running.Wait()
			report(b, times, "query")
			if rate > 0 {
				report(b, acks, "ack")
				b.ReportMetric(float64(docs-first)/float64(seconds), "docs/s")
			}
			b.ReportMetric(float64((cputime.Total() - cpu).Microseconds()), "cpu-µs")
			now := allocated()
			b.ReportMetric(float64(now.TotalAlloc-memory.TotalAlloc)/1e6/float64(seconds), "MB/s")
			b.ReportMetric(float64(now.NumGC-memory.NumGC)/float64(seconds), "collections/s")
			b.ReportMetric(float64(len(times)), "queries")
			b.ReportMetric(float64(segments)/float64(len(times)), "segments")
		})
	}
}

// allocated returns the bytes allocated and the garbage collections so far.
func allocated() (m runtime.MemStats) {
	runtime.ReadMemStats(&m)
	return m
}

// every calls f at regular times until ctx ends. Late calls follow at once.
func every(ctx context.Context, step time.Duration, f func()) {
	for next := time.Now(); ctx.Err() == nil; next = next.Add(step) {
		time.Sleep(time.Until(next))
		f()
	}
}

// report adds the median and the 99th percentile of times.
func report(b *testing.B, times []time.Duration, name string) {
	slices.Sort(times)
	for _, p := range []int{50, 99} {
		b.ReportMetric(float64(times[len(times)*p/100].Microseconds()), fmt.Sprintf("%s-p%d-µs", name, p))
	}
}
