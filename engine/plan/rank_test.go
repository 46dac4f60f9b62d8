package plan

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestTF compares term-frequency components with BM25 in float64.
func TestTF(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k1 := rapid.Float64Range(0, 255).Draw(t, "k1")
		b := rapid.Float64Range(0, 1).Draw(t, "b")
		average := rapid.Float64Range(1, 1e6).Draw(t, "average")
		f := rapid.Uint32Min(1).Draw(t, "frequency")
		length := rapid.Uint32().Draw(t, "length")
		norm := k1*(1-b) + min(k1*b*float64(length)/average, 1<<32) // where Norm.Of ends
		want := float64(f) / (float64(f) + norm) * (1 << 32)
		got := float64(NewNorm(k1, b, average).TF(f, length))
		if math.Abs(got-want) > 3+1e-7*want { // both terms of the quotient lose bits where a norm is large
			t.Errorf("term frequency %d in %d tokens: %.0f, want %.2f", f, length, got, want)
		}
	})
}

// TestTFEdges has the ends of every range.
func TestTFEdges(t *testing.T) {
	for _, c := range []struct {
		norm      Norm
		f, length uint32
		want      uint32
	}{
		{NewNorm(0, 0.4, 10), 1, 10, math.MaxUint32},
		{NewNorm(0, 0, 1), math.MaxUint32, math.MaxUint32, math.MaxUint32},
		{NewNorm(1, 0, 10), 1, 0, 1 << 31},
		{NewNorm(1, 0, 10), 1, math.MaxUint32, 1 << 31},
		{NewNorm(1, 1, 10), 1, 0, math.MaxUint32},
		{NewNorm(255, 1, 1e-3), 1, math.MaxUint32, 1},
		{Norm{Impacts: 8}, 1, 0, 1 << 24},
		{Norm{Impacts: 8}, 255, 7, 255 << 24},
		{Norm{Impacts: 16}, 65535, 7, 65535 << 16},
		{Norm{Impacts: 8}, 1000, 7, math.MaxUint32},
	} {
		if got := c.norm.TF(c.f, c.length); got != c.want {
			t.Errorf("%+v: term frequency %d in %d tokens is %d, want %d", c.norm, c.f, c.length, got, c.want)
		}
	}
}

func TestContribution(t *testing.T) {
	for _, c := range []struct{ weight, share, want uint32 }{
		{1, 1, 1}, {1, math.MaxUint32, 1}, {math.MaxUint32, 1, 1}, {math.MaxUint32, math.MaxUint32, math.MaxUint32},
		{1 << 8, 255 << 24, 255}, {2 << 8, 3 << 24, 6}, {1 << 31, 1 << 31, 1 << 30}, {1<<31 + 1, 1 << 31, 1<<30 + 1},
	} {
		if got := Contribution(c.weight, c.share); got != c.want {
			t.Errorf("Contribution(%d, %d) = %d, want %d", c.weight, c.share, got, c.want)
		}
	}
}

// TestAddWeights: the weights of a list that a query names twice add up, at most to the greatest weight.
func TestAddWeights(t *testing.T) {
	src := letters()
	for _, c := range []struct{ a, b, want uint32 }{{1, 2, 3}, {math.MaxUint32 - 1, 1, math.MaxUint32}, {math.MaxUint32, 1, math.MaxUint32}, {1 << 31, 1 << 31, math.MaxUint32}} {
		var r RankBatch
		r.Add(src, Term{1, c.a}, Term{1, c.b})
		if q := r.Query(0); len(q) != 1 || q[0].Weight != c.want {
			t.Errorf("%d and %d: %+v, want %d", c.a, c.b, q, c.want)
		}
	}
}

// TestReset: results are empty after Reset, and have their own memory again.
func TestReset(t *testing.T) {
	lent := []uint32{1, 2, 3}
	back := 0
	r := Results{Docs: make([]uint32, 0, 10), Stats: Stats{Queries: 1}}
	r.Lend(lent, func() { back++ })
	r.Reset()
	r.Docs = append(r.Docs, 9)
	if back != 1 || lent[0] != 1 || r.Stats != (Stats{}) || cap(r.Docs) != 10 {
		t.Errorf("%d times back, %d, %+v", back, lent, r)
	}
	k := TopK{Docs: lent, Stats: Stats{Queries: 1}}
	if k.Reset(); len(k.Docs) != 0 || k.Stats != (Stats{}) {
		t.Errorf("%+v", k)
	}
}

// TestCheckFilter: a filter has the words of its universe, and no bit behind its last document.
func TestCheckFilter(t *testing.T) {
	for universe := range uint32(130) {
		bits := make([]uint64, FilterWords(universe))
		for d := range universe {
			bits[d/64] |= 1 << (d % 64)
		}
		if err := CheckFilter(universe, bits); err != nil {
			t.Errorf("all of %d documents: %v", universe, err)
		}
		if CheckFilter(universe, append(bits, 0)) == nil {
			t.Errorf("%d documents: a further word", universe)
		}
		if universe%64 > 0 {
			bits[len(bits)-1] |= 1 << (universe % 64)
			if CheckFilter(universe, bits) == nil {
				t.Errorf("%d documents: document %d", universe, universe)
			}
		}
	}
}
