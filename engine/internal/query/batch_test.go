package query

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"heddle/engine/index/hdl"
	"heddle/engine/index/querylang"
	"heddle/engine/plan"
)

// BenchmarkAdd measures the cost of a conjunction of 2 to 6 terms before it runs: look-ups and order.
func BenchmarkAdd(b *testing.B) {
	const lists, queries = 1 << 16, 100_000
	r := rand.New(rand.NewPCG(1, 2))
	src, terms := &plan.Source{Docs: 1 << 20, Lists: make([]plan.List, lists)}, make([]string, lists)
	for i := range terms {
		terms[i], src.Lists[i].Len = fmt.Sprintf("term%05d", i), 2+uint32(r.ExpFloat64()*20_000)
	}
	dict, err := hdl.NewDictionary(terms)
	if err != nil {
		b.Fatal(err)
	}
	x := &Index{Source: src, Dictionary: dict}
	x.Limits.Terms = 100
	qs := make([]Query, queries)
	for i := range qs {
		qs[i].Match = querylang.AllTerms
		for range 2 + r.IntN(5) {
			qs[i].Terms = append(qs[i].Terms, terms[r.IntN(lists)])
		}
	}
	var batch Batch
	var s Settings
	for b.Loop() {
		for i := range qs {
			if i%1000 == 0 {
				batch.Reset(&s.Kind)
			}
			if _, err := batch.Add(x, &qs[i], &s); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*queries), "ns/query")
}
