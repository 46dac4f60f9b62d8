package rank

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"heddle/engine/plan"
)

// TestComponent compares with Norm.TF for large sums, and for quotients that float64
// rounds up to an integer.
func TestComponent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := plan.Norm{Base: rapid.Uint32().Draw(t, "base"), Slope: rapid.Uint32().Draw(t, "slope"), Shift: rapid.Uint8Range(0, 63).Draw(t, "shift")}
		f, length := rapid.Uint32Max(math.MaxUint32-1).Draw(t, "f"), rapid.Uint32().Draw(t, "length")
		if got, want := (&components{norm: n}).one(f, length), n.TF(f+1, length); got != want {
			t.Errorf("%+v, frequency %d, length %d: %d, want %d", n, f+1, length, got, want)
		}
	})
	for _, c := range []struct{ freq, base uint32 }{{27, 593785659}, {50, 1068547245}, {37, 3048216834}, {57, 3083238625}, {59, 1586456193}, {1, 0}} {
		n := plan.Norm{Base: c.base}
		if got, want := (&components{norm: n}).one(c.freq-1, 0), n.TF(c.freq, 0); got != want {
			t.Errorf("frequency %d over %d: %d, want %d", c.freq, c.base, got, want)
		}
	}
}

// TestComponents covers frequencies and lengths inside and outside the table of common
// components, and impacts.
func TestComponents(t *testing.T) {
	lengths := []uint32{0, 1, 300, commonLengths - 1, commonLengths, math.MaxUint32}
	for _, n := range []plan.Norm{plan.NewNorm(0.9, 0.4, 100), plan.NewNorm(0, 0, 1), plan.NewNorm(255, 1, 1e-3), {Impacts: 8}, {Impacts: 16}} {
		s := &components{norm: n, lengths: lengths}
		for range 2 { // without and with the table
			for _, f := range []uint32{1, 2, smallFreqs, smallFreqs + 1, 255, 256, 65535, math.MaxUint32} {
				docs, freqs := []uint32{0, 1, 2, 3, 4, 5}, slices.Repeat([]uint32{f - 1}, len(lengths))
				got := make([]uint32, len(docs))
				s.of(got, docs, freqs)
				for i, x := range got {
					if want := n.TF(f, lengths[i]); x != want {
						t.Errorf("%+v: component of %d in %d tokens is %d, want %d", n, f, lengths[i], x, want)
					}
				}
			}
			s.fill()
		}
	}
}
