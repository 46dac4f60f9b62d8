package shard

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"heddle/codec"
	"heddle/codec/codectest"
	"heddle/engine/plan"
)

// zipf has lists of 2,000,000 documents whose lengths fall as text's do, with
// frequencies.
func zipf(b *testing.B) (w *whole, postings int) {
	r := rand.New(rand.NewPCG(13, 13))
	w = &whole{Source: plan.Source{Docs: 2_000_000, Freqs: []uint32{}}}
	uniform := codectest.Generators()[slices.IndexFunc(codectest.Generators(), func(g codectest.Generator) bool { return g.Name == "uniform" })]
	for i := range 400 {
		docs := uniform.Gen(r, 400_000/(1+i), uint64(w.Docs))
		id := codec.ParaPFor
		if len(docs)*32 > int(w.Docs) {
			id = codec.Bitset
		}
		w.add(b, id, docs, func(int) uint32 { return 1 + r.Uint32()>>(24+r.IntN(8)) })
		postings += len(docs)
	}
	return w, postings
}

// BenchmarkSplit cuts docIDs and frequencies.
func BenchmarkSplit(b *testing.B) {
	w, postings := zipf(b)
	for b.Loop() {
		if _, err := Split(b.Context(), &w.Source, 4); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(postings)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mpostings/s")
}

// BenchmarkJoin measures the cost of joining: all parts run on the cores of the whole.
func BenchmarkJoin(b *testing.B) {
	w, _ := zipf(b)
	r := rand.New(rand.NewPCG(14, 14))
	var batch plan.MatchBatch
	for range 2000 {
		batch.Add(&w.Source, r.Uint32N(400), r.Uint32N(400))
	}
	for _, n := range []int{1, 2, 4} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := load(b, &w.Source, onHost(n).over)
			defer s.Close()
			var out plan.Results
			for b.Loop() {
				if err := s.Match(b.Context(), &batch, &out); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(batch.Queries())*float64(b.N)/b.Elapsed().Seconds(), "queries/s")
			b.ReportMetric(float64(len(out.Docs)), "documents")
		})
	}
}
