package hostfallback

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/hostfallback/internal/hosttest"
)

// plainRank is the oracle: every posting of a query is added up in a map, and all
// matches are sorted.
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

// sameRanking fails tb unless st answers r as the oracle does.
func sameRanking(tb testing.TB, st *store, r *plan.RankBatch) {
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

// rankSource has a list of each given length over docs documents, in ids in turn.
// Frequencies are geometric, document lengths log-normal, few of them 0.
func rankSource(tb testing.TB, r *rand.Rand, docs uint32, impacts uint8, ids []codec.ID, lengths ...int) *plan.Source {
	tb.Helper()
	src := &plan.Source{Docs: docs, Freqs: []uint32{}, Impacts: impacts}
	if impacts == 0 {
		src.Lengths = make([]uint32, docs)
		for i := range src.Lengths {
			src.Lengths[i] = uint32(100 * math.Exp(r.NormFloat64()))
		}
	}
	for i, n := range lengths {
		list := hosttest.Uniform(r, n, docs)
		h, err := src.Append(ids[i%len(ids)], list, codec.DefaultOptions())
		if err != nil {
			tb.Fatal(err)
		}
		freqs := make([]uint32, len(list))
		for i := range freqs {
			freqs[i] = 1 + uint32(r.ExpFloat64())
			if impacts > 0 {
				freqs[i] = 1 + r.Uint32N(1<<impacts-1)
			}
		}
		if err := src.AppendFreqs(h, freqs, codec.DefaultOptions()); err != nil {
			tb.Fatal(err)
		}
	}
	return src
}

// rankNorm is the Norm for src with usual parameters.
func rankNorm(src *plan.Source) plan.Norm {
	if src.Impacts > 0 {
		return plan.Norm{Impacts: src.Impacts}
	}
	return plan.NewNorm(0.9, 0.4, 165)
}

// TestRank compares random batches with the oracle: every codec, lists that end
// at ranges' edges, all modes, one part and many.
func TestRank(t *testing.T) {
	for _, threads := range []int{1, 3} {
		t.Run(fmt.Sprint(threads), func(t *testing.T) { testRank(t, threads) })
	}
}

func testRank(t *testing.T, threads int) {
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		rnd := rand.New(rand.NewPCG(seed, 0))
		docs := rapid.SampledFrom([]uint32{1, 127, minRankDocs - 1, minRankDocs, minRankDocs + 1, 3 * minRankDocs, 40_000, 70_000}).Draw(rt, "docs")
		impacts := rapid.SampledFrom([]uint8{0, 0, 8, 16}).Draw(rt, "impacts")
		var lengths []int
		for range rapid.IntRange(1, 16).Draw(rt, "lists") {
			lengths = append(lengths, rapid.IntRange(0, int(docs)).Draw(rt, "length")>>rapid.IntRange(0, 9).Draw(rt, "scarcity"))
		}
		src := rankSource(t, rnd, docs, impacts, codec.IDs(), lengths...)
		limit := rapid.SampledFrom([]uint64{0, 0, 1, 200_000, 300_000}).Draw(rt, "memory limit")
		st := open(t, src, Options{Threads: threads, MemoryLimit: limit, Lazy: rapid.Bool().Draw(rt, "lazy")})
		r := &plan.RankBatch{
			Mode: plan.Mode(rapid.IntRange(0, 1).Draw(rt, "mode")), K: rapid.SampledFrom([]int{1, 2, 10, 100, plan.MaxK}).Draw(rt, "k"),
			Norm: rankNorm(src), Accumulators: plan.Accumulators(rapid.IntRange(0, 1).Draw(rt, "accumulators")),
		}
		for range rapid.IntRange(0, 4).Draw(rt, "queries") {
			var terms []plan.Term
			for range rapid.IntRange(0, 6).Draw(rt, "terms") {
				most := rapid.SampledFrom([]uint32{1, 5, 1 << 28}).Draw(rt, "greatest weight")
				terms = append(terms, plan.Term{List: rnd.Uint32N(uint32(len(src.Lists))), Weight: 1 + rnd.Uint32N(most)})
			}
			r.Add(src, terms...)
		}
		for range 2 { // without tables, and with them
			sameRanking(t, st, r)
		}
	})
}

// TestShare compares with Norm.Share where sums are large, and where float64 rounds
// a quotient up to an integer.
func TestShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := plan.Norm{Base: rapid.Uint32().Draw(t, "base"), Slope: rapid.Uint32().Draw(t, "slope"), Shift: rapid.Uint8Range(0, 63).Draw(t, "shift")}
		f, length := rapid.Uint32Max(math.MaxUint32-1).Draw(t, "f"), rapid.Uint32().Draw(t, "length")
		if got, want := (&sharer{norm: n}).share(f, length), n.TF(f+1, length); got != want {
			t.Errorf("%+v, frequency %d, length %d: %d, want %d", n, f+1, length, got, want)
		}
	})
	for _, c := range []struct{ freq, base uint32 }{{27, 593785659}, {50, 1068547245}, {37, 3048216834}, {57, 3083238625}, {59, 1586456193}, {1, 0}} {
		n := plan.Norm{Base: c.base}
		if got, want := (&sharer{norm: n}).share(c.freq-1, 0), n.TF(c.freq, 0); got != want {
			t.Errorf("frequency %d over %d: %d, want %d", c.freq, c.base, got, want)
		}
	}
}

// TestShares has frequencies and lengths in the table of common shares and outside
// of it, and impacts.
func TestShares(t *testing.T) {
	lengths := []uint32{0, 1, 300, commonLengths - 1, commonLengths, math.MaxUint32}
	for _, n := range []plan.Norm{plan.NewNorm(0.9, 0.4, 100), plan.NewNorm(0, 0, 1), plan.NewNorm(255, 1, 1e-3), {Impacts: 8}, {Impacts: 16}} {
		s := &sharer{norm: n, lengths: lengths}
		for range 2 { // without the table, and with it
			for _, f := range []uint32{1, 2, smallFreqs, smallFreqs + 1, 255, 256, 65535, math.MaxUint32} {
				docs, freqs := []uint32{0, 1, 2, 3, 4, 5}, slices.Repeat([]uint32{f - 1}, len(lengths))
				got := make([]uint32, len(docs))
				s.shares(got, docs, freqs)
				for i, x := range got {
					if want := n.TF(f, lengths[i]); x != want {
						t.Errorf("%+v: share of %d in %d tokens is %d, want %d", n, f, lengths[i], x, want)
					}
				}
			}
			s.fill()
		}
	}
}

func TestSelectGreatest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) rankKey { return rankKey(rapid.Uint64Max(50).Draw(t, "key")) }), 1, 200).Draw(t, "keys")
		k := rapid.IntRange(1, len(keys)).Draw(t, "k")
		want := slices.Clone(keys)
		slices.Sort(want)
		slices.Reverse(want)
		selectGreatest(keys, k)
		if keys[k-1] != want[k-1] {
			t.Fatalf("key %d is %d, want %d", k, keys[k-1], want[k-1])
		}
		got := slices.Clone(keys)
		slices.Sort(got[:k])
		slices.Reverse(got[:k])
		if !slices.Equal(got[:k], want[:k]) {
			t.Errorf("the greatest are %v, want %v", got[:k], want[:k])
		}
	})
}
