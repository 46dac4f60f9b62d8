package matchtest

import (
	"fmt"
	"testing"

	"heddle/codec"
	"heddle/codec/codectest"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/engine/plan/testneeds"
)

// lists intersects lists of all kinds and codecs in pairs.
func (su suite) lists(t *testing.T) {
	for _, universe := range []uint32{100_000, plantest.MaxUniverse} {
		t.Run(fmt.Sprint(universe), func(t *testing.T) {
			r := plantest.RNG(t)
			s := plantest.NewSource(universe)
			for _, g := range codectest.Generators() {
				su.AddAll(t, s, g.Gen(r, su.Pick(2000, 150), uint64(universe)))
			}
			st := su.Load(t, s)
			var b plan.MatchBatch
			b.Reset()
			// At most about 3,000 pairs of the 30,000 that exist. In a Small suite, each list
			// has a few partners.
			fewer := 41
			if testneeds.Full() {
				fewer = 17
			}
			every := uint32(max(su.Pick(2, fewer), len(s.Lists)*len(s.Lists)/6000))
			for x := range uint32(len(s.Lists)) {
				for y := range x + 1 {
					if (x+y)%every == 0 {
						b.Add(&s.Source, x, y)
					}
				}
			}
			su.verify(t, st, s, &b)
		})
	}
}

// lengths has the lengths at which blocks, segments and buckets end.
func (su suite) lengths(t *testing.T) {
	r := plantest.RNG(t)
	s := plantest.NewSource(1 << 16)
	lengths := []int{0, 1, 2, 3}
	for n := 4; n <= su.Pick(4096, 256); n *= 2 {
		lengths = append(lengths, n-1, n, n+1)
	}
	for _, n := range lengths {
		su.AddAll(t, s, plantest.Uniform(s.Docs, n, r))
	}
	st := su.Load(t, s)
	var b plan.MatchBatch
	b.Reset()
	for h := range uint32(len(s.Lists)) {
		b.Add(&s.Source, h)
		for _, d := range []uint32{1, 2, 3, 5, 7, 11, 23} {
			b.Add(&s.Source, h, (h+d)%uint32(len(s.Lists)))
		}
	}
	su.verify(t, st, s, &b)
}

// universes has universes from no document to the largest.
func (su suite) universes(t *testing.T) {
	for _, universe := range []uint32{0, 1, 2, 31, 32, 33, 511, 512, 513, 1 << 16, 1<<31 - 1, 1 << 31, plantest.MaxUniverse} {
		t.Run(fmt.Sprint(universe), func(t *testing.T) {
			r := plantest.RNG(t)
			s := plantest.NewSource(universe)
			for _, g := range codectest.Generators() {
				su.AddAll(t, s, g.Gen(r, su.Pick(300, 40), uint64(universe)))
			}
			if universe > 1 {
				su.AddAll(t, s, []uint32{universe - 2, universe - 1})
			}
			st := su.Load(t, s)
			var b plan.MatchBatch
			b.Reset()
			for h := range uint32(len(s.Lists)) {
				for i, q := range [][]plan.Handle{
					{h}, {h, uint32(r.IntN(len(s.Lists)))}, {h, uint32(r.IntN(len(s.Lists))), uint32(r.IntN(len(s.Lists)))}, {h, uint32(len(s.Lists) - 1)},
				} {
					if !su.Small || (h+uint32(i))%4 < 2 { // two of the four queries for each list
						b.Add(&s.Source, q...)
					}
				}
			}
			su.verify(t, st, s, &b)
		})
	}
}

// shapes has queries of 0 to 100 terms.
func (su suite) shapes(t *testing.T) {
	r := plantest.RNG(t)
	s := plantest.NewSource(6_000)
	// Dense lists, so that queries of many terms have matches.
	for i := range uint32(120) {
		n := su.Pick(5_000, 400)
		docs := make([]uint32, 0, n)
		for x := i % 3; x < s.Docs && len(docs) < n; x += 1 + uint32(r.IntN(100)/(99-int(i/40))) {
			docs = append(docs, x)
		}
		s.Add(t, su.Codecs[int(i)%len(su.Codecs)], docs)
	}
	empty := s.Add(t, codec.Raw, nil)
	st := su.Load(t, s)

	var b plan.MatchBatch
	su.verify(t, st, s, &b) // without Reset and without queries
	b.Reset()
	su.verify(t, st, s, &b)
	b.Add(&s.Source) // an unknown term has no list
	su.verify(t, st, s, &b)
	for k := 1; k <= 12; k++ {
		for range su.Pick(5, 1) {
			var q []plan.Handle
			for range k {
				q = append(q, uint32(r.IntN(120)))
			}
			b.Add(&s.Source, q...)
		}
	}
	all := make([]plan.Handle, 100)
	for i := range all {
		all[i] = uint32(i)
	}
	b.Add(&s.Source, all...)                     // a hundred terms
	b.Add(&s.Source, append(all[:20], empty)...) // one of the lists is empty
	b.Add(&s.Source, 7, 7, 7)                    // a repeated term
	b.Add(&s.Source, 7, 9, 7, 9)
	b.Add(&s.Source, empty)
	b.Add(&s.Source, empty, empty)
	b.Add(&s.Source)
	su.verify(t, st, s, &b)
}

// skew joins short and long lists, where whole blocks are skipped.
func (su suite) skew(t *testing.T) {
	r := plantest.RNG(t)
	s := plantest.NewSource(uint32(su.Pick(1<<20, 1<<14)))
	for n := 1; n <= int(s.Docs)/2; n *= su.Pick(5, 20) {
		s.Add(t, su.Codecs[r.IntN(len(su.Codecs))], plantest.Uniform(s.Docs, n, r))
		su.AddAll(t, s, plantest.Clustered(s.Docs, n, r))
	}
	st := su.Load(t, s)
	var b plan.MatchBatch
	b.Reset()
	for range su.Pick(60, 25) {
		q := make([]plan.Handle, 2+r.IntN(3))
		for i := range q {
			q[i] = uint32(r.IntN(len(s.Lists)))
		}
		b.Add(&s.Source, q...)
	}
	su.verify(t, st, s, &b)
}
