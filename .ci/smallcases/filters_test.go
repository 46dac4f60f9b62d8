package smallcases

import (
	"slices"
	"testing"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/engine/plan/reference"
)

// filters restricts conjunctions, an expression and ranked queries to a set of few documents, which
// takes the place of a list, and to a set of many, whose bits are tested.
func filters(t *testing.T, backend plan.Backend) {
	src := &plan.Source{Docs: universe, Lengths: make([]uint32, universe)}
	var postings [][]uint32
	for i, name := range []string{"spread", "dense", "tiles"} {
		freqs := make([]uint32, len(lists[name]))
		for j := range freqs {
			freqs[j] = 1 + uint32(j)%7
		}
		h, err := src.Append([]codec.ID{codec.ParaPFor, codec.Raw}[i%2], lists[name], codec.DefaultOptions())
		if err == nil {
			err = src.AppendFreqs(h, freqs, codec.DefaultOptions())
		}
		if err != nil {
			t.Fatal(err)
		}
		postings = append(postings, lists[name])
	}
	store, err := backend.Load(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	plain, err := reference.Decode(src)
	if err != nil {
		t.Fatal(err)
	}
	for _, every := range []uint32{2, 97} {
		bits := plantest.NewFilter(universe, func(d uint32) bool { return d%every == 0 })
		f, err := store.Filter(t.Context(), bits)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		var b plan.MatchBatch
		for _, a := range []plan.Algorithm{plan.HS16, plan.MergePath} {
			b.Reset()
			b.Algorithm = a
			b.Add(src, 0, 1, 2)
			b.Restrict(f)
			b.Add(src, 1, 2)
			b.AddOps([]plan.Op{{List: 0}, {List: 1}, {Code: plan.OpOr}})
			b.Restrict(f)
			var got plan.Results
			if err := store.Match(t.Context(), &b, &got); err != nil {
				t.Fatal(err)
			}
			for q, want := range reference.Match(postings, &b) {
				if want = slices.Clone(want); b.Filter(q) != nil {
					want = reference.Within(want, bits)
				}
				if !slices.Equal(got.Query(q), want) {
					t.Errorf("one in %d, %v, query %d: %v, want %v", every, a, q, got.Query(q), want)
				}
			}
		}
		for _, r := range []plan.RankBatch{
			{Mode: plan.Or, Accumulators: plan.RangeAccumulators}, {Mode: plan.Or, Accumulators: plan.GlobalAccumulators},
			{Mode: plan.And, Accumulators: plan.RangeAccumulators}, {Mode: plan.Or}, {Mode: plan.And},
		} {
			r.K, r.Norm = 5, plan.NewNorm(0.9, 0.4, 500)
			for range 2 {
				r.Add(src, plan.Term{List: 1, Weight: 1 << 28}, plan.Term{List: 2, Weight: 1 << 27})
			}
			r.Restrict(f)
			var got plan.TopK
			if err := store.Rank(t.Context(), &r, &got); err != nil {
				t.Fatal(err)
			}
			for q, want := range plain.Rank(&r) {
				if r.Filter(q) != nil {
					want = reference.HitsWithin(want, bits)
				}
				docs, _ := got.Query(q)
				want = want[:min(len(want), r.K)]
				if !slices.EqualFunc(docs, want, func(d uint32, h reference.Hit) bool { return d == h.Doc }) {
					t.Errorf("one in %d, query %d, %v of %v: documents %v, want %v", every, q, r.Mode, r.Accumulators, docs, want)
				}
			}
		}
	}
}
