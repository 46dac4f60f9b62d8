package hostfallback

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
)

// BenchmarkFiltered ranks queries of two to four terms on one thread, without a filter and with
// filters of several shares of the documents. Lists have the densities of words of web pages. Metric
// µs/query is the time of a query.
func BenchmarkFiltered(b *testing.B) {
	docs := uint32(1 << 21)
	if testing.Short() {
		docs = 1 << 15
	}
	r := rand.New(rand.NewPCG(1, 2))
	s := plantest.NewRanked(r, docs, 0, plantest.LengthKinds[0].One)
	for i := range 32 {
		n := int(float64(docs) / (4 + 4*float64(i*i)/8))
		list := plantest.Uniform(docs, n, r)
		s.AddRanked(b, codec.ParaPFor, list, s.Draw(r, len(list), plantest.FrequencyKinds[1].One))
	}
	st, err := New(Options{Threads: 1}).Load(b.Context(), &s.Source)
	if err != nil {
		b.Fatal(err)
	}
	defer st.Close()
	filters := map[string]plan.Filter{}
	names := []string{"all documents"}
	for _, percent := range []float64{50, 10, 1, 0.1, 0.001} {
		name := fmt.Sprintf("%g %%", percent)
		f, err := st.Filter(b.Context(), plantest.NewFilter(docs, func(uint32) bool { return r.Float64()*100 < percent }))
		if err != nil {
			b.Fatal(err)
		}
		filters[name], names = f, append(names, name)
	}
	var batch plan.RankBatch
	batch.Reset()
	batch.K, batch.Norm = 10, s.Norm(0.9, 0.4)
	for range 64 {
		terms := r.Perm(32)[:2+r.IntN(3)]
		handles := make([]plan.Handle, len(terms))
		for i, t := range terms {
			handles[i] = uint32(t)
		}
		batch.Add(&s.Source, plantest.Weighted(r, handles...)...)
	}
	for _, mode := range []plan.Mode{plan.Or, plan.And} {
		batch.Mode = mode
		for _, name := range names {
			batch.Filters = nil
			if f := filters[name]; f != nil {
				for range batch.Queries() {
					batch.Filters = append(batch.Filters, f)
				}
			}
			b.Run(fmt.Sprintf("%v/%s", mode, name), func(b *testing.B) {
				var out plan.TopK
				for b.Loop() {
					if err := st.Rank(b.Context(), &batch, &out); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*batch.Queries()), "µs/query")
			})
		}
	}
}
