package rank

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/hostfallback/internal/hosttest"
	"heddle/hostfallback/internal/match/lookup"
	"heddle/hostfallback/internal/work"
)

// plainRank is the oracle: it adds up every posting of a query in a map and sorts all
// matches.
func plainRank(tb testing.TB, src *plan.Source, r *plan.RankBatch) (out plan.TopK) {
	type sum struct{ score, lists uint32 }
	out.Reset()
	for i := range r.Queries() {
		terms := r.Query(i)
		sums := map[uint32]sum{}
		for _, t := range terms {
			docs, err := src.List(t.List).AppendTo(nil)
			if err != nil {
				tb.Fatal(err)
			}
			p, err := src.Freq(t.List)
			if err != nil {
				tb.Fatal(err)
			}
			freqs, err := p.AppendTo(nil)
			if err != nil {
				tb.Fatal(err)
			}
			for i, d := range docs {
				length := uint32(0)
				if r.Norm.Impacts == 0 {
					length = src.Lengths[d]
				}
				x := sums[d]
				sums[d] = sum{x.score + plan.Contribution(t.Weight, r.Norm.TF(freqs[i]+1, length)), x.lists + 1}
			}
		}
		var docs []uint32
		for d, x := range sums {
			if r.Mode == plan.Or || x.lists == uint32(len(terms)) {
				docs = append(docs, d)
			}
		}
		slices.SortFunc(docs, func(x, y uint32) int {
			return cmp.Or(cmp.Compare(sums[y].score, sums[x].score), cmp.Compare(x, y))
		})
		for _, d := range docs[:min(len(docs), r.K)] {
			out.Docs, out.Scores = append(out.Docs, d), append(out.Scores, sums[d].score)
		}
		out.Offsets = append(out.Offsets, uint64(len(out.Docs)))
	}
	return out
}

// open returns a ranker of src under a memory limit in bytes, 0 for the default.
func open(src *plan.Source, threads int, limit uint64, lazy bool) *Ranker {
	memory := work.NewBudget(limit, 0)
	return New(lookup.New(src, memory), work.Resources{Threads: threads, Memory: memory, Lazy: lazy})
}

// sameRanking fails tb unless st gives the answers of the oracle for r.
func sameRanking(tb testing.TB, st *Ranker, r *plan.RankBatch) {
	tb.Helper()
	var got plan.TopK
	if err := st.Rank(context.Background(), r, &got); err != nil {
		tb.Fatal(err)
	}
	want := plainRank(tb, st.src, r)
	if !slices.Equal(got.Offsets, want.Offsets) {
		tb.Fatalf("%v, best %d: offsets %v, want %v", r.Mode, r.K, got.Offsets, want.Offsets)
	}
	for i := range got.Docs {
		if got.Docs[i] != want.Docs[i] || got.Scores[i] != want.Scores[i] {
			tb.Fatalf("%v, best %d: rank %d of all is document %d with %d, want %d with %d",
				r.Mode, r.K, i, got.Docs[i], got.Scores[i], want.Docs[i], want.Scores[i])
		}
	}
}

// TestRank compares random batches with the oracle: every codec, lists that end at the
// ends of ranges, all modes, one part and several.
func TestRank(t *testing.T) {
	for _, threads := range []int{1, 3} {
		t.Run(fmt.Sprint(threads), func(t *testing.T) { testRank(t, threads) })
	}
}

func testRank(t *testing.T, threads int) {
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		rnd := rand.New(rand.NewPCG(seed, 0))
		docs := rapid.SampledFrom([]uint32{1, 127, minRange - 1, minRange, minRange + 1, 3 * minRange, 40_000, 70_000}).Draw(rt, "docs")
		impacts := rapid.SampledFrom([]uint8{0, 0, 8, 16}).Draw(rt, "impacts")
		var lengths []int
		for range rapid.IntRange(1, 16).Draw(rt, "lists") {
			lengths = append(lengths, rapid.IntRange(0, int(docs)).Draw(rt, "length")>>rapid.IntRange(0, 9).Draw(rt, "scarcity"))
		}
		src := hosttest.RankedSource(t, rnd, docs, impacts, codec.IDs(), lengths...)
		limit := rapid.SampledFrom([]uint64{0, 0, 1, 200_000, 300_000}).Draw(rt, "memory limit")
		st := open(src, threads, limit, rapid.Bool().Draw(rt, "lazy"))
		r := &plan.RankBatch{
			Mode: plan.Mode(rapid.IntRange(0, 1).Draw(rt, "mode")), K: rapid.SampledFrom([]int{1, 2, 10, 100, plan.MaxK}).Draw(rt, "k"),
			Norm: hosttest.Norm(src), Accumulators: plan.Accumulators(rapid.IntRange(0, 1).Draw(rt, "accumulators")),
		}
		for range rapid.IntRange(0, 4).Draw(rt, "queries") {
			var terms []plan.Term
			for range rapid.IntRange(0, 6).Draw(rt, "terms") {
				most := rapid.SampledFrom([]uint32{1, 5, 1 << 28}).Draw(rt, "greatest weight")
				terms = append(terms, plan.Term{List: rnd.Uint32N(uint32(len(src.Lists))), Weight: 1 + rnd.Uint32N(most)})
			}
			r.Add(src, terms...)
		}
		for range 2 { // without and with tables
			sameRanking(t, st, r)
		}
	})
}
