package plantest

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"heddle/codec"
	"heddle/codec/codectest"
	"heddle/engine/plan"
)

// random lets rapid choose universe, lists, codecs, queries and algorithm, and
// shrink what fails.
func (su *suite) random(t *testing.T) {
	b := su.open(t)
	defer b.Close()
	su.check(t, func(rt *rapid.T) { su.randomBatch(rt, b) })
}

// check is rapid.Check with as many cases as the suite wants, unless the command
// line says how many.
func (su *suite) check(t *testing.T, prop func(*rapid.T)) {
	if checks := flag.Lookup("rapid.checks"); checks != nil && checks.Value.String() == checks.DefValue {
		if err := checks.Value.Set(strconv.Itoa(su.pick(300, 8))); err != nil {
			t.Fatal(err)
		}
		defer checks.Value.Set(checks.DefValue)
	}
	rapid.Check(t, prop)
}

// randomSource draws universe, lists and codecs.
func (su *suite) randomSource(rt *rapid.T) *source {
	s := &source{Source: plan.Source{Docs: rapid.SampledFrom([]uint32{1, 40, 129, 1000, 20_000, 1 << 20, maxUniverse}).Draw(rt, "universe")}}
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
	for i := range rapid.IntRange(1, 8).Draw(rt, "lists") {
		g := rapid.SampledFrom(codectest.Generators()).Draw(rt, fmt.Sprint("kind of list ", i))
		docs := g.Gen(r, rapid.IntRange(0, su.pick(2000, 200)).Draw(rt, "length"), uint64(s.Docs))
		id := rapid.SampledFrom(su.Codecs).Draw(rt, "codec")
		if id == codec.Bitset && len(docs) > 0 && docs[len(docs)-1] > 1<<24 {
			id = codec.ParaPFor
		}
		h, err := s.Append(id, docs, codec.Options{
			ExceptionRatio: rapid.SampledFrom([]float64{0, 0.1, 0.6}).Draw(rt, "exceptions"),
			RPFDLevels:     rapid.IntRange(0, codec.MaxRPFDLevels).Draw(rt, "rpfd levels"),
		})
		if err != nil {
			rt.Fatal(err)
		}
		if int(h) != len(s.docs) {
			rt.Fatalf("list %d got handle %d", len(s.docs), h)
		}
		s.docs = append(s.docs, docs)
	}
	return s
}

func (su *suite) randomBatch(rt *rapid.T, backend plan.Backend) {
	s := su.randomSource(rt)
	handle := rapid.Uint32Range(0, uint32(len(s.Lists)-1))
	var b plan.MatchBatch
	b.Reset()
	for range rapid.IntRange(0, 12).Draw(rt, "queries") {
		b.Add(&s.Source, rapid.SliceOfN(handle, 0, 6).Draw(rt, "query")...)
	}
	b.Algorithm = rapid.SampledFrom(su.algorithms()).Draw(rt, "algorithm")
	b.CountOnly = rapid.Bool().Draw(rt, "count only")
	b.Part = rapid.Bool().Draw(rt, "part")

	st, err := backend.Load(rt.Context(), &s.Source)
	if err != nil {
		rt.Fatal(err)
	}
	defer st.Close()
	var out plan.Results
	if err := st.Match(rt.Context(), &b, &out); err != nil {
		rt.Fatal(err)
	}
	if err := s.compare(&b, s.answer(&b), &out); err != nil {
		rt.Fatal(err)
	}
}

// workload is a source of lists of mixed density and a batch of queries over it.
func (su *suite) workload(t *testing.T, lists, queries int) (*source, *plan.MatchBatch) {
	r := rng(t)
	s := &source{Source: plan.Source{Docs: uint32(su.pick(30_000, 2_000))}}
	for i := range lists {
		make := uniform
		if i%3 == 0 {
			make = clustered
		}
		n := 1 + r.IntN(int(s.Docs)>>r.IntN(8))
		s.add(t, su.Codecs[r.IntN(len(su.Codecs))], make(s.Docs, n, r))
	}
	b := &plan.MatchBatch{}
	b.Reset()
	for range queries {
		q := make([]plan.Handle, r.IntN(6))
		for i := range q {
			q[i] = uint32(r.IntN(lists))
		}
		b.Add(&s.Source, q...)
	}
	return s, b
}

// bigBatch has more queries than any device has compute units, so that work is
// cut into pieces everywhere.
func (su *suite) bigBatch(t *testing.T) {
	s, b := su.workload(t, su.pick(60, 12), su.pick(1000, 60))
	su.verify(t, su.load(t, s), s, b)
}

// bigQuery has one query that is worth splitting.
func (su *suite) bigQuery(t *testing.T) {
	r := rng(t)
	s := &source{Source: plan.Source{Docs: uint32(su.pick(500_000, 6000))}}
	for i := range 5 {
		make := uniform
		if i == 3 {
			make = clustered
		}
		s.add(t, su.Codecs[i%len(su.Codecs)], make(s.Docs, int(s.Docs)/3*(i+1)/4, r))
	}
	st := su.load(t, s)
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

// reuse runs different batches into the same results, from large to small and
// back, between docIDs and counts.
func (su *suite) reuse(t *testing.T) {
	s, large := su.workload(t, su.pick(40, 12), su.pick(400, 40))
	st := su.load(t, s)
	var small, none plan.MatchBatch
	small.Reset()
	small.Add(&s.Source, 1, 2)
	var out plan.Results
	for i, b := range []*plan.MatchBatch{large, &small, &none, large, &small, large} {
		for _, countOnly := range []bool{i%2 == 0, i%2 == 1} {
			b.CountOnly = countOnly
			if err := st.Match(t.Context(), b, &out); err != nil {
				t.Fatal(err)
			}
			if err := s.compare(b, s.answer(b), &out); err != nil {
				t.Fatalf("step %d, count only %t: %v", i, countOnly, err)
			}
		}
	}
}

// stats checks the counters that are exact on every backend.
func (su *suite) stats(t *testing.T) {
	s, b := su.workload(t, 20, su.pick(200, 20))
	st := su.load(t, s)
	var out plan.Results
	for _, countOnly := range []bool{false, true} {
		b.CountOnly = countOnly
		if err := st.Match(t.Context(), b, &out); err != nil {
			t.Fatal(err)
		}
		matches := uint64(0)
		for _, docs := range s.answer(b) {
			matches += uint64(len(docs))
		}
		got := out.Stats
		if got.Queries != uint64(b.Queries()) || got.Candidates != b.Candidates(&s.Source) || got.Matches != matches {
			t.Errorf("count only %t: stats say %d queries, %d candidates, %d matches; want %d, %d, %d", countOnly,
				got.Queries, got.Candidates, got.Matches, b.Queries(), b.Candidates(&s.Source), matches)
		}
		if got.Wall <= 0 {
			t.Errorf("a batch took %v", got.Wall)
		}
	}
}

// describe checks that a store says something of itself.
func (su *suite) describe(t *testing.T) {
	s, b := su.workload(t, 12, 10)
	st := su.load(t, s)
	if st.Memory() == 0 {
		t.Error("a store with lists occupies nothing")
	}
	explain := func() {
		for _, a := range su.algorithms() {
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

	backend := su.open(t)
	defer backend.Close()
	info := backend.Info()
	if info.Kind == "" || info.Device == "" || info.ComputeUnits <= 0 {
		t.Errorf("incomplete info: %+v", info)
	}
}

// unsupported asks for every algorithm that the backend does not name.
func (su *suite) unsupported(t *testing.T) {
	s, b := su.workload(t, 4, 4)
	backend := su.open(t)
	defer backend.Close()
	st, err := backend.Load(t.Context(), &s.Source)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	info := backend.Info()
	for _, a := range append(plan.Algorithms(), 255) {
		if slices.Contains(info.Algorithms, a) {
			continue
		}
		b.Algorithm = a
		if err := st.Match(t.Context(), b, &plan.Results{}); !errors.Is(err, plan.ErrUnsupported) || !strings.Contains(err.Error(), a.String()) {
			t.Errorf("%v, which is none of %v: %v", a, info.Algorithms, err)
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
