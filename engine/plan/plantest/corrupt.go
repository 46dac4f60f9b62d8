package plantest

import (
	"math/rand/v2"
	"testing"

	"heddle/engine/plan"
)

// corrupt loads words that no encoder wrote. An error is fine, and so is any
// answer within bounds; a panic is not, and neither is a store that no longer
// answers.
func (su *suite) corrupt(t *testing.T) {
	su.onDamaged(t, func(r *rand.Rand, src *plan.Source, st plan.Store) {
		var b plan.MatchBatch
		var out plan.Results
		for _, a := range su.algorithms() {
			for x := range uint32(len(src.Lists)) {
				b.Reset()
				b.Algorithm, b.CountOnly = a, r.IntN(2) == 0
				b.Add(src, x)
				b.Add(src, x, uint32(r.IntN(len(src.Lists))))
				b.Add(src, x, uint32(r.IntN(len(src.Lists))), uint32(r.IntN(len(src.Lists))))
				if err := st.Match(t.Context(), &b, &out); err != nil {
					continue
				}
				if err := bounded(&b, src, &out); err != nil {
					t.Fatalf("%v: %v", a, err)
				}
			}
		}
	})
}

// onDamaged calls try with stores over damaged sources, as many as load.
func (su *suite) onDamaged(t *testing.T, try func(r *rand.Rand, src *plan.Source, st plan.Store)) {
	r := rng(t)
	backend := su.open(t)
	defer backend.Close()
	for range su.pick(150, 10) {
		src := su.damaged(t, r)
		st, err := backend.Load(t.Context(), src)
		if err != nil {
			continue
		}
		try(r, src, st)
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// damaged makes a source of a few lists: random words under a random descriptor,
// or well-encoded lists with some words changed; frequencies likewise.
func (su *suite) damaged(t *testing.T, r *rand.Rand) *plan.Source {
	s := &source{Source: plan.Source{Docs: []uint32{50, 1000, 100_000, maxUniverse}[r.IntN(4)]}}
	for range 5 {
		id := su.Codecs[r.IntN(len(su.Codecs))]
		n := min(r.IntN(600), int(s.Docs))
		if r.IntN(2) == 0 {
			off := len(s.Words) + (plan.ListAlign-len(s.Words)%plan.ListAlign)%plan.ListAlign
			words := max(n+r.IntN(100)-50, 0)
			for len(s.Words) < off+words {
				s.Words = append(s.Words, r.Uint32()>>r.IntN(32))
			}
			s.Lists = append(s.Lists, plan.List{Off: uint64(off), Words: uint32(words), Len: uint32(n), Codec: id})
			continue
		}
		h := s.add(t, id, uniform(min(s.Docs, 1<<20), n, r))
		list := s.Source.List(h).Words
		for range min(len(list), 1+r.IntN(3)) {
			list[r.IntN(len(list))] ^= 1 << r.IntN(32)
		}
	}
	su.damageFreqs(t, r, &s.Source)
	return &s.Source
}
