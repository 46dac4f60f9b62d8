package cl

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"heddle/cl/internal/device/devicetest"
	"heddle/codec"
	"heddle/engine/plan"
)

// zipfLog is a source whose lists have lengths as in text (list r has a share of
// 1/(r+c)), and batches of queries of two to four lists, of which some are asked for by
// Zipf's law whatever their length.
func zipfLog(b *testing.B, id codec.ID, postings, batches, queries int) (*plan.Source, []plan.MatchBatch) {
	b.Helper()
	docs := 200 * postings
	r := rand.New(rand.NewPCG(1, 2))
	src := &plan.Source{Docs: uint32(docs)}
	for i := range postings {
		n := max(docs/3/(i+3), 64)
		if _, err := src.Append(id, devicetest.Spread(r, n, 1, uint32(2*docs/n*7/10-1)), codec.DefaultOptions()); err != nil {
			b.Fatal(err)
		}
	}
	popular := r.Perm(postings)
	zipf := rand.NewZipf(r, 1.1, 10, uint64(postings-1))
	log := make([]plan.MatchBatch, batches)
	for i := range log {
		for range queries {
			q := make([]plan.Handle, 2+r.IntN(3))
			for k := range q {
				q[k] = plan.Handle(popular[zipf.Uint64()])
			}
			log[i].Add(src, q...)
		}
	}
	return src, log
}

// BenchmarkMissing measures Missing for a query of three lists.
func BenchmarkMissing(b *testing.B) {
	src, _ := zipfLog(b, codec.Raw, 1000, 0, 0)
	backend := devicetest.OpenRow(b, devicetest.Find(b, everything), devicetest.Find(b, everything).Tuning(), true)
	s, err := openCached(context.Background(), backend, src, 256<<20, percentOf(src, 50, 1))
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	query := []plan.Handle{200, 100, 50}
	for b.Loop() {
		if n, ok := s.Missing(query, false); !ok || n == 0 {
			b.Fatalf("%d bytes, %t", n, ok)
		}
	}
}

// BenchmarkCached answers a log with four callers, whose batches are of one query or of
// many, where a part of the lists is resident, and where all are.
func BenchmarkCached(b *testing.B) {
	postings, batches := 20_000, 512
	if devicetest.Small() {
		postings, batches = 2000, 32
	}
	for _, id := range []codec.ID{codec.Raw, codec.ParaPFor} {
		for _, queries := range []int{1, 64} {
			src, log := zipfLog(b, id, postings, batches*64/queries, queries)
			for _, percent := range []uint64{10, 25, 50, 100, 0} { // 0: a Store of all lists, by BS
				name := fmt.Sprintf("%v/%d queries/%d%%", id, queries, percent)
				if percent == 0 {
					name = fmt.Sprintf("%v/%d queries/resident", id, queries)
				}
				b.Run(name, func(b *testing.B) {
					backend := devicetest.OpenRow(b, devicetest.Find(b, everything), devicetest.Find(b, everything).Tuning(), true)
					var s plan.Store
					var cached *CachedStore
					var err error
					if percent == 0 {
						s, err = load(context.Background(), backend, src)
					} else {
						cached, err = openCached(context.Background(), backend, src, min(1<<30, backend.Memory.Left()/2), percentOf(src, percent, 1))
						s = cached
					}
					if err != nil {
						b.Fatal(err)
					}
					defer s.Close()
					answer := func() {
						var wg sync.WaitGroup
						for caller := range 4 {
							wg.Go(func() {
								var out plan.Results
								for i := caller; i < len(log); i += 4 {
									batch := log[i]
									batch.Algorithm, batch.CountOnly = plan.BS, true
									if err := s.Match(context.Background(), &batch, &out); err != nil {
										b.Error(err)
									}
								}
							})
						}
						wg.Wait()
					}
					answer() // the cache is as full as it gets
					var before plan.CacheStats
					if cached != nil {
						before = cached.CacheStats()
					}
					n := 0
					for b.Loop() {
						answer()
						n += len(log) * queries
					}
					b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "queries/s")
					if cached != nil {
						c := cached.CacheStats()
						hits, misses := c.Hits-before.Hits, c.Misses-before.Misses
						b.ReportMetric(100*float64(hits)/float64(hits+misses), "%hits")
						b.ReportMetric(float64(c.BytesIn-before.BytesIn)/float64(n)/1024, "KiB-in/query")
					}
				})
			}
		}
	}
}
