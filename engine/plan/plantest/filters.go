package plantest

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"heddle/engine/plan"
)

// Filters tells whether the backend of the suite has filters. Without them it checks that a store
// refuses to make one.
func (su *Suite) Filters() bool { return su.Shared.Info().Filters }

// DrawFilter draws a set of documents of a universe as bits: none, all, single documents, runs, or
// documents at random, of a share from 10⁻⁶ to 1. It returns nil, no filter, in one of eight cases.
func DrawFilter(rt *rapid.T, universe uint32) []uint64 {
	kind := rapid.SampledFrom([]string{"none", "all", "one", "last", "runs", "random", "random", "no filter"}).Draw(rt, "filter")
	if kind == "no filter" || universe == 0 {
		return nil
	}
	share := math.Pow(10, rapid.Float64Range(-6, 0).Draw(rt, "share"))
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed of filter"), 0))
	return NewFilter(universe, func(d uint32) bool {
		switch kind {
		case "all":
			return true
		case "one":
			return d == universe/2
		case "last":
			return d == universe-1
		case "runs":
			return d/97%3 == 0
		case "random":
			return r.Float64() < share
		}
		return false
	})
}

// NewFilter returns the documents below universe for which in is true, as bits.
func NewFilter(universe uint32, in func(d uint32) bool) []uint64 {
	bits := make([]uint64, plan.FilterWords(universe))
	for d := range universe {
		if in(d) {
			bits[d/64] |= 1 << (d % 64)
		}
	}
	return bits
}

// Filter makes bits a filter of st until the test ends; nil for nil.
func Filter(t testing.TB, st plan.Store, bits []uint64) plan.Filter {
	t.Helper()
	if bits == nil {
		return nil
	}
	f, err := st.Filter(t.Context(), bits)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}
