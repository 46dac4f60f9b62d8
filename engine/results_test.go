package engine

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"heddle/codec"
	"heddle/engine/index/bm25"
	"heddle/engine/index/hdl"
	"heddle/engine/observe"
	"heddle/engine/plan"
	"heddle/hostfallback"
)

// TestEngineKeys asks the same queries with many options of one cache of answers. No option
// gets the answer of another one; options that change no answer share it.
func TestEngineKeys(t *testing.T) {
	docs := rankedCorpus(400)
	src, dict := docs.source(t, 0)
	e, err := startSource(t.Context(), src, dict, Options{Backends: processorsOf(t), Results: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	qs := rankedQueries(pick(15, 6))
	shard := &Statistics{Docs: 9000, Length: 70000, DF: make(map[string]uint64)}
	for i := range rankedTerms {
		shard.DF[fmt.Sprint("t", i)] = uint64(70 + i%9)
	}
	options := []rankOptions{
		{Mode: Or, K: 5}, {Mode: And, K: 5}, {Mode: AndOr, K: 5}, {Mode: Or, K: 6},
		{Mode: Or, K: 5, Scoring: &bm25.Params{Variant: bm25.PISA, K1: 0.9, B: 0.4}},
		{Mode: Or, K: 5, Scoring: &bm25.Params{Variant: bm25.Lucene, K1: 1.2, B: 0.4}},
		{Mode: Or, K: 5, Scoring: &bm25.Params{Variant: bm25.Lucene, K1: 0.9, B: 0.75}},
		{Mode: Or, K: 5, Statistics: shard},
	}
	for round := range 2 {
		for i, q := range qs {
			for j, opt := range options {
				want, err := e.rank(t.Context(), q, opt, calling{Fresh: true})
				if err != nil {
					t.Fatal(err)
				}
				var why observe.Explanation
				got, err := e.rank(t.Context(), q, opt, calling{Explain: &why})
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
	for _, mode := range Matches() {
		var why observe.Explanation
		for _, text := range []string{"t1 t2", "t2 t1 unknown"} {
			if _, err := e.rank(t.Context(), Query{Text: text}, rankOptions{Mode: mode, K: 3}, calling{Explain: &why}); err != nil {
				t.Fatal(err)
			}
		}
		if why.Cached != (mode == Or) {
			t.Errorf("%v with an unknown term: cached %t", mode, why.Cached)
		}
	}
}

// TestEngineLargeAnswers: an answer that the cache does not take is counted, and not copied.
func TestEngineLargeAnswers(t *testing.T) {
	docs := make([]uint32, 200_000)
	for i := range docs {
		docs[i] = uint32(i)
	}
	src := &plan.Source{Docs: uint32(len(docs))}
	if _, err := src.Append(codec.Raw, docs, codec.DefaultOptions()); err != nil {
		t.Fatal(err)
	}
	dict, err := hdl.NewDictionary([]string{"all"})
	if err != nil {
		t.Fatal(err)
	}
	host := hostfallback.New(hostfallback.Options{Threads: 1})
	defer host.Close()
	e, err := startSource(t.Context(), src, dict, Options{Backends: []plan.Backend{host}, Results: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	const calls = 10
	allocated := func(call calling) (least uint64) { // the race detector drops some objects of pools
		least = math.MaxUint64
		for range calls {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			got, err := e.search(t.Context(), Query{Text: "all"}, searchOptions{}, call)
			if err != nil || !slices.Equal(got.Docs, docs) {
				t.Fatalf("%d documents: %v", len(got.Docs), err)
			}
			runtime.ReadMemStats(&after)
			least = min(least, after.TotalAlloc-before.TotalAlloc)
		}
		return least
	}
	allocated(calling{Fresh: true}) // objects of the first use
	fresh, asked := allocated(calling{Fresh: true}), allocated(calling{})
	if size := uint64(4 * len(docs)); asked > fresh+size/2 {
		t.Errorf("a call allocates %d bytes, %d without the cache, an answer takes %d", asked, fresh, size)
	}
	if s := e.Stats().Results; s.Refused != calls || s.Entries != 0 {
		t.Errorf("%+v", s)
	}
}
