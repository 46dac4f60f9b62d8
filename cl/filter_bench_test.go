package cl

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"heddle/cl/internal/device/devicetest"
	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
)

// BenchmarkFilters measures queries of two to four terms on 25 million documents, without a filter
// and with filters of several shares of the documents, in batches of 256; the time to make a filter
// from a predicate on two columns of a table, alone and with another filter; and the time to count a
// million rows, which lie on the host, by the codes and by bins of ten columns. Lists have the densities of words of web pages. Metric µs/query is the time of a
// query.
func BenchmarkFilters(b *testing.B) {
	d := devicetest.Find(b, everything)
	docs := uint32(25_200_000)
	if devicetest.Small() {
		docs = 1 << 18
	}
	backend, err := Open(b.Context(), d, Options{SkipSelfTest: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { backend.Close() })
	b.Run("make", func(b *testing.B) { benchMake(b, backend, docs) })

	r := rand.New(rand.NewPCG(1, 2))
	s := plantest.NewRanked(r, docs, 0, plantest.LengthKinds[0].One)
	for i := range 32 {
		list := devicetest.Spread(r, int(float64(docs)/(6+4*float64(i*i)/8)), 1, 2*uint32(6+4*i*i/8)-1)
		for len(list) > 0 && list[len(list)-1] >= docs {
			list = list[:len(list)-1]
		}
		freqs := make([]uint32, len(list))
		for k := range freqs {
			for freqs[k] = 1; r.Uint32()%3 == 0; freqs[k]++ {
			}
		}
		s.AddRanked(b, codec.ParaPFor, list, freqs)
	}
	st, err := backend.Load(b.Context(), &s.Source)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { st.Close() })
	filters := []plan.Filter{nil}
	names := []string{"all documents"}
	for _, percent := range []float64{100, 50, 10, 1, 0.1, 0.01} {
		f, err := st.Filter(b.Context(), plantest.NewFilter(docs, func(uint32) bool { return r.Float64()*100 < percent }))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { f.Close() })
		filters, names = append(filters, f), append(names, fmt.Sprintf("%g %%", percent))
	}
	var ranks plan.RankBatch
	var match plan.MatchBatch
	ranks.Reset()
	match.Reset()
	ranks.K, ranks.Norm = 10, s.Norm(0.9, 0.4)
	for range 256 {
		terms := r.Perm(32)[:2+r.IntN(3)]
		handles := make([]plan.Handle, len(terms))
		for i, t := range terms {
			handles[i] = uint32(t)
		}
		ranks.Add(&s.Source, plantest.Weighted(r, handles...)...)
		match.Add(&s.Source, handles...)
	}
	for i, name := range names {
		var all []plan.Filter
		for range ranks.Queries() {
			all = append(all, filters[i])
		}
		ranks.Filters, match.Filters = all, all
		for _, mode := range []plan.Mode{plan.Or, plan.And} {
			b.Run(fmt.Sprintf("rank %v/%s", mode, name), func(b *testing.B) {
				var out plan.TopK
				ranks.Mode = mode
				loop(b, func() error { return st.Rank(b.Context(), &ranks, &out) })
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/1e3/float64(b.N*ranks.Queries()), "µs/query")
			})
		}
		for _, count := range []bool{true, false} {
			b.Run(fmt.Sprintf("match count=%t/%s", count, name), func(b *testing.B) {
				var out plan.Results
				match.CountOnly = count
				loop(b, func() error { return st.Match(b.Context(), &match, &out) })
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/1e3/float64(b.N*match.Queries()), "µs/query")
			})
		}
	}
}

// loop measures f behind a first call, which may build kernels and copy stored values.
func loop(b *testing.B, f func() error) {
	err := f()
	for err == nil && b.Loop() {
		err = f()
	}
	if err != nil {
		b.Fatal(err)
	}
}

// benchMake measures the making of filters of a universe.
func benchMake(b *testing.B, backend plan.Backend, docs uint32) {
	r := rand.New(rand.NewPCG(3, 4))
	tab := plantest.NewTable(docs, 32)
	const values = 16
	var columns []plan.Input
	for range 2 { // columns
		codes := make([]uint8, docs)
		for i := range codes {
			codes[i] = uint8(r.IntN(values))
		}
		for v := range uint8(values) {
			tab.AddVector(plantest.NewFilter(docs, func(d uint32) bool { return codes[d] == v }))
		}
		stored := make([]uint64, docs)
		for i, code := range codes {
			stored[i] = uint64(code)
		}
		for range 5 {
			columns = append(columns, plan.Input{Column: tab.AddCodes(b, stored), Last: values - 1})
		}
	}
	t, err := backend.LoadTable(b.Context(), &tab.Table)
	if err != nil {
		b.Fatal(err)
	}
	defer t.Close()
	rows := plantest.NewFilter(docs, func(uint32) bool { return r.Uint32N(docs) < 1_000_000 })
	binned := slices.Clone(columns)
	for i := range binned {
		binned[i].Bounds = []uint64{3, 8, 12}
	}
	for name, columns := range map[string][]plan.Input{"facets of 10 columns, 1 M rows": columns, "bins of 10 columns, 1 M rows": binned} {
		b.Run(name, func(b *testing.B) {
			loop(b, func() error {
				_, err := t.(plan.CodeCounter).CountCodes(b.Context(), rows, columns)
				return err
			})
		})
	}
	var one plan.SelectBatch
	one.Any(0)
	one.End()
	other, err := t.Filter(b.Context(), &one, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer other.Close()
	for _, of := range []struct {
		name   string
		widths [2]uint32
		not    bool // the rows of no vector, as the engine asks for more than half of the values of a column
	}{{"two columns, 50 %", [2]uint32{11, 12}, false}, {"two columns, 50 %, by the other values", [2]uint32{5, 4}, true}, {"two columns, 0.4 %", [2]uint32{1, 1}, false}} {
		var sel plan.SelectBatch
		sel.Reset()
		for c, width := range of.widths {
			var vectors []uint32
			for v := range width {
				vectors = append(vectors, uint32(c)*values+v)
			}
			sel.Any(vectors...)
			if of.not {
				sel.Do(plan.StepNot)
			}
		}
		sel.Do(plan.StepAnd)
		sel.End()
		for name, with := range map[string]plan.Filter{of.name: nil, of.name + " and a filter": other} {
			b.Run(name, func(b *testing.B) {
				loop(b, func() error {
					f, err := t.Filter(b.Context(), &sel, with)
					if err == nil {
						err = f.Close()
					}
					return err
				})
			})
		}
	}
}
