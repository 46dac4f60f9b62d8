package ranktest

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/engine/plan/reference"
)

// filtered draws the source, ranked queries, and a filter for each query.
func (su *suite) filtered(t *testing.T) {
	if !su.Filters() {
		t.Skip("the backend has no filters")
	}
	su.Check(t, func(rt *rapid.T) { su.filteredBatch(rt, su.Shared) })
}

// filteredBatch ranks a random batch with filters on b.
func (su *suite) filteredBatch(rt *rapid.T, b plan.Backend) {
	s := su.randomSource(rt)
	seed := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed of weights"), 0))
	q := plan.RankBatch{
		Mode: rapid.SampledFrom([]plan.Mode{plan.Or, plan.And}).Draw(rt, "mode"),
		K:    rapid.SampledFrom([]int{1, 2, 10, 100, 1000}).Draw(rt, "k"),
		Norm: s.Norm(rapid.Float64Range(0, 3).Draw(rt, "k1"), rapid.Float64Range(0, 1).Draw(rt, "b")),

		Accumulators: rapid.SampledFrom(su.accumulators).Draw(rt, "accumulators"),
	}
	q.Reset()
	st, err := b.Load(rt.Context(), &s.Source)
	if err != nil {
		rt.Fatal(err)
	}
	defer st.Close()
	handle := rapid.Uint32Range(0, uint32(len(s.Lists)-1))
	var sets [][]uint64
	for range rapid.IntRange(1, 8).Draw(rt, "queries") {
		q.Add(&s.Source, plantest.Weighted(seed, rapid.SliceOfN(handle, 0, 8).Draw(rt, "query")...)...)
		bits := plantest.DrawFilter(rt, s.Docs)
		if sets = append(sets, bits); bits == nil {
			continue
		}
		f, err := st.Filter(rt.Context(), bits)
		if err != nil {
			rt.Fatal(err)
		}
		defer f.Close()
		q.Restrict(f)
	}
	want := s.Plain.Rank(&q)
	for i := range want {
		want[i] = reference.HitsWithin(want[i], sets[i])
	}
	for range 2 { // the second time with tables
		var out plan.TopK
		if err = st.Rank(rt.Context(), &q, &out); err == nil {
			err = compare(s, &q, want, &out)
		}
		if err != nil {
			rt.Fatal(err)
		}
	}
}

// largeFiltered ranks on a source with lists of every density, long enough for bounds of ranges, with
// filters of every share, for every k.
func (su *suite) largeFiltered(t *testing.T) {
	if !su.Filters() {
		t.Skip("the backend has no filters")
	}
	r := plantest.RNG(t)
	s := plantest.NewRanked(r, uint32(su.Pick(300_000, 9_000)), 0, plantest.LengthKinds[0].One)
	for i, n := range []int{2, 3, 20, 200, 2000} {
		docs := plantest.Uniform(s.Docs, int(s.Docs)/n, r)
		s.AddRanked(t, []codec.ID{codec.ParaPFor, codec.Raw}[i%2], docs, s.Draw(r, len(docs), plantest.FrequencyKinds[i%len(plantest.FrequencyKinds)].One))
	}
	st := su.Load(t, s)
	q := plan.RankBatch{Norm: s.Norm(0.9, 0.4)}
	var sets [][]uint64
	for _, lists := range [][]plan.Handle{{0, 1}, {0, 4}, {2, 3, 4}, {0, 1, 2, 3, 4}, {1}} {
		for _, one := range []int{1, 2, 10, 100, 1000, 100_000} {
			bits := plantest.NewFilter(s.Docs, func(d uint32) bool { return r.IntN(one) == 0 })
			q.Add(&s.Source, plantest.Weighted(r, lists...)...)
			q.Restrict(plantest.Filter(t, st, bits))
			sets = append(sets, bits)
		}
	}
	all := rankAny(s, &q)
	for i := range all {
		all[i] = reference.HitsWithin(all[i], sets[i])
	}
	ks := []int{1, 10, 1000}
	su.verifyMode(t, st, s, &q, all, ks...)
	every(&q, all)
	q.Mode = plan.And
	su.verifyMode(t, st, s, &q, all, ks...)
}

// filterEnds ranks dense lists with filters that leave one document at the end of a range of 4,096
// documents, or beside it, and all documents of later ranges: the sizes at which pure Go and devices
// divide documents.
func (su *suite) filterEnds(t *testing.T) {
	if !su.Filters() {
		t.Skip("the backend has no filters")
	}
	const size = 4096
	r := plantest.RNG(t)
	s := plantest.NewRanked(r, 4*size+2, 0, plantest.LengthKinds[0].One)
	for _, step := range []uint32{1, 3} {
		var docs []uint32
		for d := uint32(0); d < s.Docs; d += step {
			docs = append(docs, d)
		}
		s.AddRanked(t, codec.ParaPFor, docs, s.Draw(r, len(docs), plantest.FrequencyKinds[0].One))
	}
	st := su.Load(t, s)
	q := plan.RankBatch{Norm: s.Norm(0.9, 0.4)}
	var sets [][]uint64
	for _, end := range []uint32{size - 1, size, size + 1, 2*size - 1, 2 * size, 2*size + 1} {
		bits := plantest.NewFilter(s.Docs, func(d uint32) bool { return d == end || d >= 3*size-1 })
		q.Add(&s.Source, plantest.Weighted(r, 0, 1)...)
		q.Restrict(plantest.Filter(t, st, bits))
		sets = append(sets, bits)
	}
	all := rankAny(s, &q)
	for i := range all {
		all[i] = reference.HitsWithin(all[i], sets[i])
	}
	su.verifyMode(t, st, s, &q, all, 1, 10, 2*size)
}
