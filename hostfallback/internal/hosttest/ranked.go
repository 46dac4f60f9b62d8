package hosttest

import (
	"math"
	"math/rand/v2"
	"testing"

	"heddle/codec"
	"heddle/engine/plan"
)

// RankedSource returns a source for ranking over docs documents: one list of each length,
// with the codecs ids in turn, geometric frequencies and log-normal document lengths, a
// few of them 0.
func RankedSource(tb testing.TB, r *rand.Rand, docs uint32, impacts uint8, ids []codec.ID, lengths ...int) *plan.Source {
	tb.Helper()
	src := &plan.Source{Docs: docs, Freqs: []uint32{}, Impacts: impacts}
	if impacts == 0 {
		src.Lengths = make([]uint32, docs)
		for i := range src.Lengths {
			src.Lengths[i] = uint32(100 * math.Exp(r.NormFloat64()))
		}
	}
	for i, n := range lengths {
		list := Uniform(r, n, docs)
		h, err := src.Append(ids[i%len(ids)], list, codec.DefaultOptions())
		if err != nil {
			tb.Fatal(err)
		}
		freqs := make([]uint32, len(list))
		for i := range freqs {
			freqs[i] = 1 + uint32(r.ExpFloat64())
			if impacts > 0 {
				freqs[i] = 1 + r.Uint32N(1<<impacts-1)
			}
		}
		if err := src.AppendFreqs(h, freqs, codec.DefaultOptions()); err != nil {
			tb.Fatal(err)
		}
	}
	return src
}

// Norm returns the Norm of src for usual parameters.
func Norm(src *plan.Source) plan.Norm {
	if src.Impacts > 0 {
		return plan.Norm{Impacts: src.Impacts}
	}
	return plan.NewNorm(0.9, 0.4, 165)
}
