package engine

import (
	"testing"
	"time"

	"heddle/engine/index/bm25"
	"heddle/engine/internal/cputime"
	"heddle/engine/plan"
	"heddle/hostfallback"
)

// BenchmarkSingle asks one query of two words with Search, and its store with the same batch, in turns: CPU time of
// both.
func BenchmarkSingle(b *testing.B) {
	x := rankedCorpus(400).open(b, 0, Options{Backend: "host", Threads: 1})
	src := x.Source()
	store, err := hostfallback.New(hostfallback.Options{Threads: 1}).Load(b.Context(), src)
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	words := []string{"t12", "t20"}
	var lists []plan.Handle
	var terms []plan.Term
	for _, w := range words {
		h, _ := x.Internal().Current().Dictionary.Lookup(w)
		lists, terms = append(lists, h), append(terms, plan.Term{List: h, Weight: 1 << 20})
	}
	st := x.Statistics()
	ranks := plan.RankBatch{K: 10, Norm: bm25.Default().Norm(float64(st.Length) / float64(st.Docs))}
	ranks.Add(src, terms...)
	counts := plan.MatchBatch{CountOnly: true}
	counts.Add(src, lists...)
	var top plan.TopK
	var found plan.Results
	for _, kind := range []struct {
		name  string
		query Query
		store func() error
	}{
		{"best ten", Query{Terms: words, K: 10}, func() error { return store.Rank(b.Context(), &ranks, &top) }},
		{"count", Query{Terms: words, Match: And, CountOnly: true}, func() error { return store.Match(b.Context(), &counts, &found) }},
	} {
		b.Run(kind.name, func(b *testing.B) {
			const each = 1000
			var used [2]time.Duration
			var h Hits
			kind.query.Memory = &h
			for b.Loop() {
				began := cputime.Total()
				for range each {
					if err := kind.store(); err != nil {
						b.Fatal(err)
					}
				}
				between := cputime.Total()
				for range each {
					if h, err = x.Search(b.Context(), kind.query); err != nil {
						b.Fatal(err)
					}
				}
				used[0] += between - began
				used[1] += cputime.Total() - between
			}
			n := float64(b.N * each)
			b.ReportMetric(float64(used[0].Nanoseconds())/n, "store-CPU-ns")
			b.ReportMetric(float64(used[1].Nanoseconds())/n, "search-CPU-ns")
			b.ReportMetric(float64((used[1]-used[0]).Nanoseconds())/n, "added-CPU-ns")
		})
	}
}
