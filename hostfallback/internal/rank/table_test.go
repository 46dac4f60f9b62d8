package rank

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/hostfallback/internal/hosttest"
	"heddle/hostfallback/work"
)

// TestRankNorms ranks under more Norms than have tables, one after another and at the
// same time.
func TestRankNorms(t *testing.T) {
	src := hosttest.RankedSource(t, rand.New(rand.NewPCG(6, 1)), 20_000, 0, codec.IDs(), 5000, 300, 9000)
	st, lists := open(src, 2, 0), decode(t, src)
	ask := func(i int) *plan.RankBatch {
		r := &plan.RankBatch{K: 20, Norm: plan.NewNorm(0.5+float64(i), 0.4, 100)}
		r.Add(src, plan.Term{List: 0, Weight: 1 << 29}, plan.Term{List: 1, Weight: 1 << 30}, plan.Term{List: 2, Weight: 1 << 28})
		return r
	}
	most := int64(0)
	for i := range 2 * maxNorms {
		sameRanking(t, st, lists, ask(i))
		sameRanking(t, st, lists, ask(i))
		if used := st.work.Memory.Used(); i < maxNorms {
			most = used
		} else if used != most {
			t.Errorf("after %d Norms tables take %d bytes, after %d Norms %d", i+1, used, maxNorms, most)
		}
	}
	var held []*tables
	for i := range maxNorms {
		held = append(held, st.norms.tables(ask(i).Norm))
	}
	sameRanking(t, st, lists, ask(maxNorms)) // without tables
	if st.norms.tables(ask(maxNorms).Norm) != nil {
		t.Errorf("tables for more Norms than %d", maxNorms)
	}
	for _, h := range held {
		h.release()
	}
	sameRanking(t, st, lists, ask(maxNorms))
	for _, r := range st.norms.all {
		if r.users != 0 {
			t.Errorf("%d batches use tables, none is running", r.users)
		}
	}
}

// TestRankTable checks tables: maxima bound the components of their range, and floors are
// the components at their rank, rounded down.
func TestRankTable(t *testing.T) {
	src := hosttest.RankedSource(t, rand.New(rand.NewPCG(6, 2)), 300_000, 0, codec.IDs(), 0, 1, 17, 40_000, 3, 100_000, 900)
	st := open(src, 2, 0)
	tables := st.norms.tables(hosttest.Norm(src))
	for h := range src.Lists {
		built, err := tables.build(t.Context(), uint32(h), new(claim))
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range built.docs {
			if tf := built.tfs[i]; tf > built.blockMax(x, x) || tf > built.greatest || built.find(x) != tf {
				t.Fatalf("list %d, document %d: component %d, at most %d in its range, %d in all, found %d", h, x, tf, built.blockMax(x, x), built.greatest, built.find(x))
			}
			if fine, tf := built.fineMaxima[x>>built.fineShift], built.tfs[i]; tf>>24 >= uint32(fine) && fine != greatestFine {
				t.Fatalf("list %d, document %d: component %d, at most %d<<24 in its 64 documents", h, x, tf, fine)
			}
			if x > 0 && (i == 0 || built.docs[i-1] != x-1) && built.find(x-1) != 0 {
				t.Fatalf("list %d has document %d, which is not in it", h, x-1)
			}
		}
		best := slices.Sorted(slices.Values(built.tfs))
		slices.Reverse(best)
		if long := len(best) >= topLen*topShare; long != (len(built.top) == topLen) {
			t.Errorf("list %d of %d postings: a top of %d", h, len(best), len(built.top))
		}
		for i, k := range built.top {
			if x, tf := k.split(); tf != best[i] || built.find(x) != tf {
				t.Fatalf("list %d: %d is number %d of the components, want %d", h, tf, i, best[i])
			}
		}
		for i, floor := range built.floors {
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

// TestRankMemory checks that tables stay within the limit.
func TestRankMemory(t *testing.T) {
	src := hosttest.RankedSource(t, rand.New(rand.NewPCG(6, 3)), 100_000, 0, codec.IDs(), 20_000, 30_000, 10_000, 40_000)
	lists := decode(t, src)
	for _, limit := range []uint64{1, 200_000, 500_000} {
		st := open(src, 2, limit)
		r := &plan.RankBatch{K: 10, Norm: hosttest.Norm(src)}
		for h := range src.Lists {
			r.Add(src, plan.Term{List: uint32(h), Weight: 1000})
		}
		sameRanking(t, st, lists, r)
		if used := st.work.Memory.Used(); used > commonBytes {
			t.Errorf("tables of %d bytes for lists that were used once", used)
		}
		sameRanking(t, st, lists, r)
		if used := uint64(st.work.Memory.Used()); used > limit || limit > 1 && used < limit/3 {
			t.Errorf("tables of %d bytes under a limit of %d", used, limit)
		}
	}
}

// TestFirstUse: the first ranking under a Norm builds no table of a list, whatever Norms came before, and a
// source of few postings never has a table of common components.
func TestFirstUse(t *testing.T) {
	for _, postings := range []int{9000, 4 * commonLengths * smallFreqs} {
		src := hosttest.RankedSource(t, rand.New(rand.NewPCG(6, 10)), 4*commonLengths*smallFreqs, 0, codec.IDs(), postings, 300)
		st, lists := open(src, 2, 0), decode(t, src)
		for i := range 2 * maxNorms {
			r := &plan.RankBatch{K: 20, Norm: plan.NewNorm(0.5+float64(i), 0.4, 100)}
			r.Add(src, plan.Term{List: 0, Weight: 1 << 29}, plan.Term{List: 1, Weight: 1 << 30})
			for _, built := range []bool{false, true} {
				sameRanking(t, st, lists, r)
				tables := st.norms.tables(r.Norm)
				for h := range src.Lists {
					if got := tables.lists.At(uint32(h), len(src.Lists)).Load(); (got != usedOnce) != built {
						t.Errorf("%d postings, Norm %d, list %d: %+v, want a table: %v", postings, i, h, got, built)
					}
				}
				if common := tables.components.common != nil; common != (postings > 9000) {
					t.Errorf("%d postings: common components: %v", postings, common)
				}
				tables.release()
			}
		}
	}
}

// TestClaim: bytes of bounds that a claim gives back are kept for bounds again.
func TestClaim(t *testing.T) {
	memory := work.NewBudget(100, 0)
	memory.Hold(40)
	for range 2 {
		var c claim
		if !c.takeBounds(memory, 30) || !c.take(memory, 20) || !c.takeBounds(memory, 20) || c.take(memory, 21) || memory.Used() != 70 {
			t.Fatalf("%d bytes in use, %+v", memory.Used(), c)
		}
		c.free(memory)
		if memory.Used() != 0 || memory.Left() != 60 {
			t.Fatalf("%d bytes in use, %d left besides bounds", memory.Used(), memory.Left())
		}
	}
}

// TestBoundsAreKept: boolean tables that are built first leave the memory of the bounds,
// which every list then has.
func TestBoundsAreKept(t *testing.T) {
	src := hosttest.RankedSource(t, rand.New(rand.NewPCG(6, 8)), 1<<20, 0, []codec.ID{codec.ParaPFor}, 50_000, 60_000, 10_000, 40_000)
	st := open(src, 1, 10*commonBytes)
	hosttest.PrepareAll(t, src, st.aux.Prepare)
	if left := st.work.Memory.Limit() - st.work.Memory.Used(); left > 3*commonBytes {
		t.Fatalf("boolean tables leave %d bytes: the test needs a smaller limit", left)
	}
	r := &plan.RankBatch{K: 10, Norm: hosttest.Norm(src)}
	for h := range src.Lists {
		r.Add(src, plan.Term{List: uint32(h), Weight: 1000})
	}
	for range 2 { // the second one builds tables
		sameRanking(t, st, decode(t, src), r)
	}
	tables := st.norms.tables(r.Norm)
	defer tables.release()
	if tables.components.common == nil {
		t.Error("no memory for common components")
	}
	for h := range src.Lists {
		if built := tables.lists.At(uint32(h), len(src.Lists)).Load(); built.blockMaxima == nil || built.fineMaxima == nil {
			t.Errorf("no memory for the bounds of list %d", h)
		}
	}
	if used, limit := st.work.Memory.Used(), st.work.Memory.Limit(); used > limit {
		t.Errorf("%d bytes in use under a limit of %d", used, limit)
	}
}

// TestRankAfterError ranks after a batch that failed at a corrupt list: no score of the
// failed batch may be left.
func TestRankAfterError(t *testing.T) {
	for _, c := range []struct {
		limit uint64
		mode  plan.Mode
	}{{0, plan.Or}, {1, plan.Or}, {0, plan.And}, {1, plan.And}} {
		src := hosttest.RankedSource(t, rand.New(rand.NewPCG(6, 4)), 50_000, 0, []codec.ID{codec.ParaPFor}, 20_000, 20_000, 5000)
		lists := decode(t, src)
		src.Freqs[src.Lists[1].FreqOff+2*90+1] = 0xff000000 // the header of a segment
		st := open(src, 1, c.limit)
		bad := &plan.RankBatch{Mode: c.mode, K: plan.MaxK, Norm: hosttest.Norm(src)}
		bad.Add(src, plan.Term{List: 0, Weight: 1000}, plan.Term{List: 1, Weight: 1000})
		good := &plan.RankBatch{Mode: c.mode, K: 10, Norm: hosttest.Norm(src)}
		good.Add(src, plan.Term{List: 0, Weight: 1000}, plan.Term{List: 2, Weight: 1000})
		var out plan.TopK
		for range 3 {
			if err := st.Rank(t.Context(), bad, &out); !errors.Is(err, codec.ErrCorrupt) || !strings.Contains(err.Error(), "list 1:") {
				t.Fatalf("%+v: corrupt frequencies gave %v", c, err)
			}
			sameRanking(t, st, lists, good)
		}
	}
}

// TestRankInParts: several threads share the documents of one large query.
func TestRankInParts(t *testing.T) {
	src := hosttest.RankedSource(t, rand.New(rand.NewPCG(6, 9)), 70_000, 0, []codec.ID{codec.ParaPFor}, 55_000, 60_000, 65_000)
	lists := decode(t, src)
	for _, limit := range []uint64{0, 1} {
		st := open(src, 3, limit)
		for _, mode := range []plan.Mode{plan.Or, plan.And} {
			r := &plan.RankBatch{Mode: mode, K: 100, Norm: hosttest.Norm(src)}
			r.Add(src, plan.Term{List: 0, Weight: 1000}, plan.Term{List: 1, Weight: 3000}, plan.Term{List: 2, Weight: 2000})
			j := new(batch)
			if j.split(st, r); len(j.parts) < 2 {
				t.Fatalf("%v: one part, the test needs more postings", mode)
			}
			sameRanking(t, st, lists, r)
			r.Threads = 1
			if j.split(st, r); len(j.parts) != 1 || j.threads != 1 {
				t.Fatalf("%v: %d parts on %d threads, one thread was asked for", mode, len(j.parts), j.threads)
			}
			sameRanking(t, st, lists, r)
		}
	}
}

// TestSplit: the parts of a query cover the documents once, in order.
func TestSplit(t *testing.T) {
	src := hosttest.RankedSource(t, rand.New(rand.NewPCG(6, 6)), 3*minRange+5, 0, []codec.ID{codec.Bitset}, 3*minRange, 3*minRange, 2)
	for _, mode := range []plan.Mode{plan.Or, plan.And} {
		for _, threads := range []int{1, 2, 9} {
			r := &plan.RankBatch{Mode: mode, K: 1, Norm: hosttest.Norm(src)}
			r.Add(src)
			r.Add(src, plan.Term{List: 2, Weight: 1})
			for range 20 {
				r.Add(src, plan.Term{List: 0, Weight: 1}, plan.Term{List: 1, Weight: 1})
			}
			j := new(batch)
			j.split(open(src, threads, 0), r)
			query, at := 0, uint64(0)
			for _, p := range j.parts {
				if at == uint64(src.Docs) {
					query, at = query+1, 0
				}
				if p.query != query || p.from != at || p.to <= p.from || p.from%minRange != 0 {
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

// BenchmarkRank ranks two lists of the same density, with and without tables. The unit is
// nanoseconds for each posting, under AND for each posting of the shorter list.
func BenchmarkRank(b *testing.B) {
	const docs = 1 << 20
	ratios := []int{3, 30, 300, 3000}
	var lengths []int
	for _, ratio := range ratios {
		lengths = append(lengths, docs/ratio, docs/ratio)
	}
	src := hosttest.RankedSource(b, rand.New(rand.NewPCG(6, 7)), docs, 0, []codec.ID{codec.ParaPFor}, lengths...)
	for _, limit := range []uint64{0, 200_000} {
		st := open(src, 1, limit)
		for i, ratio := range ratios {
			for _, mode := range []plan.Mode{plan.Or, plan.And} {
				for _, k := range []int{10, 1000} {
					tables := map[bool]string{true: "tables", false: "decoding"}[limit == 0]
					b.Run(fmt.Sprintf("%s/%v/one in %d/best %d", tables, mode, ratio, k), func(b *testing.B) {
						r := &plan.RankBatch{Mode: mode, K: k, Norm: hosttest.Norm(src)}
						r.Add(src, plan.Term{List: uint32(2 * i), Weight: 1 << 30}, plan.Term{List: uint32(2*i + 1), Weight: 1 << 29})
						var out plan.TopK
						for range 2 { // the second one builds tables
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
