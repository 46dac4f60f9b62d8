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
		s := &components{norm: n, docLengths: lengths}
		for range 3 { // without the table, and at the first and the second use of its parts
			for _, f := range []uint32{1, 2, smallFreqs, smallFreqs + 1, 255, 256, 65535, math.MaxUint32} {
				docs, freqs := []uint32{0, 1, 2, 3, 4, 5}, slices.Repeat([]uint32{f - 1}, len(lengths))
				got := make([]uint32, len(docs))
				s.fill(got, docs, freqs)
				for i, x := range got {
					if want := n.TF(f, lengths[i]); x != want {
						t.Errorf("%+v: component of %d in %d tokens is %d, want %d", n, f, lengths[i], x, want)
					}
				}
			}
			if s.common == nil {
				s.common = make([]uint32, commonLengths*smallFreqs)
			}
		}
	}
}

// TestFreqAbove: no frequency up to the bound has a component above the limit. The bound
// is at most two below the least frequency whose component in an empty document comes
// within five of the limit: freqAbove rounds the limit down by 1e-9 of 2^32.
func TestFreqAbove(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &components{norm: plan.NewNorm(rapid.Float64Range(0, 3).Draw(t, "k1"), rapid.Float64Range(0, 1).Draw(t, "b"), 300), docLengths: []uint32{0, rapid.Uint32Max(70_000).Draw(t, "length")}}
		if rapid.Bool().Draw(t, "impacts") {
			c.norm = plan.Norm{Impacts: rapid.SampledFrom([]uint8{8, 16}).Draw(t, "bits")}
		}
		above := rapid.OneOf(rapid.Uint32(), rapid.Uint32Max(1000)).Draw(t, "above")
		bound := c.freqAbove(above)
		for f := bound; f >= 0 && f > bound-3; f-- {
			for doc := range uint32(2) {
				if f < 1<<16 && c.at(doc, uint32(f)) > above {
					t.Fatalf("the bound for components above %d is %d, but %d in document %d has %d", above, bound, f, doc, c.at(doc, uint32(f)))
				}
			}
		}
		if f := bound + 3; f < 1<<16 && c.norm.Impacts == 0 && int64(c.at(0, uint32(f))) < int64(above)-5 {
			t.Fatalf("the bound for components above %d is %d, but %d has only %d", above, bound, f, c.at(0, uint32(f)))
		}
	})
}

// TestPromising: a document stays if the upper bounds of its components exceed the threshold, be it by one.
func TestPromising(t *testing.T) {
	w := &worker{lists: []*reader{
		{weight: 7, table: &table{fineMaxima: []uint8{1, 2, 3, 4, 5}, fineShift: minFineShift}}, // a unit is 1
		{weight: 9, upperBound: 10},
	}}
	docs := []uint32{0, 64, 128, 192, 256, 1 << 20}
	if n := w.promising(docs, 13); !slices.Equal(docs[:n], []uint32{192, 256}) {
		t.Errorf("above 13: documents %d", docs[:n])
	}
}
