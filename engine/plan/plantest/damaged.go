package plantest

import (
	"math/rand/v2"
	"testing"

	"heddle/codec"
	"heddle/codec/wah"
	"heddle/engine/plan"
)

// OnDamaged calls try with stores over damaged sources. It skips sources that the
// backend refuses to load.
func (su *Suite) OnDamaged(t *testing.T, try func(r *rand.Rand, src *plan.Source, st plan.Store)) {
	r := RNG(t)
	for range su.Pick(150, 10) {
		src := su.damaged(t, r)
		st, err := su.Shared.Load(t.Context(), src)
		if err != nil {
			continue
		}
		try(r, src, st)
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// damaged returns a source of five lists. Each is either random words under a
// random descriptor or an encoded list with some bits flipped.
func (su *Suite) damaged(t *testing.T, r *rand.Rand) *plan.Source {
	s := NewSource([]uint32{50, 1000, 100_000, MaxUniverse}[r.IntN(4)])
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
		h := s.Add(t, id, Uniform(min(s.Docs, 1<<20), n, r))
		list := s.Source.List(h).Words
		for range min(len(list), 1+r.IntN(3)) {
			list[r.IntN(len(list))] ^= 1 << r.IntN(32)
		}
	}
	damageFreqs(t, r, &s.Source)
	return &s.Source
}

// damageFreqs gives each list of src frequencies or impacts: random words, or
// encoded values with up to two bits flipped.
func damageFreqs(t *testing.T, r *rand.Rand, src *plan.Source) {
	impacts := []uint8{8, 16, 0}[r.IntN(3)]
	if src.Docs > 1<<17 {
		impacts = max(impacts, 8) // frequencies would need a length of each document
	}
	s := NewRanked(r, src.Docs, impacts, LengthKinds[r.IntN(len(LengthKinds))].One)
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
		one := FrequencyKinds[r.IntN(len(FrequencyKinds))].One
		if err := src.AppendFreqs(plan.Handle(h), s.Draw(r, int(d.Len), one), codec.DefaultOptions()); err != nil {
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

// Damage changes up to four of words: a bit, a fill of random length, or the
// whole word.
func Damage[W wah.Word](r *rand.Rand, words []W) {
	if len(words) == 0 {
		return
	}
	for range 1 + r.IntN(4) {
		switch i := r.IntN(len(words)); r.IntN(3) {
		case 0:
			words[i] ^= 1 << r.Uint64N(wah.GroupBits[W]()+1)
		case 1:
			words[i] = 1<<wah.GroupBits[W]() | W(r.Uint64())>>r.IntN(int(wah.GroupBits[W]()))
		default:
			words[i] = W(r.Uint64())
		}
	}
}
