package ranktest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"heddle/codec/codectest"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
)

// random draws the source and all fields of the batch. Package rapid shrinks
// failures.
func (su *suite) random(t *testing.T) {
	su.Check(t, func(rt *rapid.T) { su.randomBatch(rt, su.Shared) })
}

// randomBatch ranks a random batch on b. One batch in five is invalid.
func (su *suite) randomBatch(rt *rapid.T, b plan.Backend) {
	s := su.randomSource(rt)
	seed := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed of weights"), 0))
	q := plan.RankBatch{
		Mode: rapid.SampledFrom([]plan.Mode{plan.Or, plan.And}).Draw(rt, "mode"),
		K:    rapid.SampledFrom([]int{1, 2, 10, 100, 1000, plan.MaxK}).Draw(rt, "k"),
		Norm: s.Norm(rapid.Float64Range(0, 255).Draw(rt, "k1"), rapid.Float64Range(0, 1).Draw(rt, "b")),

		Accumulators: rapid.SampledFrom(su.accumulators).Draw(rt, "accumulators"),
	}
	q.Reset()
	handle := rapid.Uint32Range(0, uint32(len(s.Lists)-1))
	for range rapid.IntRange(0, 12).Draw(rt, "queries") {
		q.Add(&s.Source, plantest.Weighted(seed, rapid.SliceOfN(handle, 0, 8).Draw(rt, "query")...)...)
	}
	switch n := len(q.Terms); rapid.IntRange(0, 30).Draw(rt, "spoilt") {
	case 1:
		q.K = rapid.Int().Draw(rt, "any k")
	case 2:
		if n > 0 {
			q.Terms[seed.IntN(n)] = plan.Term{List: rapid.Uint32().Draw(rt, "any list"), Weight: rapid.Uint32().Draw(rt, "any weight")}
		}
	case 3:
		q.Offsets[seed.IntN(len(q.Offsets))] = rapid.Uint32().Draw(rt, "any offset")
	case 4:
		q.Mode = plan.Mode(rapid.ByteMin(2).Draw(rt, "no mode"))
	case 5:
		q.Accumulators = plan.Accumulators(rapid.ByteMin(4).Draw(rt, "no accumulators"))
	case 6:
		q.Norm.Impacts = rapid.Byte().Draw(rt, "any impacts")
	}
	st, err := b.Load(rt.Context(), &s.Source)
	if err != nil {
		rt.Fatal(err)
	}
	defer st.Close()
	var out plan.TopK
	err = st.Rank(rt.Context(), &q, &out)
	if wrong := q.Validate(&s.Source); wrong != nil {
		if err == nil {
			rt.Fatalf("an invalid batch went through: %v", wrong)
		}
		return
	}
	if err == nil {
		err = compare(s, &q, s.Plain.Rank(&q), &out)
	}
	if err != nil {
		rt.Fatal(err)
	}
}

// randomSource draws universe, lengths of documents, lists, codecs and frequencies.
func (su *suite) randomSource(rt *rapid.T) *plantest.Source {
	seed := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
	docs := rapid.SampledFrom([]uint32{1, 40, 129, 4097, 20_000}).Draw(rt, "universe")
	impacts := rapid.SampledFrom([]uint8{0, 0, 8, 16}).Draw(rt, "impacts")
	s := plantest.NewRanked(seed, docs, impacts, plantest.LengthKinds[rapid.IntRange(0, len(plantest.LengthKinds)-1).Draw(rt, "kind of lengths")].One)
	for i := range rapid.IntRange(1, 8).Draw(rt, "lists") {
		g := rapid.SampledFrom(codectest.Generators()).Draw(rt, fmt.Sprint("kind of list ", i))
		docs := g.Gen(seed, rapid.IntRange(0, su.Pick(2000, 200)).Draw(rt, "length"), uint64(s.Docs))
		f := plantest.FrequencyKinds[rapid.IntRange(0, len(plantest.FrequencyKinds)-1).Draw(rt, "kind of frequencies")]
		s.AddRanked(rt, rapid.SampledFrom(su.Codecs).Draw(rt, "codec"), docs, s.Draw(seed, len(docs), f.One))
	}
	return s
}

// corrupt ranks over damaged docIDs and frequencies. The backend may return an error
// or any answer within bounds.
func (su *suite) corrupt(t *testing.T) {
	su.OnDamaged(t, func(r *rand.Rand, src *plan.Source, st plan.Store) {
		var out plan.TopK
		q := plan.RankBatch{Norm: plan.Norm{Impacts: src.Impacts}}
		if src.Impacts == 0 {
			q.Norm = plan.NewNorm(0.9, 0.4, 100)
		}
		for x := range uint32(len(src.Lists)) {
			for _, q.Mode = range []plan.Mode{plan.Or, plan.And} {
				q.Reset()
				q.K = []int{1, 10, plan.MaxK}[r.IntN(3)]
				q.Accumulators = su.accumulators[r.IntN(len(su.accumulators))]
				if src.Docs > 1<<22 {
					q.Accumulators %= plan.GlobalAccumulators
				}
				q.Add(src, plantest.Weighted(r, x)...)
				q.Add(src, plantest.Weighted(r, x, r.Uint32N(uint32(len(src.Lists))))...)
				q.Add(src, plantest.Weighted(r, x, r.Uint32N(uint32(len(src.Lists))), r.Uint32N(uint32(len(src.Lists))))...)
				if err := st.Rank(t.Context(), &q, &out); err != nil {
					continue
				}
				if err := bounded(&q, src, &out); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}
