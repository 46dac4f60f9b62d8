package ranktest

import (
	"fmt"
	"math"
	"testing"

	"heddle/codec"
	"heddle/codec/codectest"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
)

// lists has lists of all kinds and codecs in pairs, with frequencies and with
// impacts.
func (su *suite) lists(t *testing.T) {
	for _, impacts := range []uint8{0, 8, 16} {
		t.Run(fmt.Sprint("impacts ", impacts), func(t *testing.T) {
			r := plantest.RNG(t)
			s := plantest.NewRanked(r, uint32(su.Pick(40_000, 9_000)), impacts, plantest.LengthKinds[0].One)
			for _, g := range codectest.Generators() {
				su.AddAllRanked(t, r, s, g.Gen(r, su.Pick(1500, 100), uint64(s.Docs)))
			}
			q := plan.RankBatch{Norm: s.Norm(0.9, 0.4)}
			lists := uint32(len(s.Lists))
			for x := range lists {
				if su.Small && x%5 != uint32(impacts)/8 {
					continue
				}
				q.Add(&s.Source, plantest.Weighted(r, x, r.Uint32N(lists))...)
			}
			su.verify(t, su.Load(t, s), s, &q, 10, 1000)
		})
	}
}

// lengths has the lengths at which blocks, segments and ranges end.
func (su *suite) lengths(t *testing.T) {
	r := plantest.RNG(t)
	s := plantest.NewRanked(r, uint32(su.Pick(20_000, 2_500)), 0, plantest.LengthKinds[0].One)
	sizes := []int{0, 1, 2, 3}
	for n := 32; n <= su.Pick(8192, 512); n *= 4 {
		sizes = append(sizes, n-1, n, n+1)
	}
	for _, n := range sizes {
		su.AddAllRanked(t, r, s, plantest.Uniform(s.Docs, n, r))
	}
	all := plan.Handle(len(s.Lists))
	su.AddAllRanked(t, r, s, plantest.Uniform(s.Docs, int(s.Docs), r)) // every document
	q := plan.RankBatch{Norm: s.Norm(1.2, 0.75)}
	for h := range uint32(len(s.Lists)) {
		if su.Small && h%2 == 0 && h < all {
			continue
		}
		q.Add(&s.Source, plantest.Weighted(r, h)...)
		q.Add(&s.Source, plantest.Weighted(r, h, r.Uint32N(all))...)
	}
	q.Add(&s.Source, plantest.Weighted(r, all)...)
	q.Add(&s.Source, plantest.Weighted(r, all, all-1)...) // the two longest lists
	su.verify(t, su.Load(t, s), s, &q, 1, su.Pick(500, 50))
}

// universes has universes from no document to the largest, among them the sizes at
// which ranges of documents end. Large universes have impacts, which need no length
// of each document.
func (su *suite) universes(t *testing.T) {
	universes := []uint32{0, 1, 2, 33, 511, 4095, 4096, 4097, 8192, 8193, 16385, 32767, 32768, 32769, 65535, 65537, 1 << 20, plantest.MaxUniverse}
	for _, universe := range universes {
		if su.Ranked > 0 && universe > su.Ranked {
			continue
		}
		t.Run(fmt.Sprint(universe), func(t *testing.T) {
			r := plantest.RNG(t)
			impacts := uint8(0)
			if universe > 1<<17 {
				impacts = 8
			}
			s := plantest.NewRanked(r, universe, impacts, plantest.LengthKinds[int(universe)%len(plantest.LengthKinds)].One)
			for i, g := range codectest.Generators() {
				id := su.Codecs[i%len(su.Codecs)]
				docs := g.Gen(r, su.Pick(500, 60), uint64(universe))
				s.AddRanked(t, plantest.Fitting(id, docs), docs, s.Draw(r, len(docs), plantest.FrequencyKinds[i%4].One))
			}
			if universe > 1 {
				s.AddRanked(t, codec.Raw, []uint32{0, universe - 1}, []uint32{1, 1})
			}
			q := plan.RankBatch{Norm: s.Norm(0.9, 0.4)}
			ends := plan.Handle(len(s.Lists) - 1)
			queries := su.Pick(20, 4)
			if accumulators := su.accumulators; universe > 1<<22 { // a million ranges in a query, too many documents for global accumulators
				queries = su.Pick(4, 1)
				defer func() { su.accumulators = accumulators }()
				su.accumulators = []plan.Accumulators{plan.AutoAccumulators, plan.RangeAccumulators}
			}
			for range queries {
				q.Add(&s.Source, plantest.Weighted(r, r.Uint32N(ends+1), r.Uint32N(ends+1), ends)...)
			}
			su.verify(t, su.Load(t, s), s, &q, 7)
		})
	}
}

// shapes has queries of 0 to 200 terms, and as many matches as k or one more.
func (su *suite) shapes(t *testing.T) {
	r := plantest.RNG(t)
	s := plantest.NewRanked(r, uint32(su.Pick(21_000, 12_500)), 0, plantest.LengthKinds[2].One)
	const lists = 200
	for i := range lists {
		// Some lists have nearly all documents, so that documents have many of the terms.
		n := []int{20_000, 20_990, 1000, 30, 3, 300}[i%6]
		if su.Small {
			n = n/15 + 1
		}
		docs := plantest.Uniform(s.Docs, n, r)
		s.AddRanked(t, su.Codecs[i%len(su.Codecs)], docs, s.Draw(r, len(docs), plantest.FrequencyKinds[i%4].One))
	}
	empty := s.AddRanked(t, codec.ParaPFor, nil, nil)
	one := s.AddRanked(t, codec.ParaPFor, []uint32{77}, []uint32{1})
	exact := map[int]plan.Handle{} // lists of k documents, and of one more, by length
	ks := []int{1, 10, 1000, plan.MaxK}
	for _, k := range ks {
		for _, n := range []int{k, k + 1} {
			docs := plantest.Uniform(s.Docs, n, r)
			exact[n] = s.AddRanked(t, codec.ParaPFor, docs, s.Draw(r, n, plantest.FrequencyKinds[1].One))
		}
	}
	st := su.Load(t, s)

	q := plan.RankBatch{Norm: s.Norm(0.9, 0.4)}
	su.verify(t, st, s, &q, 10) // without Reset and without queries
	q.Reset()
	su.verify(t, st, s, &q, 10)
	q.Add(&s.Source)
	su.verify(t, st, s, &q, 1, plan.MaxK)
	q.Add(&s.Source, plantest.Weighted(r, empty)...)
	q.Add(&s.Source, plantest.Weighted(r, one)...)
	q.Add(&s.Source, plantest.Weighted(r, empty, one)...)
	for _, h := range exact {
		q.Add(&s.Source, plantest.Weighted(r, h)...)
		q.Add(&s.Source, plantest.Weighted(r, h, one, empty)...)
	}
	pick := func(n int) []plan.Handle {
		q := make([]plan.Handle, n)
		for i := range q {
			q[i] = r.Uint32N(lists)
		}
		return q
	}
	for _, n := range []int{2, 3, 4, 5, 8, 17, 45} {
		q.Add(&s.Source, plantest.Weighted(r, pick(n)...)...)
	}
	every, least := make([]plan.Handle, lists), make([]plan.Term, lists)
	for i := range every {
		every[i] = plan.Handle(i)
		least[i] = plan.Term{List: plan.Handle(i), Weight: 1} // the score is the number of terms, so ties are everywhere
	}
	q.Add(&s.Source, plantest.Weighted(r, every...)...)
	q.Add(&s.Source, least...)
	q.Add(&s.Source, plantest.Weighted(r, 1, 1, 1)...) // a repeated term
	q.Add(&s.Source, plantest.Weighted(r, 1, 2, 1, 2)...)
	q.Add(&s.Source, plan.Term{List: 1, Weight: math.MaxUint32})
	q.Add(&s.Source, plan.Term{List: 1, Weight: math.MaxUint32 - 1}, plan.Term{List: 2, Weight: 1})
	q.Add(&s.Source)
	su.verify(t, st, s, &q, ks...)
}

// norms has lengths and frequencies of every kind under ordinary and extreme
// parameters. Term-frequency component and sum reach both ends of their ranges.
func (su *suite) norms(t *testing.T) {
	for j, l := range plantest.LengthKinds {
		t.Run(l.Name, func(t *testing.T) {
			r := plantest.RNG(t)
			s := plantest.NewRanked(r, uint32(su.Pick(5000, 300)), 0, l.One)
			q := plan.RankBatch{}
			for i, f := range plantest.FrequencyKinds {
				docs := plantest.Uniform(s.Docs, int(s.Docs)/(i+1), r)
				s.AddRanked(t, su.Codecs[i%len(su.Codecs)], docs, s.Draw(r, len(docs), f.One))
			}
			for h := range uint32(len(s.Lists)) {
				q.Add(&s.Source, plan.Term{List: h, Weight: math.MaxUint32}) // every bit of the term-frequency component shows
				q.Add(&s.Source, plantest.Weighted(r, h, (h+1)%5, (h+2)%5)...)
			}
			q.Add(&s.Source, plan.Term{List: 0, Weight: 1 << 31}, plan.Term{List: 1, Weight: 1<<31 - 1}) // sums up to 2^32-1
			st := su.Load(t, s)
			for i, norm := range []plan.Norm{
				s.Norm(0.9, 0.4), s.Norm(1.2, 0.75), s.Norm(2, 1), s.Norm(0.9, 0), s.Norm(0, 0.4), s.Norm(255, 1),
				plan.NewNorm(255, 1, 1e-6), plan.NewNorm(0.5, 0.5, 1e12), {},
				{Base: math.MaxUint32, Slope: math.MaxUint32}, {Slope: 1, Shift: 63}, {Slope: math.MaxUint32, Shift: 31},
			} {
				if su.Small && (i+j)%2 == 0 {
					continue
				}
				q.Norm = norm
				su.verify(t, st, s, &q, su.Pick(100, 20))
			}
		})
	}
}
