package hostfallback

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"heddle/codec"
	"heddle/engine/plan"
)

// TestRankNorms asks under more Norms than a store keeps tables for, one after the
// other and at the same time.
func TestRankNorms(t *testing.T) {
	src := rankSource(t, rand.New(rand.NewPCG(6, 1)), 20_000, 0, codec.IDs(), 5000, 300, 9000)
	st := open(t, src, Options{Lazy: true})
	ask := func(i int) *plan.RankBatch {
		r := &plan.RankBatch{K: 20, Norm: plan.NewNorm(0.5+float64(i), 0.4, 100)}
		r.Add(src, plan.Term{List: 0, Weight: 1 << 29}, plan.Term{List: 1, Weight: 1 << 30}, plan.Term{List: 2, Weight: 1 << 28})
		return r
	}
	most := int64(0)
	for i := range 2 * maxNorms {
		sameRanking(t, st, ask(i))
		sameRanking(t, st, ask(i))
		if used := st.tables.Memory.Used(); i < maxNorms {
			most = used
		} else if used != most {
			t.Errorf("after %d Norms tables have %d bytes, those of %d had %d", i+1, used, maxNorms, most)
		}
	}
	var held []*rankTables
	for i := range maxNorms {
		held = append(held, st.norms.under(st.tables, ask(i).Norm))
	}
	sameRanking(t, st, ask(maxNorms)) // without tables
	if st.norms.under(st.tables, ask(maxNorms).Norm) != nil {
		t.Errorf("tables for more Norms than %d", maxNorms)
	}
	for _, h := range held {
		h.done()
	}
	sameRanking(t, st, ask(maxNorms))
	for _, r := range st.norms.all {
		if r.users != 0 {
			t.Errorf("%d batches use tables, none is running", r.users)
		}
	}
}

// TestRankTable checks what tables promise: nothing in a range has a greater share
// than maxima say, and floors are the shares of the rank that they say, rounded down.
func TestRankTable(t *testing.T) {
	src := rankSource(t, rand.New(rand.NewPCG(6, 2)), 300_000, 0, codec.IDs(), 0, 1, 17, 40_000, 3, 100_000, 900)
	st := open(t, src, Options{Lazy: true})
	tables := st.norms.under(st.tables, rankNorm(src))
	for h := range src.Lists {
		table, _, err := tables.build(t.Context(), uint32(h))
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range table.docs {
			if share := table.shares[i]; share > table.most(x, x) || share > table.greatest || table.find(x) != share {
				t.Fatalf("list %d, document %d: share %d, at most %d in its range, %d in all, found %d", h, x, share, table.most(x, x), table.greatest, table.find(x))
			}
			if x > 0 && (i == 0 || table.docs[i-1] != x-1) && table.find(x-1) != 0 {
				t.Fatalf("list %d has document %d, which is not in it", h, x-1)
			}
		}
		best := slices.Sorted(slices.Values(table.shares))
		slices.Reverse(best)
		for i, floor := range table.floors {
			want := uint32(0)
			if n := 1 << i; n <= len(best) {
				want = best[n-1] &^ (1<<(32-levelBits) - 1)
			}
			if floor != want {
				t.Errorf("list %d: the floor of %d documents is %d, want %d", h, 1<<i, floor, want)
			}
		}
	}
}

// TestRankMemory checks that tables keep to the limit.
func TestRankMemory(t *testing.T) {
	src := rankSource(t, rand.New(rand.NewPCG(6, 3)), 100_000, 0, codec.IDs(), 20_000, 30_000, 10_000, 40_000)
	words := 4 * uint64(len(src.Words))
	for _, limit := range []uint64{1, 200_000, 500_000} {
		st := open(t, src, Options{MemoryLimit: limit, Lazy: true})
		r := &plan.RankBatch{K: 10, Norm: rankNorm(src)}
		for h := range src.Lists {
			r.Add(src, plan.Term{List: uint32(h), Weight: 1000})
		}
		sameRanking(t, st, r)
		if used := st.tables.Memory.Used(); used > 4*commonLengths*smallFreqs {
			t.Errorf("a lazy store made tables of %d bytes of lists that were used once", used)
		}
		sameRanking(t, st, r)
		if used := st.Memory() - words; used > limit || limit > 1 && used < limit/3 {
			t.Errorf("tables of %d bytes under a limit of %d", used, limit)
		}
	}
}

// TestRankAfterError ranks after a batch that met a corrupt list halfway: nothing
// of it may be left.
func TestRankAfterError(t *testing.T) {
	for _, limit := range []uint64{0, 1} {
		src := rankSource(t, rand.New(rand.NewPCG(6, 4)), 50_000, 0, []codec.ID{codec.ParaPFor}, 20_000, 20_000, 5000)
		src.Freqs[src.Lists[1].FreqOff+2*90+1] = 0xff000000 // the header of a segment
		st := open(t, src, Options{Threads: 1, MemoryLimit: limit})
		bad := &plan.RankBatch{K: 10, Norm: rankNorm(src)}
		bad.Add(src, plan.Term{List: 0, Weight: 1000}, plan.Term{List: 1, Weight: 1000})
		good := &plan.RankBatch{K: 10, Norm: rankNorm(src)}
		good.Add(src, plan.Term{List: 0, Weight: 1000}, plan.Term{List: 2, Weight: 1000})
		var out plan.TopK
		for range 3 {
			if err := st.Rank(t.Context(), bad, &out); !errors.Is(err, codec.ErrCorrupt) {
				t.Fatalf("corrupt frequencies gave %v", err)
			}
			sameRanking(t, st, good)
		}
	}
}

// TestRankAllocations allows for what goroutines and closures of a batch take, and
// nothing for a query.
func TestRankAllocations(t *testing.T) {
	if raceDetector {
		t.Skip("pools drop what they get under the race detector")
	}
	src := rankSource(t, rand.New(rand.NewPCG(6, 5)), 100_000, 0, codec.IDs(), 1000, 2000, 10_000, 20_000, 300, 5)
	for _, threads := range []int{1, 3} {
		for _, limit := range []uint64{0, 1} {
			st := open(t, src, Options{Threads: threads, MemoryLimit: limit})
			for _, mode := range []plan.Mode{plan.Or, plan.And} {
				r := &plan.RankBatch{Mode: mode, K: 10, Norm: rankNorm(src)}
				for i := range uint32(300) {
					r.Add(src, plan.Term{List: i % 6, Weight: 1000}, plan.Term{List: i / 6 % 6, Weight: 2000})
				}
				var out plan.TopK
				err := st.Rank(t.Context(), r, &out)
				allocs := testing.AllocsPerRun(5, func() {
					if err == nil {
						err = st.Rank(context.Background(), r, &out)
					}
				})
				if err != nil {
					t.Fatal(err)
				}
				if allocs > 40 {
					t.Errorf("%v, %d threads, limit %d: %v allocations for %d queries", mode, threads, limit, allocs, r.Queries())
				}
			}
		}
	}
}

// TestRankCut: the parts of a query cover the documents once, in order.
func TestRankCut(t *testing.T) {
	src := rankSource(t, rand.New(rand.NewPCG(6, 6)), 3*minRankDocs+5, 0, []codec.ID{codec.Bitset}, 3*minRankDocs, 3*minRankDocs, 2)
	for _, mode := range []plan.Mode{plan.Or, plan.And} {
		for _, threads := range []int{1, 2, 9} {
			r := &plan.RankBatch{Mode: mode, K: 1, Norm: rankNorm(src)}
			r.Add(src)
			r.Add(src, plan.Term{List: 2, Weight: 1})
			for range 20 {
				r.Add(src, plan.Term{List: 0, Weight: 1}, plan.Term{List: 1, Weight: 1})
			}
			j := new(ranking)
			j.cut(open(t, src, Options{Threads: threads}), r)
			query, at := 0, uint64(0)
			for _, p := range j.parts {
				if at == uint64(src.Docs) {
					query, at = query+1, 0
				}
				if p.query != query || p.from != at || p.to <= p.from || p.from%minRankDocs != 0 {
					t.Fatalf("%v on %d threads: part %d to %d of query %d behind document %d of query %d", mode, threads, p.from, p.to, p.query, at, query)
				}
				at = p.to
			}
			if query != r.Queries()-1 || at != uint64(src.Docs) {
				t.Errorf("%v on %d threads: parts end at document %d of query %d", mode, threads, at, query)
			}
		}
	}
}

// BenchmarkRank ranks two lists of the same density, with tables of shares and
// without. The unit is nanoseconds a posting, and a posting of the shorter list for
// AND; a range that cannot have any of the best is passed over.
func BenchmarkRank(b *testing.B) {
	const docs = 1 << 20
	ratios := []int{3, 30, 300, 3000}
	var lengths []int
	for _, ratio := range ratios {
		lengths = append(lengths, docs/ratio, docs/ratio)
	}
	src := rankSource(b, rand.New(rand.NewPCG(6, 7)), docs, 0, []codec.ID{codec.ParaPFor}, lengths...)
	for _, limit := range []uint64{0, 200_000} {
		st := open(b, src, Options{Threads: 1, MemoryLimit: limit, Lazy: true})
		for i, ratio := range ratios {
			for _, mode := range []plan.Mode{plan.Or, plan.And} {
				for _, k := range []int{10, 1000} {
					tables := map[bool]string{true: "tables", false: "decoding"}[limit == 0]
					b.Run(fmt.Sprintf("%s/%v/one in %d/best %d", tables, mode, ratio, k), func(b *testing.B) {
						r := &plan.RankBatch{Mode: mode, K: k, Norm: rankNorm(src)}
						r.Add(src, plan.Term{List: uint32(2 * i), Weight: 1 << 30}, plan.Term{List: uint32(2*i + 1), Weight: 1 << 29})
						var out plan.TopK
						for range 2 { // the second makes tables
							if err := st.Rank(b.Context(), r, &out); err != nil {
								b.Fatal(err)
							}
						}
						for b.Loop() {
							if err := st.Rank(b.Context(), r, &out); err != nil {
								b.Fatal(err)
							}
						}
						n := uint64(src.Lists[2*i].Len)
						if mode == plan.Or {
							n = out.Stats.Postings
						}
						b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/posting")
						b.ReportMetric(0, "ns/op")
					})
				}
			}
		}
	}
}
