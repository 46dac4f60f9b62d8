package matchtest

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/engine/plan/reference"
)

// random draws universe, lists, codecs, queries and algorithm. Package rapid
// shrinks failures.
func (su suite) random(t *testing.T) {
	su.Check(t, func(rt *rapid.T) { su.randomBatch(rt, su.Shared) })
}

func (su suite) randomBatch(rt *rapid.T, backend plan.Backend) {
	s := su.RandomSource(rt)
	handle := rapid.Uint32Range(0, uint32(len(s.Lists)-1))
	var b plan.MatchBatch
	b.Reset()
	for range rapid.IntRange(0, 12).Draw(rt, "queries") {
		b.Add(&s.Source, rapid.SliceOfN(handle, 0, 6).Draw(rt, "query")...)
	}
	b.Algorithm = rapid.SampledFrom(su.Algorithms).Draw(rt, "algorithm")
	b.CountOnly = rapid.Bool().Draw(rt, "count only")
	b.Part = rapid.Bool().Draw(rt, "part")

	st, err := backend.Load(rt.Context(), &s.Source)
	if err != nil {
		rt.Fatal(err)
	}
	defer st.Close()
	out := plan.Results{Borrow: rapid.Bool().Draw(rt, "borrow")}
	defer out.Reset()
	if err := st.Match(rt.Context(), &b, &out); err != nil {
		rt.Fatal(err)
	}
	if err := compare(s, &b, reference.Match(s.Plain.Docs, &b), &out); err != nil {
		rt.Fatal(err)
	}
}

// bigBatch has more queries than a device has compute units, so that every backend
// cuts the batch into pieces.
func (su suite) bigBatch(t *testing.T) {
	s, b := su.Workload(t, su.Pick(60, 12), su.Pick(1000, 60))
	su.verify(t, su.Load(t, s), s, b)
}

// bigQuery has one query that is large enough to be split.
func (su suite) bigQuery(t *testing.T) {
	r := plantest.RNG(t)
	s := plantest.NewSource(uint32(su.Pick(500_000, 6000)))
	for i := range 5 {
		docs := plantest.Uniform
		if i == 3 {
			docs = plantest.Clustered
		}
		s.Add(t, su.Codecs[i%len(su.Codecs)], docs(s.Docs, int(s.Docs)/3*(i+1)/4, r))
	}
	st := su.Load(t, s)
	var b plan.MatchBatch
	b.Reset()
	b.Add(&s.Source, 0, 1, 2, 3, 4)
	su.verify(t, st, s, &b)
	b.Reset()
	for h := range uint32(5) {
		b.Add(&s.Source, h)
		b.Add(&s.Source, h, (h+1)%5)
		b.Add(&s.Source)
	}
	su.verify(t, st, s, &b)
}

// reuse runs large and small batches in turn into the same Results, with docIDs
// and with counts.
func (su suite) reuse(t *testing.T) {
	s, large := su.Workload(t, su.Pick(40, 12), su.Pick(400, 40))
	st := su.Load(t, s)
	var small, none plan.MatchBatch
	small.Reset()
	small.Add(&s.Source, 1, 2)
	var out plan.Results
	for i, b := range []*plan.MatchBatch{large, &small, &none, large, &small, large} {
		want := reference.Match(s.Plain.Docs, b)
		for _, countOnly := range []bool{i%2 == 0, i%2 == 1} {
			b.CountOnly = countOnly
			if err := match(t, st, s, b, want, &out); err != nil {
				t.Fatalf("step %d, count only %t: %v", i, countOnly, err)
			}
		}
	}
}

// borrow keeps more borrowed answers than a store can lend, while further batches run.
func (su suite) borrow(t *testing.T) {
	s, large := su.Workload(t, su.Pick(40, 12), su.Pick(400, 40))
	st := su.Load(t, s)
	var small plan.MatchBatch
	small.Reset()
	small.Add(&s.Source, 1, 2)
	few := reference.Match(s.Plain.Docs, &small)
	batches := []*plan.MatchBatch{large, &small, &small, &small}
	want := [][][]uint32{reference.Match(s.Plain.Docs, large), few, few, few}
	answers := make([]plan.Results, 40)
	for range 3 {
		for i := range answers {
			answers[i].Borrow = i%5 != 0
			if err := st.Match(t.Context(), batches[i%4], &answers[i]); err != nil {
				t.Fatal(err)
			}
		}
		for i := range answers {
			if err := compare(s, batches[i%4], want[i%4], &answers[i]); err != nil {
				t.Fatalf("answer %d: %v", i, err)
			}
			if i%3 != 0 { // the next run returns the rest
				answers[i].Reset()
			}
		}
	}
	for i := range answers {
		answers[i].Reset()
	}
}

// describe checks that stores and backends describe themselves.
func (su suite) describe(t *testing.T) {
	s, b := su.Workload(t, 12, 10)
	st := su.Load(t, s)
	if st.Memory() == 0 {
		t.Error("a store with lists has no memory")
	}
	explain := func() {
		for _, a := range su.Algorithms {
			for h := range uint32(len(s.Lists)) {
				if st.Explain(a, h) == "" {
					t.Errorf("no explanation for list %d under %v", h, a)
				}
			}
			mine := *b
			mine.Algorithm = a
			if st.ExplainBatch(&mine) == "" {
				t.Errorf("no explanation for a batch under %v", a)
			}
		}
	}
	explain()
	su.verify(t, st, s, b)
	explain()

	info := su.Shared.Info()
	if info.Kind == "" || info.Device == "" || info.ComputeUnits <= 0 {
		t.Errorf("incomplete info: %+v", info)
	}
}

// unsupported checks that the backend refuses the algorithms that its Info lacks.
func (su suite) unsupported(t *testing.T) {
	s, b := su.Workload(t, 4, 4)
	st := su.Load(t, s)
	info := su.Shared.Info()
	for _, a := range append(plan.Algorithms(), 255) {
		if slices.Contains(info.Algorithms, a) {
			continue
		}
		b.Algorithm = a
		if err := st.Match(t.Context(), b, &plan.Results{}); !errors.Is(err, plan.ErrUnsupported) || !strings.Contains(err.Error(), a.String()) {
			t.Errorf("%v, an algorithm beside %v: %v", a, info.Algorithms, err)
		}
		if st.Explain(a, 0) == "" || st.ExplainBatch(b) == "" {
			t.Errorf("no explanation of %v", a)
		}
	}
	for _, a := range append(info.Algorithms, plan.Auto) {
		if err := info.Runs(a); err != nil {
			t.Error(err)
		}
	}
}
