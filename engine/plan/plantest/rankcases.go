package plantest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"heddle/codec"
	"heddle/codec/codectest"
	"heddle/engine/plan"
)

// frequencies are kinds of frequencies and impacts, by name.
var frequencies = []struct {
	name string
	one  func(r *rand.Rand) uint32
}{
	{"ones", func(*rand.Rand) uint32 { return 1 }},
	{"text", func(r *rand.Rand) uint32 { return 1 + uint32(r.ExpFloat64()*1.5) }},
	{"exceptions", func(r *rand.Rand) uint32 { // some far greater than the rest
		if r.IntN(12) == 0 {
			return 1 + r.Uint32N(1<<31)
		}
		return 1 + r.Uint32N(6)
	}},
	{"any", func(r *rand.Rand) uint32 { return max(r.Uint32()>>r.IntN(32), 1) }},
	{"greatest", func(*rand.Rand) uint32 { return math.MaxUint32 }},
}

// lengths of documents, in tokens, by name.
var lengths = []struct {
	name string
	one  func(r *rand.Rand) uint32
}{
	{"text", func(r *rand.Rand) uint32 { return uint32(900 * math.Exp(r.NormFloat64())) }},
	{"zero", func(*rand.Rand) uint32 { return 0 }},
	{"short", func(r *rand.Rand) uint32 { return r.Uint32N(4) }},
	{"16 bits", func(r *rand.Rand) uint32 { return math.MaxUint16 - r.Uint32N(2) }},
	{"17 bits", func(r *rand.Rand) uint32 { return math.MaxUint16 + 1 - r.Uint32N(3) }},
	{"any", func(r *rand.Rand) uint32 { return r.Uint32() >> r.IntN(32) }},
	{"greatest", func(*rand.Rand) uint32 { return math.MaxUint32 }},
}

// newRanked is a source without lists. With impacts of so many bits it has no
// lengths of documents.
func newRanked(r *rand.Rand, docs uint32, impacts uint8, length func(*rand.Rand) uint32) *ranked {
	s := &ranked{source: source{Source: plan.Source{Docs: docs, Impacts: impacts}}}
	if impacts == 0 {
		s.Lengths = make([]uint32, docs)
		for i := range s.Lengths {
			s.Lengths[i] = length(r)
		}
	}
	return s
}

// draw gives n frequencies, or impacts of the source's bits.
func (s *ranked) draw(r *rand.Rand, n int, one func(*rand.Rand) uint32) []uint32 {
	freqs := make([]uint32, n)
	for i := range freqs {
		freqs[i] = one(r)
		if s.Impacts > 0 {
			freqs[i] = max(freqs[i]%(1<<s.Impacts), 1)
		}
	}
	return freqs
}

// rankEach encodes docs once in every codec, as addAll does, with frequencies of
// one kind after the other.
func (su *suite) rankEach(t testing.TB, r *rand.Rand, s *ranked, docs []uint32) {
	before := len(s.Lists)
	su.addAll(t, &s.source, docs)
	for h := before; h < len(s.Lists); h++ {
		freqs := s.draw(r, len(docs), frequencies[h%len(frequencies)].one)
		if err := s.AppendFreqs(plan.Handle(h), freqs, codec.DefaultOptions()); err != nil {
			t.Fatal(err)
		}
		s.freqs = append(s.freqs, freqs)
	}
}

// rankLists scores every kind of list with others in every codec, by frequencies
// and by impacts.
func (su *suite) rankLists(t *testing.T) {
	backend := su.backend(t)
	for _, impacts := range []uint8{0, 8, 16} {
		t.Run(fmt.Sprint("impacts ", impacts), func(t *testing.T) {
			r := rng(t)
			s := newRanked(r, uint32(su.pick(40_000, 9_000)), impacts, lengths[0].one)
			for _, g := range codectest.Generators() {
				su.rankEach(t, r, s, g.Gen(r, su.pick(1500, 100), uint64(s.Docs)))
			}
			q := plan.RankBatch{Norm: s.norm(0.9, 0.4)}
			lists := uint32(len(s.Lists))
			for x := range lists {
				if su.Small && x%5 != uint32(impacts)/8 {
					continue
				}
				q.Add(&s.Source, weighted(r, x, r.Uint32N(lists))...)
			}
			su.verifyRanks(t, loadOn(t, backend, &s.source), s, &q, 10, 1000)
		})
	}
}

// rankLengths walks over the lengths around which blocks, segments and ranges end.
func (su *suite) rankLengths(t *testing.T) {
	r := rng(t)
	s := newRanked(r, uint32(su.pick(20_000, 2_500)), 0, lengths[0].one)
	sizes := []int{0, 1, 2, 3}
	for n := 32; n <= su.pick(8192, 512); n *= 4 {
		sizes = append(sizes, n-1, n, n+1)
	}
	for _, n := range sizes {
		su.rankEach(t, r, s, uniform(s.Docs, n, r))
	}
	all := plan.Handle(len(s.Lists))
	su.rankEach(t, r, s, uniform(s.Docs, int(s.Docs), r)) // every document
	q := plan.RankBatch{Norm: s.norm(1.2, 0.75)}
	for h := range uint32(len(s.Lists)) {
		if su.Small && h%2 == 0 && h < all {
			continue
		}
		q.Add(&s.Source, weighted(r, h)...)
		q.Add(&s.Source, weighted(r, h, r.Uint32N(all))...)
	}
	q.Add(&s.Source, weighted(r, all)...)
	q.Add(&s.Source, weighted(r, all, all-1)...) // of the longest lists
	su.verifyRanks(t, su.load(t, &s.source), s, &q, 1, su.pick(500, 50))
}

// rankUniverses goes from no document at all to the most that docIDs can name,
// over the places where ranges of documents end. Large ones have impacts: there
// is no length for each of so many documents.
func (su *suite) rankUniverses(t *testing.T) {
	universes := []uint32{0, 1, 2, 33, 511, 4095, 4096, 4097, 8192, 8193, 16385, 32767, 32768, 32769, 65535, 65537, 1 << 20, maxUniverse}
	backend := su.backend(t)
	for _, universe := range universes {
		t.Run(fmt.Sprint(universe), func(t *testing.T) {
			r := rng(t)
			impacts := uint8(0)
			if universe > 1<<17 {
				impacts = 8
			}
			s := newRanked(r, universe, impacts, lengths[int(universe)%len(lengths)].one)
			for i, g := range codectest.Generators() {
				id := su.Codecs[i%len(su.Codecs)]
				if id == codec.Bitset && universe > 1<<22 {
					id = codec.ParaPFor
				}
				docs := g.Gen(r, su.pick(500, 60), uint64(universe))
				s.rank(t, id, docs, s.draw(r, len(docs), frequencies[i%4].one))
			}
			if universe > 1 {
				s.rank(t, codec.Raw, []uint32{0, universe - 1}, []uint32{1, 1})
			}
			q := plan.RankBatch{Norm: s.norm(0.9, 0.4)}
			ends := plan.Handle(len(s.Lists) - 1)
			queries := su.pick(20, 4)
			if accumulators := su.accumulators; universe > 1<<22 { // a million ranges a query, and no accumulator a document
				queries = su.pick(4, 1)
				defer func() { su.accumulators = accumulators }()
				su.accumulators = []plan.Accumulators{plan.RangeAccumulators}
			}
			for range queries {
				q.Add(&s.Source, weighted(r, r.Uint32N(ends+1), r.Uint32N(ends+1), ends)...)
			}
			su.verifyRanks(t, loadOn(t, backend, &s.source), s, &q, 7)
		})
	}
}

// rankShapes asks queries of every number of terms, from none to two hundred, and
// every size of result around k.
func (su *suite) rankShapes(t *testing.T) {
	r := rng(t)
	s := newRanked(r, 21_000, 0, lengths[2].one)
	const lists = 200
	for i := range lists {
		// Some are in nearly all documents, so that something has many of the terms.
		n := []int{20_000, 20_990, 1000, 30, 3, 300}[i%6]
		if su.Small {
			n = n/15 + 1
		}
		docs := uniform(s.Docs, n, r)
		s.rank(t, su.Codecs[i%len(su.Codecs)], docs, s.draw(r, len(docs), frequencies[i%4].one))
	}
	empty := s.rank(t, codec.ParaPFor, nil, nil)
	one := s.rank(t, codec.ParaPFor, []uint32{77}, []uint32{1})
	exact := map[int]plan.Handle{} // lists as long as what is asked for, and longer by one
	ks := []int{1, 10, 1000, plan.MaxK}
	for _, k := range ks {
		for _, n := range []int{k, k + 1} {
			docs := uniform(s.Docs, n, r)
			exact[n] = s.rank(t, codec.ParaPFor, docs, s.draw(r, n, frequencies[1].one))
		}
	}
	st := su.load(t, &s.source)

	q := plan.RankBatch{Norm: s.norm(0.9, 0.4)}
	su.verifyRanks(t, st, s, &q, 10) // never reset, never added to
	q.Reset()
	su.verifyRanks(t, st, s, &q, 10)
	q.Add(&s.Source)
	su.verifyRanks(t, st, s, &q, 1, plan.MaxK)
	q.Add(&s.Source, weighted(r, empty)...)
	q.Add(&s.Source, weighted(r, one)...)
	q.Add(&s.Source, weighted(r, empty, one)...)
	for _, h := range exact {
		q.Add(&s.Source, weighted(r, h)...)
		q.Add(&s.Source, weighted(r, h, one, empty)...)
	}
	pick := func(n int) []plan.Handle {
		q := make([]plan.Handle, n)
		for i := range q {
			q[i] = r.Uint32N(lists)
		}
		return q
	}
	for _, n := range []int{2, 3, 4, 5, 8, 17, 45} {
		q.Add(&s.Source, weighted(r, pick(n)...)...)
	}
	every, least := make([]plan.Handle, lists), make([]plan.Term, lists)
	for i := range every {
		every[i] = plan.Handle(i)
		least[i] = plan.Term{List: plan.Handle(i), Weight: 1} // scores count the terms: ties everywhere
	}
	q.Add(&s.Source, weighted(r, every...)...)
	q.Add(&s.Source, least...)
	q.Add(&s.Source, weighted(r, 1, 1, 1)...) // a term thrice
	q.Add(&s.Source, weighted(r, 1, 2, 1, 2)...)
	q.Add(&s.Source, plan.Term{List: 1, Weight: math.MaxUint32})
	q.Add(&s.Source, plan.Term{List: 1, Weight: math.MaxUint32 - 1}, plan.Term{List: 2, Weight: 1})
	q.Add(&s.Source)
	su.verifyRanks(t, st, s, &q, ks...)
}

// rankNorms scores by every kind of length and frequency under ordinary and
// extreme parameters: share and sum reach both ends of their ranges.
func (su *suite) rankNorms(t *testing.T) {
	backend := su.backend(t)
	for j, l := range lengths {
		t.Run(l.name, func(t *testing.T) {
			r := rng(t)
			s := newRanked(r, uint32(su.pick(5000, 300)), 0, l.one)
			q := plan.RankBatch{}
			for i, f := range frequencies {
				docs := uniform(s.Docs, int(s.Docs)/(i+1), r)
				s.rank(t, su.Codecs[i%len(su.Codecs)], docs, s.draw(r, len(docs), f.one))
			}
			for h := range uint32(len(s.Lists)) {
				q.Add(&s.Source, plan.Term{List: h, Weight: math.MaxUint32}) // every bit of the share shows
				q.Add(&s.Source, weighted(r, h, (h+1)%5, (h+2)%5)...)
			}
			q.Add(&s.Source, plan.Term{List: 0, Weight: 1 << 31}, plan.Term{List: 1, Weight: 1<<31 - 1}) // up to 2^32-1
			st := loadOn(t, backend, &s.source)
			for i, norm := range []plan.Norm{
				s.norm(0.9, 0.4), s.norm(1.2, 0.75), s.norm(2, 1), s.norm(0.9, 0), s.norm(0, 0.4), s.norm(255, 1),
				plan.NewNorm(255, 1, 1e-6), plan.NewNorm(0.5, 0.5, 1e12), {},
				{Base: math.MaxUint32, Slope: math.MaxUint32}, {Slope: 1, Shift: 63}, {Slope: math.MaxUint32, Shift: 31},
			} {
				if su.Small && (i+j)%2 == 0 {
					continue
				}
				q.Norm = norm
				su.verifyRanks(t, st, s, &q, su.pick(100, 20))
			}
		})
	}
}
