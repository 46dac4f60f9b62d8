package rank

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/reference"
	"heddle/hostfallback/internal/hosttest"
	"heddle/hostfallback/internal/match/lookup"
	"heddle/hostfallback/internal/work"
)

// wanted returns the reference answer to r.
func wanted(tb testing.TB, src *plan.Source, r *plan.RankBatch) (out plan.TopK) {
	tb.Helper()
	var handles []plan.Handle
	for i := range r.Queries() {
		handles = r.AppendLists(handles, i)
	}
	lists, err := reference.DecodeSome(src, handles)
	if err != nil {
		tb.Fatal(err)
	}
	out.Reset()
	for _, hits := range lists.Rank(r) {
		for _, h := range hits[:min(len(hits), r.K)] {
			out.Docs, out.Scores = append(out.Docs, h.Doc), append(out.Scores, h.Score)
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

// sameRanking fails tb unless st gives the reference answer to r.
func sameRanking(tb testing.TB, st *Ranker, r *plan.RankBatch) {
	tb.Helper()
	var got plan.TopK
	if err := st.Rank(context.Background(), r, &got); err != nil {
		tb.Fatal(err)
	}
	want := wanted(tb, st.src, r)
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
