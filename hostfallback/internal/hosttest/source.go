// Package hosttest makes lists for the tests of the packages below hostfallback.
package hosttest

import (
	"math/rand/v2"
	"slices"
	"testing"

	"heddle/codec"
	"heddle/codec/codectest"
	"heddle/engine/plan"
)

// Source encodes lists over docs documents, with the codecs ids in turn.
func Source(tb testing.TB, docs uint32, ids []codec.ID, lists ...[]uint32) *plan.Source {
	tb.Helper()
	src := &plan.Source{Docs: docs}
	for i, l := range lists {
		if _, err := src.Append(ids[i%len(ids)], l, codec.DefaultOptions()); err != nil {
			tb.Fatal(err)
		}
	}
	return src
}

// Uniform draws n docIDs below universe.
func Uniform(r *rand.Rand, n int, universe uint32) []uint32 {
	i := slices.IndexFunc(codectest.Generators(), func(g codectest.Generator) bool { return g.Name == "uniform" })
	return codectest.Generators()[i].Gen(r, n, uint64(universe))
}

// PrepareAll calls prepare for each list of src.
func PrepareAll[P any](tb interface {
	Helper()
	Fatal(args ...any)
}, src *plan.Source, prepare func(plan.Handle) (P, error)) {
	tb.Helper()
	for h := range src.Lists {
		if _, err := prepare(plan.Handle(h)); err != nil {
			tb.Fatal(err)
		}
	}
}
