package bench

import (
	"testing"

	"heddle/codec"
	"heddle/engine/plan"
)

// TestCompressionRatios holds the codecs against the ratios of Ao et al. 2011,
// Table 2, row GOVR, on the uniform workload: words of docIDs over words of
// lists, tables included.
func TestCompressionRatios(t *testing.T) {
	w, err := Generate(t.Context(), 1, 1, Uniform)
	if err != nil {
		t.Fatal(err)
	}
	ratio := func(id codec.ID) float64 {
		raw, words := 0, 0
		for h := range w.Source.Lists {
			docs := w.List(plan.Handle(h))
			raw += len(docs)
			words += codec.Size(id, docs, codec.DefaultOptions())
		}
		return float64(raw) / float64(words)
	}
	least := map[codec.ID]float64{
		codec.ParaPFor: 3.5, codec.SegLRC: 3.2, codec.HSLRC128: 3.2, codec.HSLRC256: 3.2,
		codec.RPFD: ratio(codec.ParaPFor),
		// Our segments of lrcseg have a key and a record of three words for random
		// access; the paper reaches 3.26.
		codec.LRC: 2.4, codec.LRCSeg: 3.1,
	}
	for id, want := range least {
		if got := ratio(id); got < want {
			t.Errorf("%v packs %.3f times, want %.3f", id, got, want)
		} else {
			t.Logf("%v packs %.3f times", id, got)
		}
	}
}
