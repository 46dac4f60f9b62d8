package matchtest

import (
	"errors"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/engine/plan/reference"
)

// filtered draws the source, conjunctions and expressions, and a filter for each query.
func (su suite) filtered(t *testing.T) {
	if !su.Filters() {
		s, _ := su.Workload(t, 1, 1)
		if _, err := su.Load(t, s).Filter(t.Context(), make([]uint64, plan.FilterWords(s.Docs))); !errors.Is(err, plan.ErrUnsupported) {
			t.Errorf("a backend without filters made one: %v", err)
		}
		t.Skip("the backend has no filters")
	}
	su.Check(t, func(rt *rapid.T) { su.filteredBatch(rt, su.Shared) })
}

// filteredBatch runs a random batch with filters on b.
func (su suite) filteredBatch(rt *rapid.T, b plan.Backend) {
	s := plantest.NewSource(rapid.SampledFrom([]uint32{1, 40, 129, 1000, 20_000, 100_000}).Draw(rt, "universe"))
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
	for range rapid.IntRange(1, 6).Draw(rt, "lists") {
		n := max(1, int(s.Docs)>>rapid.IntRange(0, 12).Draw(rt, "length"))
		draw := rapid.SampledFrom([]func(uint32, int, *rand.Rand) []uint32{plantest.Uniform, plantest.Clustered}).Draw(rt, "kind of list")
		s.Add(rt, rapid.SampledFrom(su.Codecs).Draw(rt, "codec"), draw(s.Docs, n, r))
	}
	all := s.Add(rt, rapid.SampledFrom(su.Codecs).Draw(rt, "codec"), plantest.Uniform(s.Docs, int(s.Docs), r))
	st, err := b.Load(rt.Context(), &s.Source)
	if err != nil {
		rt.Fatal(err)
	}
	defer st.Close()
	batch := plan.MatchBatch{Algorithm: rapid.SampledFrom(su.Algorithms).Draw(rt, "algorithm"),
		CountOnly: rapid.Bool().Draw(rt, "count only"), Part: rapid.Bool().Draw(rt, "part")}
	batch.Reset()
	var sets [][]uint64
	for range rapid.IntRange(1, 8).Draw(rt, "queries") {
		if rapid.Bool().Draw(rt, "expression") {
			batch.AddOps(randomOps(r, len(s.Lists), 4, rapid.IntRange(1, 12).Draw(rt, "steps")))
		} else {
			batch.Add(&s.Source, rapid.SliceOfN(rapid.Uint32Range(0, uint32(len(s.Lists)-1)), 0, 5).Draw(rt, "query")...)
		}
		bits := plantest.DrawFilter(rt, s.Docs)
		if sets = append(sets, bits); bits == nil {
			continue
		}
		f, err := st.Filter(rt.Context(), bits)
		if err != nil {
			rt.Fatal(err)
		}
		defer f.Close()
		batch.Restrict(f)
	}
	want := reference.Match(s.Plain.Docs, &batch)
	filtered := uint64(0)
	for i := range want {
		want[i] = reference.Within(append([]uint32(nil), want[i]...), sets[i])
		if sets[i] != nil {
			filtered++
		}
	}
	var out plan.Results
	if err := st.Match(rt.Context(), &batch, &out); err != nil {
		rt.Fatal(err)
	}
	if err := compare(s, &batch, want, &out); err != nil {
		rt.Fatal(err)
	}
	if out.Stats.Filtered != filtered || out.Stats.Sought > filtered {
		rt.Fatalf("stats %+v of %d queries with filters", out.Stats, filtered)
	}
	var made plan.Sets
	if err := st.Sets(rt.Context(), &batch, &made); err != nil {
		rt.Fatal(err)
	}
	defer made.Close()
	if made.Stats.Filtered != filtered || len(made.Filters) != len(want) {
		rt.Fatalf("%d sets, %+v, of %d queries with filters", len(made.Filters), made.Stats, filtered)
	}
	within := plan.MatchBatch{}
	for i, f := range made.Filters {
		if int(f.Count()) != len(want[i]) || f.Universe() != s.Docs {
			rt.Fatalf("set %d has %d of %d documents, want %d", i, f.Count(), f.Universe(), len(want[i]))
		}
		within.Add(&s.Source, all)
		within.Restrict(f)
	}
	if err := st.Match(rt.Context(), &within, &out); err != nil {
		rt.Fatal(err)
	}
	if err := compare(s, &within, want, &out); err != nil {
		rt.Fatalf("sets: %v", err)
	}
}

// foreign checks that a store refuses filters of other universes, and bits of a wrong size.
func (su suite) foreign(t *testing.T) {
	if !su.Filters() {
		t.Skip("the backend has no filters")
	}
	s := plantest.NewSource(100)
	s.Add(t, codec.Raw, []uint32{1, 5, 99})
	larger := plantest.NewSource(101)
	larger.Add(t, codec.Raw, []uint32{1, 100})
	st, other := su.Load(t, s), su.Load(t, larger)
	all := plantest.NewFilter(101, func(uint32) bool { return true })
	if _, err := st.Filter(t.Context(), all); err == nil {
		t.Error("a filter with a document outside the universe went through")
	}
	if _, err := st.Filter(t.Context(), all[:1]); err == nil {
		t.Error("a filter with too few words went through")
	}
	var b plan.MatchBatch
	b.Add(&s.Source, 0)
	b.Restrict(plantest.Filter(t, other, all))
	if err := st.Match(t.Context(), &b, &plan.Results{}); !errors.Is(err, plan.ErrUnsupported) {
		t.Errorf("a filter of another universe: %v", err)
	}
}
