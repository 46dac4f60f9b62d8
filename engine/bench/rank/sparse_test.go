package rank

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"

	"heddle/codec"
	"heddle/engine/bench/workload"
	"heddle/engine/internal/cputime"
	"heddle/engine/plan"
	"heddle/hostfallback"
)

func TestSparse(t *testing.T) {
	const docs = 20_000
	w, err := Sparse(t.Context(), 1, 20, docs, codec.ParaPFor, workload.Reordered)
	if err != nil {
		t.Fatal(err)
	}
	if w.Source.Impacts != sparseImpacts || len(w.Queries) != 20 {
		t.Errorf("%d bits, %d queries", w.Source.Impacts, len(w.Queries))
	}
	for i, q := range w.Queries {
		distinct := slices.Compact(slices.Sorted(slices.Values(w.Handles[i])))
		if n := len(q.Terms); n < sparseLeast || n > sparseMost || len(q.Weights) != n || slices.Min(q.Weights) <= 0 || len(distinct) != n {
			t.Errorf("query %d: %d terms, weights %v", i, n, q.Weights)
		}
	}
	for h := range w.Source.Lists {
		if most := slices.Max(checkList(t, w, plan.Handle(h))); most > 1<<sparseImpacts-2 {
			t.Errorf("list %d has impact %d", h, most+1)
		}
	}
	if sum := rankChecksum(w); sum != 0x95d95a81aed57af4 {
		t.Errorf("checksum %#x", sum)
	}
	number := sparseNumbers(1, docs, sparseStrays)
	moved := 0
	for place, d := range number {
		if d != uint32(place) {
			moved++
		}
	}
	slices.Sort(number)
	if share := float64(moved) / docs; math.Abs(share-sparseStrays) > 0.02 || number[0] != 0 || number[docs-1] != docs-1 || len(slices.Compact(number)) != docs {
		t.Errorf("%v of the documents are strays", share)
	}
}

// TestSparseStatistics compares all lists of a small collection with the published numbers in the documentation of
// package bench.
func TestSparseStatistics(t *testing.T) {
	const docs, queries = 20_000, 400
	m := newSparseModel(1, docs)
	handles := make([]int32, sparseTerms)
	for i := range handles {
		handles[i] = int32(i)
	}
	from, err := m.origins(t.Context(), handles, sparseTerms)
	if err != nil {
		t.Fatal(err)
	}
	number := sparseNumbers(1, docs, 0)
	impacts := make([][]float64, docs) // by document
	lengths := make([]float64, sparseTerms)
	var s postings
	for h := range from {
		s.drawSparse(m, uint16(h), from[h], number)
		lengths[h] = float64(len(s.positions))
		for i, d := range s.positions {
			impacts[d] = append(impacts[d], float64(s.freqs[i]+1))
		}
	}
	sum := func(x []float64) (sum float64) {
		for _, v := range x {
			sum += v
		}
		return sum
	}
	descending := func(a, b float64) int { return cmp.Compare(b, a) }
	total, mass, top := 0.0, 0.0, 0.0
	for _, x := range impacts {
		slices.SortFunc(x, descending)
		total += float64(len(x))
		mass += sum(x)
		top += sum(x[:min(50, len(x))]) / sum(x)
	}
	length, overlap, heavy := 0.0, 0.0, 0.0
	for _, q := range m.queries(queries, docs) {
		length += float64(len(q.terms))
		for _, term := range q.terms {
			overlap += lengths[term] / docs
		}
		slices.SortFunc(q.weights, descending)
		heavy += sum(q.weights[:min(10, len(q.weights))]) / sum(q.weights)
	}
	for _, c := range []struct {
		what                 string
		got, want, tolerance float64
	}{
		{"terms a document", total / docs, 119, 0.05},
		{"terms a query", length / queries, 43, 0.05},
		{"mean impact, not published", mass / total, 45, 0.1},
		{"share of the 50 greatest impacts of a document", top / docs, 0.75, 0.1},
		{"share of the 10 greatest weights of a query", heavy / queries, 0.75, 0.1},
		{"common terms of a document and a query", overlap / queries, 2.65, 0.44}, // 1.48 to 3.82
	} {
		t.Logf("%s: %.3g, published %.3g", c.what, c.got, c.want)
		if math.Abs(c.got-c.want) > c.tolerance*c.want {
			t.Errorf("%s: %v, want %v", c.what, c.got, c.want)
		}
	}
	slices.SortFunc(lengths, descending)
	t.Logf("longest lists: %v of %d", lengths[:10], docs)
}

// BenchmarkSparse ranks 100 queries by ranges and by blocks on one thread, and compares the answers. HEDDLE_BENCH_DOCS is
// the number of documents, HEDDLE_BENCH_UNIFORM=1 puts them in uniform order.
func BenchmarkSparse(b *testing.B) {
	docs, order := 100_000, workload.Reordered
	if text := os.Getenv("HEDDLE_BENCH_DOCS"); text != "" {
		var err error
		if docs, err = strconv.Atoi(text); err != nil {
			b.Fatal(err)
		}
	}
	if os.Getenv("HEDDLE_BENCH_UNIFORM") != "" {
		order = workload.Uniform
	}
	w, err := Sparse(b.Context(), 1, 100, uint32(docs), codec.ParaPFor, order)
	if err != nil {
		b.Fatal(err)
	}
	backend := hostfallback.New(hostfallback.Options{Threads: 1})
	defer backend.Close()
	for _, k := range []int{10, 100, 1000} {
		var want plan.TopK
		for _, a := range []plan.Accumulators{plan.RangeAccumulators, plan.BlockAccumulators} {
			r := &plan.RankBatch{K: k, Norm: plan.Norm{Impacts: sparseImpacts}, Accumulators: a}
			for i, q := range w.Queries {
				var terms []plan.Term
				for j, h := range w.Handles[i] {
					terms = append(terms, plan.Term{List: h, Weight: 1 + uint32(q.Weights[j]*1e6)})
				}
				r.Add(w.Source, terms...)
			}
			st, err := backend.Load(b.Context(), w.Source) // both have the whole memory for tables
			if err != nil {
				b.Fatal(err)
			}
			var got plan.TopK
			for range 2 { // the second pass makes tables
				if err := st.Rank(b.Context(), r, &got); err != nil {
					b.Fatal(err)
				}
			}
			if a == plan.RangeAccumulators {
				want = got
			} else if !slices.Equal(got.Docs, want.Docs) || !slices.Equal(got.Scores, want.Scores) {
				b.Fatalf("best %d: blocks disagree with ranges", k)
			} else if got.Stats.Pruned != 100 {
				b.Fatalf("best %d: %d of 100 queries prune blocks: the memory of tables is full", k, got.Stats.Pruned)
			}
			b.Run(fmt.Sprintf("k=%d/accumulators=%d", k, a), func(b *testing.B) {
				began := cputime.Total()
				for b.Loop() {
					if err := st.Rank(b.Context(), r, &got); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64((cputime.Total()-began).Microseconds())/float64(b.N*100), "µs-CPU/query")
			})
			if err := st.Close(); err != nil {
				b.Fatal(err)
			}
		}
	}
}
