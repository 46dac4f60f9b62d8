package match

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"heddle/cl/internal/device"
	"heddle/cl/internal/device/devicetest"
	"heddle/codec"
	"heddle/engine/plan"
)

func benchBackend(b *testing.B, t device.Tuning) *device.Runtime {
	d := devicetest.Find(b, ops)
	backend, err := device.Open(context.Background(), d, device.Options{Profiling: true, Tuning: &t, SkipSelfTest: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { backend.Close() })
	return backend
}

func benchStore(b *testing.B, backend *device.Runtime, src *plan.Source) *Matcher {
	s, err := loadFor(context.Background(), backend, src)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.close() })
	return s
}

// BenchmarkDecode measures the decode kernel alone: lists of 8-bit gaps to
// docIDs in device memory.
func BenchmarkDecode(b *testing.B) {
	n, postings := 16<<20, 8
	if devicetest.Small() {
		n, postings = 1<<20, 2
	}
	for _, kind := range []struct {
		name   string
		lo, hi uint32
	}{{"b=8", 129, 256}, {"b=13", 1, 256}} {
		src := &plan.Source{Docs: 1<<32 - 1}
		r := rand.New(rand.NewPCG(1, 2))
		var batch plan.MatchBatch
		for range postings {
			docs := devicetest.Spread(r, n, kind.lo, kind.hi)
			if kind.name == "b=13" { // every tenth gap is an exception
				at := uint32(0)
				for i := range docs {
					if at += 1 + r.Uint32N(100); i%10 == 3 {
						at += 600
					}
					docs[i] = at
				}
			}
			h, err := src.Append(codec.ParaPFor, docs, codec.DefaultOptions())
			if err != nil {
				b.Fatal(err)
			}
			batch.Add(src, h)
		}
		batch.CountOnly = true
		batch.Algorithm = plan.BS
		name := kind.name
		if name == "b=13" {
			name = "exceptions"
		}
		for shape, t := range devicetest.Shapes(devicetest.Find(b, ops)) {
			if !devicetest.Small() { // launches of 2^27 values: their start and end then weigh little
				t.RoundTiles, t.Slots = 1<<18, 1
			}
			b.Run(name+"/"+shape, func(b *testing.B) {
				s := benchStore(b, benchBackend(b, t), src)
				var out plan.Results
				var sum plan.Stats
				for b.Loop() {
					if err := s.Match(context.Background(), &batch, &out); err != nil {
						b.Fatal(err)
					}
					sum.Add(out.Stats)
				}
				b.ReportMetric(float64(sum.Candidates)/sum.Decode.Seconds()/1e9, "Gints/s")
				b.ReportMetric(4*float64(sum.Candidates)*(1+float64(len(src.Words))/float64(n*postings))/sum.Decode.Seconds()/1e9, "GB/s")
			})
		}
	}
}

// BenchmarkIntersect measures queries of two and three lists, kernels and end to
// end, with four callers.
func BenchmarkIntersect(b *testing.B) {
	const docs = 1 << 20 // gaps stop short of docs
	pool, queries := 1000, 8000
	if devicetest.Small() {
		pool, queries = 50, 160
	}
	r := rand.New(rand.NewPCG(3, 4))
	for _, id := range codec.IDs() {
		if id == codec.Bitset {
			continue
		}
		src := &plan.Source{Docs: docs}
		for _, n := range []int{8600, 25000, 64000} {
			for range pool {
				if _, err := src.Append(id, devicetest.Spread(r, n, 1, uint32(2*docs/n*9/10-1)), codec.DefaultOptions()); err != nil {
					b.Fatal(err)
				}
			}
		}
		batches := make([]plan.MatchBatch, 8)
		for i := range batches {
			for range queries / len(batches) {
				h := [3]plan.Handle{}
				for k := range h {
					h[k] = plan.Handle(k*pool + r.IntN(pool))
				}
				if r.IntN(2) == 0 {
					batches[i].Add(src, h[0], h[2])
				} else {
					batches[i].Add(src, h[:]...)
				}
			}
		}
		for shape, t := range devicetest.Shapes(devicetest.Find(b, ops)) {
			// After the algorithms: Auto with counts only, HS16 as PART.
			some := append([]plan.Algorithm{plan.BS, plan.LR, plan.HS16, plan.Bits}, plan.Auto, plan.HS16)
			if id == codec.Raw {
				some = append(slices.Clone(algorithms), plan.Auto, plan.HS16)
			}
			for i, a := range some {
				name, countOnly, part := a.String(), i == len(some)-2, i == len(some)-1
				if countOnly {
					name = "count"
				} else if part {
					name = "part"
				}
				b.Run(fmt.Sprintf("%s/%s/%s", id, name, shape), func(b *testing.B) {
					s := benchStore(b, benchBackend(b, t), src)
					var mu sync.Mutex
					var sum plan.Stats
					for b.Loop() {
						var wg sync.WaitGroup
						for i := range 4 {
							wg.Go(func() {
								var out plan.Results
								for j := i; j < len(batches); j += 4 {
									batch := batches[j]
									batch.Algorithm, batch.CountOnly, batch.Part = a, countOnly, part
									if err := s.Match(context.Background(), &batch, &out); err != nil {
										b.Error(err)
									}
									mu.Lock()
									sum.Add(out.Stats)
									mu.Unlock()
								}
							})
						}
						wg.Wait()
					}
					q := float64(sum.Queries)
					b.ReportMetric(q/b.Elapsed().Seconds()/1e6, "Mq/s")
					b.ReportMetric(q/sum.Kernel().Seconds()/1e6, "kernelMq/s")
					b.ReportMetric(float64(sum.Candidates)/sum.Probe.Seconds()/1e9, "Gcand/s")
					b.ReportMetric(sum.Decode.Seconds()*1e9/q, "decode-ns/q")
					b.ReportMetric(sum.Probe.Seconds()*1e9/q, "probe-ns/q")
					b.ReportMetric(sum.Compact.Seconds()*1e9/q, "compact-ns/q")
					b.ReportMetric((sum.Upload+sum.Download).Seconds()*1e9/q, "transfer-ns/q")
				})
			}
		}
	}
}
