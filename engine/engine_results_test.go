package engine

import (
	"fmt"
	"slices"
	"testing"

	"heddle/engine/bm25"
	"heddle/engine/observe"
)

// TestEngineKeys asks the same queries with many options of one cache of answers: no
// option gets the answer of another, and what changes no answer is found again.
func TestEngineKeys(t *testing.T) {
	docs := rankedCorpus(400)
	src, dict := docs.source(t, 0)
	e, err := StartSource(t.Context(), src, dict, EngineOptions{Backends: processorsOf(t), Results: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	qs := rankedQueries(pick(15, 6))
	shard := &Statistics{Docs: 9000, Length: 70000, DF: make(map[string]uint64)}
	for i := range rankedTerms {
		shard.DF[fmt.Sprint("t", i)] = uint64(70 + i%9)
	}
	options := []RankOptions{
		{Mode: Or, K: 5}, {Mode: And, K: 5}, {Mode: AndOr, K: 5}, {Mode: Or, K: 6},
		{Mode: Or, K: 5, Scoring: &bm25.Params{Variant: bm25.PISA, K1: 0.9, B: 0.4}},
		{Mode: Or, K: 5, Scoring: &bm25.Params{Variant: bm25.Lucene, K1: 1.2, B: 0.4}},
		{Mode: Or, K: 5, Scoring: &bm25.Params{Variant: bm25.Lucene, K1: 0.9, B: 0.75}},
		{Mode: Or, K: 5, Statistics: shard},
	}
	for round := range 2 {
		for i, q := range qs {
			for j, opt := range options {
				want, err := e.Rank(t.Context(), q, opt, Call{Fresh: true})
				if err != nil {
					t.Fatal(err)
				}
				var why observe.Query
				got, err := e.Rank(t.Context(), q, opt, Call{Explain: &why})
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got.Docs, want.Docs) || !slices.Equal(got.Scores, want.Scores) {
					t.Errorf("query %d with options %d, cached %t: %v %v, want %v %v", i, j, why.Cached, got.Docs, got.Scores, want.Docs, want.Scores)
				}
				if round > 0 && !why.Cached {
					t.Errorf("query %d with options %d is not kept", i, j)
				}
			}
		}
	}
	// A term that no document has means nothing to an OR, but to the others.
	for _, mode := range Modes() {
		var why observe.Query
		for _, text := range []string{"t1 t2", "t2 t1 unknown"} {
			if _, err := e.Rank(t.Context(), Query{Text: text}, RankOptions{Mode: mode, K: 3}, Call{Explain: &why}); err != nil {
				t.Fatal(err)
			}
		}
		if why.Cached != (mode == Or) {
			t.Errorf("%v with an unknown term: cached %t", mode, why.Cached)
		}
	}
}
