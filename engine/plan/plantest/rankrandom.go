package plantest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"heddle/codec"
	"heddle/codec/codectest"
	"heddle/engine/plan"
)

// rankRandom lets rapid choose the source, the batch and everything that it says,
// and shrink what fails.
func (su *suite) rankRandom(t *testing.T) {
	b := su.open(t)
	defer b.Close()
	su.check(t, func(rt *rapid.T) { su.randomRanks(rt, b) })
}

// randomRanks ranks a batch on b that is sound, or spoilt now and then.
func (su *suite) randomRanks(rt *rapid.T, b plan.Backend) {
	s := su.randomRanked(rt)
	seed := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed of weights"), 0))
	q := plan.RankBatch{
		Mode: rapid.SampledFrom([]plan.Mode{plan.Or, plan.And}).Draw(rt, "mode"),
		K:    rapid.SampledFrom([]int{1, 2, 10, 100, 1000, plan.MaxK}).Draw(rt, "k"),
		Norm: s.norm(rapid.Float64Range(0, 255).Draw(rt, "k1"), rapid.Float64Range(0, 1).Draw(rt, "b")),

		Accumulators: rapid.SampledFrom(su.accumulators).Draw(rt, "accumulators"),
	}
	q.Reset()
	handle := rapid.Uint32Range(0, uint32(len(s.Lists)-1))
	for range rapid.IntRange(0, 12).Draw(rt, "queries") {
		q.Add(&s.Source, weighted(seed, rapid.SliceOfN(handle, 0, 8).Draw(rt, "query")...)...)
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
		q.Accumulators = plan.Accumulators(rapid.ByteMin(2).Draw(rt, "no accumulators"))
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
			rt.Fatalf("a batch went through that is not valid: %v", wrong)
		}
		return
	}
	if err == nil {
		err = s.compareRanks(&q, s.rankAll(&q), &out)
	}
	if err != nil {
		rt.Fatal(err)
	}
}

// randomRanked draws universe, lengths of documents, lists, codecs and frequencies.
func (su *suite) randomRanked(rt *rapid.T) *ranked {
	seed := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
	docs := rapid.SampledFrom([]uint32{1, 40, 129, 4097, 20_000}).Draw(rt, "universe")
	impacts := rapid.SampledFrom([]uint8{0, 0, 8, 16}).Draw(rt, "impacts")
	s := newRanked(seed, docs, impacts, lengths[rapid.IntRange(0, len(lengths)-1).Draw(rt, "kind of lengths")].one)
	for i := range rapid.IntRange(1, 8).Draw(rt, "lists") {
		g := rapid.SampledFrom(codectest.Generators()).Draw(rt, fmt.Sprint("kind of list ", i))
		docs := g.Gen(seed, rapid.IntRange(0, su.pick(2000, 200)).Draw(rt, "length"), uint64(s.Docs))
		f := frequencies[rapid.IntRange(0, len(frequencies)-1).Draw(rt, "kind of frequencies")]
		s.rank(rt, rapid.SampledFrom(su.Codecs).Draw(rt, "codec"), docs, s.draw(seed, len(docs), f.one))
	}
	return s
}

// rankCorrupt ranks over words that no encoder wrote, docIDs and frequencies: an
// error or an answer within bounds, whatever comes.
func (su *suite) rankCorrupt(t *testing.T) {
	su.onDamaged(t, func(r *rand.Rand, src *plan.Source, st plan.Store) {
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
					q.Accumulators = plan.RangeAccumulators
				}
				q.Add(src, weighted(r, x)...)
				q.Add(src, weighted(r, x, r.Uint32N(uint32(len(src.Lists))))...)
				q.Add(src, weighted(r, x, r.Uint32N(uint32(len(src.Lists))), r.Uint32N(uint32(len(src.Lists))))...)
				if err := st.Rank(t.Context(), &q, &out); err != nil {
					continue
				}
				if err := boundedRanks(&q, src, &out); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// damageFreqs gives the lists of s frequencies or impacts: sound ones, some with
// words changed, or random words.
func (su *suite) damageFreqs(t *testing.T, r *rand.Rand, src *plan.Source) {
	impacts := []uint8{8, 16, 0}[r.IntN(3)]
	if src.Docs > 1<<17 {
		impacts = max(impacts, 8) // for want of lengths of so many documents
	}
	s := newRanked(r, src.Docs, impacts, lengths[r.IntN(len(lengths))].one)
	src.Lengths, src.Impacts = s.Lengths, s.Impacts
	for h := range src.Lists {
		d := &src.Lists[h]
		if r.IntN(3) == 0 {
			words := r.IntN(int(d.Len) + 4)
			d.FreqOff, d.FreqWords = uint64(len(src.Freqs)), uint32(words)
			for range words {
				src.Freqs = append(src.Freqs, r.Uint32()>>r.IntN(32))
			}
			continue
		}
		one := frequencies[r.IntN(len(frequencies))].one
		if err := src.AppendFreqs(plan.Handle(h), s.draw(r, int(d.Len), one), codec.DefaultOptions()); err != nil {
			t.Fatal(err)
		}
		words := src.Freqs[d.FreqOff:]
		for range min(len(words), r.IntN(3)) {
			words[r.IntN(len(words))] ^= 1 << r.IntN(32)
		}
	}
	if src.Freqs == nil {
		src.Freqs = []uint32{}
	}
}
