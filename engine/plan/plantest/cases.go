package plantest

import (
	"fmt"
	"math"
	"testing"

	"heddle/codec"
	"heddle/codec/codectest"
	"heddle/engine/plan"
)

// maxUniverse is the largest number of documents: docIDs go up to 2^32-2.
const maxUniverse = math.MaxUint32

// lists intersects every kind of list with every other, in every codec, mixed
// codecs within a query included.
func (su *suite) lists(t *testing.T) {
	for _, universe := range []uint32{100_000, maxUniverse} {
		t.Run(fmt.Sprint(universe), func(t *testing.T) {
			r := rng(t)
			s := &source{Source: plan.Source{Docs: universe}}
			for _, g := range codectest.Generators() {
				su.addAll(t, s, g.Gen(r, su.pick(2000, 150), uint64(universe)))
			}
			st := su.load(t, s)
			var b plan.MatchBatch
			b.Reset()
			// At most about three thousand pairs: with all codecs they would be 30,000.
			every := uint32(max(su.pick(2, 17), len(s.Lists)*len(s.Lists)/6000))
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

// lengths walks over the lengths around which blocks, segments and buckets end.
func (su *suite) lengths(t *testing.T) {
	r := rng(t)
	s := &source{Source: plan.Source{Docs: 1 << 16}}
	lengths := []int{0, 1, 2, 3}
	for n := 4; n <= su.pick(4096, 256); n *= 2 {
		lengths = append(lengths, n-1, n, n+1)
	}
	for _, n := range lengths {
		su.addAll(t, s, uniform(s.Docs, n, r))
	}
	st := su.load(t, s)
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

// universes goes from no document at all to the most that docIDs can name.
func (su *suite) universes(t *testing.T) {
	for _, universe := range []uint32{0, 1, 2, 31, 32, 33, 511, 512, 513, 1 << 16, 1<<31 - 1, 1 << 31, maxUniverse} {
		t.Run(fmt.Sprint(universe), func(t *testing.T) {
			r := rng(t)
			s := &source{Source: plan.Source{Docs: universe}}
			for _, g := range codectest.Generators() {
				su.addAll(t, s, g.Gen(r, su.pick(300, 40), uint64(universe)))
			}
			if universe > 1 {
				su.addAll(t, s, []uint32{universe - 2, universe - 1})
			}
			st := su.load(t, s)
			var b plan.MatchBatch
			b.Reset()
			for h := range uint32(len(s.Lists)) {
				for i, q := range [][]plan.Handle{
					{h}, {h, uint32(r.IntN(len(s.Lists)))}, {h, uint32(r.IntN(len(s.Lists))), uint32(r.IntN(len(s.Lists)))}, {h, uint32(len(s.Lists) - 1)},
				} {
					if !su.Small || (h+uint32(i))%4 < 2 { // two of the four to a list
						b.Add(&s.Source, q...)
					}
				}
			}
			su.verify(t, st, s, &b)
		})
	}
}

// shapes asks queries of every number of terms, from none to a hundred.
func (su *suite) shapes(t *testing.T) {
	r := rng(t)
	s := &source{Source: plan.Source{Docs: 6_000}}
	// Dense lists, so that something survives many terms.
	for i := range uint32(120) {
		n := su.pick(5_000, 400)
		docs := make([]uint32, 0, n)
		for x := i % 3; x < s.Docs && len(docs) < n; x += 1 + uint32(r.IntN(100)/(99-int(i/40))) {
			docs = append(docs, x)
		}
		s.add(t, su.Codecs[int(i)%len(su.Codecs)], docs)
	}
	empty := s.add(t, codec.Raw, nil)
	st := su.load(t, s)

	var b plan.MatchBatch
	su.verify(t, st, s, &b) // never reset, never added to
	b.Reset()
	su.verify(t, st, s, &b)
	b.Add(&s.Source) // an unknown term: no lists
	su.verify(t, st, s, &b)
	for k := 1; k <= 12; k++ {
		for range su.pick(5, 1) {
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
	b.Add(&s.Source, append(all[:20], empty)...) // one of them without documents
	b.Add(&s.Source, 7, 7, 7)                    // the same term thrice
	b.Add(&s.Source, 7, 9, 7, 9)
	b.Add(&s.Source, empty)
	b.Add(&s.Source, empty, empty)
	b.Add(&s.Source)
	su.verify(t, st, s, &b)
}

// skew pairs short lists with long ones, where whole blocks are skipped.
func (su *suite) skew(t *testing.T) {
	r := rng(t)
	s := &source{Source: plan.Source{Docs: uint32(su.pick(1<<20, 1<<14))}}
	for n := 1; n <= int(s.Docs)/2; n *= su.pick(5, 20) {
		s.add(t, su.Codecs[r.IntN(len(su.Codecs))], uniform(s.Docs, n, r))
		su.addAll(t, s, clustered(s.Docs, n, r))
	}
	st := su.load(t, s)
	var b plan.MatchBatch
	b.Reset()
	for range su.pick(60, 25) {
		q := make([]plan.Handle, 2+r.IntN(3))
		for i := range q {
			q[i] = uint32(r.IntN(len(s.Lists)))
		}
		b.Add(&s.Source, q...)
	}
	su.verify(t, st, s, &b)
}
