package rank

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/reference"
	"heddle/hostfallback/internal/hosttest"
	"heddle/hostfallback/internal/match/lookup"
	"heddle/hostfallback/work"
)

// open returns a ranker of src under a memory limit in bytes, 0 for the default.
func open(src *plan.Source, threads int, limit uint64) *Ranker {
	memory := work.NewBudget(limit, 0)
	return New(lookup.New(src, memory), work.Resources{Threads: threads, Memory: memory})
}

// decode returns the plain lists of src.
func decode(tb testing.TB, src *plan.Source) *reference.Lists {
	tb.Helper()
	lists, err := reference.Decode(src)
	if err != nil {
		tb.Fatal(err)
	}
	return lists
}

// sameRanking fails tb unless r ranks b like the reference does on lists.
func sameRanking(tb testing.TB, r *Ranker, lists *reference.Lists, b *plan.RankBatch) {
	tb.Helper()
	var got plan.TopK
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // ends a batch that gets no further
	defer cancel()
	if err := r.Rank(ctx, b, &got); err != nil {
		tb.Fatal(err)
	}
	for i, want := range lists.Rank(b) {
		want = want[:min(len(want), b.K)]
		docs, scores := got.Query(i)
		if len(docs) != len(want) {
			tb.Fatalf("%v, best %d, query %d: %d documents, want %d", b.Mode, b.K, i, len(docs), len(want))
		}
		for k, w := range want {
			if docs[k] != w.Doc || scores[k] != w.Score {
				tb.Fatalf("%v, best %d, query %d: rank %d is document %d with %d, want %d with %d", b.Mode, b.K, i, k, docs[k], scores[k], w.Doc, w.Score)
			}
		}
	}
}

// TestRank compares random batches with the reference: every codec, lists that end at the
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
		impacts := rapid.SampledFrom([]uint8{0, 8, 8, 16}).Draw(rt, "impacts")
		var lengths []int
		for range 1 + rnd.IntN(16) {
			lengths = append(lengths, rnd.IntN(int(docs)+1)>>rapid.IntRange(0, 9).Draw(rt, "scarcity"))
		}
		src := hosttest.RankedSource(t, rnd, docs, impacts, codec.IDs(), lengths...)
		limit := rapid.SampledFrom([]uint64{0, 0, 1, 200_000, 300_000, 2_000_000}).Draw(rt, "memory limit")
		st := open(src, threads, limit)
		if rapid.Bool().Draw(rt, "boolean tables first") {
			hosttest.PrepareAll(t, src, st.aux.Prepare)
		}
		r := &plan.RankBatch{
			K: rapid.SampledFrom([]int{1, 2, 10, 100, plan.MaxK}).Draw(rt, "k"), Norm: hosttest.Norm(src),
			Accumulators: rapid.SampledFrom([]plan.Accumulators{plan.AutoAccumulators, plan.RangeAccumulators, plan.BlockAccumulators}).Draw(rt, "accumulators"),
		}
		for range 4 {
			var terms []plan.Term
			for range rnd.IntN(6) {
				most := rapid.SampledFrom([]uint32{1, 5, 1 << 28}).Draw(rt, "greatest weight")
				terms = append(terms, plan.Term{List: rnd.Uint32N(uint32(len(src.Lists))), Weight: 1 + rnd.Uint32N(most)})
			}
			r.Add(src, terms...)
		}
		lists := decode(t, src)
		for range 2 { // without and with tables
			for _, r.Mode = range []plan.Mode{plan.And, plan.Or} {
				sameRanking(t, st, lists, r)
			}
		}
	})
}
