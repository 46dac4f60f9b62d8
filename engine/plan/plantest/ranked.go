package plantest

import (
	"math"
	"math/rand/v2"
	"testing"

	"heddle/codec"
	"heddle/engine/plan"
)

// NumberKind draws frequencies, impacts or lengths of documents of one kind.
type NumberKind struct {
	Name string
	One  func(r *rand.Rand) uint32
}

// FrequencyKinds are kinds of frequencies and impacts, at least 1 each.
var FrequencyKinds = []NumberKind{
	{"ones", func(*rand.Rand) uint32 { return 1 }},
	{"text", func(r *rand.Rand) uint32 { return 1 + uint32(r.ExpFloat64()*1.5) }},
	{"exceptions", func(r *rand.Rand) uint32 { // one in 12 is far above the rest
		if r.IntN(12) == 0 {
			return 1 + r.Uint32N(1<<31)
		}
		return 1 + r.Uint32N(6)
	}},
	{"any", func(r *rand.Rand) uint32 { return max(r.Uint32()>>r.IntN(32), 1) }},
	{"greatest", func(*rand.Rand) uint32 { return math.MaxUint32 }},
}

// LengthKinds are kinds of lengths of documents, in tokens.
var LengthKinds = []NumberKind{
	{"text", func(r *rand.Rand) uint32 { return uint32(900 * math.Exp(r.NormFloat64())) }},
	{"zero", func(*rand.Rand) uint32 { return 0 }},
	{"short", func(r *rand.Rand) uint32 { return r.Uint32N(4) }},
	{"16 bits", func(r *rand.Rand) uint32 { return math.MaxUint16 - r.Uint32N(2) }},
	{"17 bits", func(r *rand.Rand) uint32 { return math.MaxUint16 + 1 - r.Uint32N(3) }},
	{"any", func(r *rand.Rand) uint32 { return r.Uint32() >> r.IntN(32) }},
	{"greatest", func(*rand.Rand) uint32 { return math.MaxUint32 }},
}

// NewRanked returns a source without lists for ranked queries. impacts is 8 or 16
// bits, or 0 for frequencies, which need a length of each document.
func NewRanked(r *rand.Rand, docs uint32, impacts uint8, length func(*rand.Rand) uint32) *Source {
	s := NewSource(docs)
	s.Impacts = impacts
	if impacts == 0 {
		s.Lengths = make([]uint32, docs)
		for i := range s.Lengths {
			s.Lengths[i] = length(r)
		}
		s.Plain.Lengths = s.Lengths
	}
	return s
}

// AddRanked encodes docs with their frequencies or impacts as one more list and
// returns its handle.
func (s *Source) AddRanked(t Failer, id codec.ID, docs, freqs []uint32) plan.Handle {
	t.Helper()
	h := s.Add(t, id, docs)
	if err := s.AppendFreqs(h, freqs, codec.DefaultOptions()); err != nil {
		t.Fatalf("encoding %d frequencies: %v", len(freqs), err)
	}
	s.Plain.Freqs = append(s.Plain.Freqs, freqs)
	return h
}

// AddAllRanked encodes docs as AddAll does, with another kind of frequencies for
// each codec.
func (su *Suite) AddAllRanked(t testing.TB, r *rand.Rand, s *Source, docs []uint32) {
	t.Helper()
	before := len(s.Lists)
	su.AddAll(t, s, docs)
	for h := before; h < len(s.Lists); h++ {
		freqs := s.Draw(r, len(docs), FrequencyKinds[h%len(FrequencyKinds)].One)
		if err := s.AppendFreqs(plan.Handle(h), freqs, codec.DefaultOptions()); err != nil {
			t.Fatal(err)
		}
		s.Plain.Freqs = append(s.Plain.Freqs, freqs)
	}
}

// Draw returns n frequencies, or n impacts if the source has impacts.
func (s *Source) Draw(r *rand.Rand, n int, one func(*rand.Rand) uint32) []uint32 {
	freqs := make([]uint32, n)
	for i := range freqs {
		freqs[i] = one(r)
		if s.Impacts > 0 {
			freqs[i] = max(freqs[i]%(1<<s.Impacts), 1)
		}
	}
	return freqs
}

// Norm returns the Norm of BM25 with k1 and b, or of impacts if the source has
// impacts.
func (s *Source) Norm(k1, b float64) plan.Norm {
	if s.Impacts > 0 {
		return plan.Norm{Impacts: s.Impacts}
	}
	return plan.NewNorm(k1, b, s.AverageLength())
}

// AverageLength returns the mean length of documents in tokens, 1 if it is 0.
func (s *Source) AverageLength() float64 {
	total := 0.0
	for _, l := range s.Lengths {
		total += float64(l)
	}
	if total == 0 {
		return 1
	}
	return total / float64(len(s.Lengths))
}

// Weighted gives lists random weights of all magnitudes with a sum below 2^32.
func Weighted(r *rand.Rand, lists ...plan.Handle) []plan.Term {
	terms := make([]plan.Term, len(lists))
	most := (1<<32 - 1) / uint64(max(len(lists), 1))
	for i, h := range lists {
		terms[i] = plan.Term{List: h, Weight: uint32(max(r.Uint64N(most+1)>>r.IntN(32), 1))}
	}
	return terms
}
