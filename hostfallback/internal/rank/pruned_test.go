package rank

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/hostfallback/internal/filter"
)

// impactSource returns a source of lists with impacts of 8 bits. The documents of a list are dense in a part of all
// documents, and rare elsewhere, so blocks differ in their bounds.
func impactSource(tb testing.TB, r *rand.Rand, docs uint32, lists int) *plan.Source {
	tb.Helper()
	src := &plan.Source{Docs: docs, Freqs: []uint32{}, Impacts: 8}
	for i := range lists {
		from, rare := r.Uint32N(docs), 1+r.IntN(2000)
		var list, impacts []uint32
		for x := range docs {
			here := x-from < 300
			if here && r.IntN(3) == 0 || r.IntN(rare) == 0 {
				list = append(list, x)
				impacts = append(impacts, 1+min(254, uint32(r.ExpFloat64()*20)<<(r.IntN(2)*min(1, int(x)%3))))
			}
		}
		if len(list) == 0 {
			list, impacts = append(list, from), append(impacts, 255)
		}
		h, err := src.Append(codec.IDs()[i%len(codec.IDs())], list, codec.DefaultOptions())
		if err == nil {
			err = src.AppendFreqs(h, impacts, codec.DefaultOptions())
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	return src
}

// TestPruned compares block-max pruning with the reference: one block and many, one part and several, weights up to
// the greatest sum, and equal scores.
func TestPruned(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		docs := rapid.SampledFrom([]uint32{1, blockDocs - 1, blockDocs, blockDocs + 1, 9 * blockDocs, minRange, minRange + 1, 20_000}).Draw(rt, "docs")
		src := impactSource(t, rnd, docs, 1+rnd.IntN(24))
		st := open(src, rapid.SampledFrom([]int{1, 3}).Draw(rt, "threads"), 0)
		b := &plan.RankBatch{
			K:    rapid.SampledFrom([]int{1, 2, 10, 100, plan.MaxK}).Draw(rt, "k"),
			Norm: plan.Norm{Impacts: 8}, Accumulators: plan.BlockAccumulators,
		}
		most := rapid.SampledFrom([]uint32{1, 300, 1 << 20, math.MaxUint32 / 48}).Draw(rt, "greatest weight")
		for range 4 {
			var terms []plan.Term
			for range 1 + rnd.IntN(48) {
				terms = append(terms, plan.Term{List: rnd.Uint32N(uint32(len(src.Lists))), Weight: 1 + rnd.Uint32N(most)})
			}
			b.Add(src, terms...)
		}
		sameRanking(t, st, decode(t, src), b)
		var out plan.TopK
		if err := st.Rank(t.Context(), b, &out); err != nil || out.Stats.Pruned != 4 {
			t.Fatalf("%d of 4 queries pruned, %v", out.Stats.Pruned, err)
		}
	})
}

// TestPrunedReads checks that blocks below the threshold are not read: the best document is in one block, and a
// damaged posting in another one has no effect.
func TestPrunedReads(t *testing.T) {
	src := &plan.Source{Docs: 4096, Freqs: []uint32{}, Impacts: 8}
	var list, impacts []uint32
	for x := range uint32(4096) {
		list, impacts = append(list, x), append(impacts, 1+x/2048*100)
	}
	h, err := src.Append(codec.Raw, list, codec.DefaultOptions())
	if err == nil {
		err = src.AppendFreqs(h, impacts, codec.DefaultOptions())
	}
	if err != nil {
		t.Fatal(err)
	}
	st := open(src, 1, 0)
	b := &plan.RankBatch{K: 3, Norm: plan.Norm{Impacts: 8}, Accumulators: plan.BlockAccumulators}
	b.Add(src, plan.Term{List: h, Weight: 1 << 20})
	sameRanking(t, st, decode(t, src), b)
	tables := st.norms.tables(b.Norm)
	defer tables.release()
	postings := tables.blocks.At(h, 1).Load().postings
	for i := range postings[:2048] {
		postings[i] |= 255
	}
	sameRanking(t, st, decode(t, src), b)
}

// TestCanPrune holds the documented rule.
func TestCanPrune(t *testing.T) {
	const docs = 10 * prunedShare
	src := impactSource(t, rand.New(rand.NewPCG(1, 0)), 100, leastPruned)
	src.Docs = docs
	for name, c := range map[string]struct {
		change func(b *plan.RankBatch)
		terms  int
		want   bool
	}{
		"auto":             {func(b *plan.RankBatch) {}, leastPruned, true},
		"few terms":        {func(b *plan.RankBatch) {}, leastPruned - 1, false},
		"many documents":   {func(b *plan.RankBatch) { b.K++ }, leastPruned, false},
		"ranges":           {func(b *plan.RankBatch) { b.Accumulators = plan.RangeAccumulators }, leastPruned, false},
		"global":           {func(b *plan.RankBatch) { b.Accumulators = plan.GlobalAccumulators }, leastPruned, false},
		"forced":           {func(b *plan.RankBatch) { b.K, b.Accumulators = plan.MaxK, plan.BlockAccumulators }, 1, true},
		"no terms":         {func(b *plan.RankBatch) { b.Accumulators = plan.BlockAccumulators }, 0, false},
		"and":              {func(b *plan.RankBatch) { b.Mode = plan.And }, leastPruned, false},
		"16 bits":          {func(b *plan.RankBatch) { b.Norm.Impacts = 16 }, leastPruned, false},
		"frequencies":      {func(b *plan.RankBatch) { b.Norm = plan.NewNorm(1, 1, 1) }, leastPruned, false},
		"filter":           {func(b *plan.RankBatch) { b.Restrict(filter.Of(docs, []uint32{7})) }, leastPruned, false},
		"filter elsewhere": {func(b *plan.RankBatch) { b.Add(src); b.Restrict(filter.Of(docs, []uint32{7})) }, leastPruned, true},
	} {
		b := &plan.RankBatch{K: 10, Norm: plan.Norm{Impacts: 8}}
		var terms []plan.Term
		for h := range c.terms {
			terms = append(terms, plan.Term{List: uint32(h), Weight: 1})
		}
		b.Add(src, terms...)
		c.change(b)
		if got := canPrune(src, b, 0); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestNoBlocks: without memory, and for impacts that do not fit, the answers come from ranges.
func TestNoBlocks(t *testing.T) {
	for name, limit := range map[string]uint64{"no memory": 1, "impact of 9 bits": 0} {
		src := impactSource(t, rand.New(rand.NewPCG(2, 0)), 5000, 3)
		if limit == 0 {
			h, err := src.Append(codec.Raw, []uint32{5, 77}, codec.DefaultOptions())
			if err == nil {
				err = src.AppendFreqs(h, []uint32{256, 3}, codec.DefaultOptions())
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		st := open(src, 1, limit)
		b := &plan.RankBatch{K: 10, Norm: plan.Norm{Impacts: 8}, Accumulators: plan.BlockAccumulators}
		b.Add(src, plan.Term{List: 0, Weight: 900}, plan.Term{List: uint32(len(src.Lists) - 1), Weight: 1 << 30})
		for range 3 {
			sameRanking(t, st, decode(t, src), b)
		}
		var out plan.TopK
		if err := st.Rank(t.Context(), b, &out); err != nil || out.Stats.Pruned != 0 {
			t.Errorf("%s: %d queries pruned, %v", name, out.Stats.Pruned, err)
		}
	}
}
