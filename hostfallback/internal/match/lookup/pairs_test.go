package lookup

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/reference"
	"heddle/hostfallback/internal/hosttest"
	"heddle/hostfallback/internal/match/docset"
	"heddle/hostfallback/work"
)

// scattering draws ascending docIDs below 2^20: some runs and some single docIDs, near each other or far apart.
func scattering() *rapid.Generator[[]uint32] {
	return rapid.Custom(func(t *rapid.T) (docs []uint32) {
		at := rapid.Uint32Range(0, 1<<19).Draw(t, "first")
		gap := rapid.SampledFrom([]uint32{3, 100, 10_000}).Draw(t, "gap")
		length := rapid.SampledFrom([]int{1, 1, 5, 300}).Draw(t, "length")
		for range rapid.IntRange(1, 60).Draw(t, "runs") {
			for range rapid.IntRange(1, length).Draw(t, "docIDs") {
				docs = append(docs, at)
				at++
			}
			if at += rapid.Uint32Range(1, gap).Draw(t, "apart"); at >= 1<<20-300 {
				break
			}
		}
		return docs
	})
}

// TestPairs compares pairs of lists with the docIDs of both: those that Pairs answers, and with and without docIDs.
func TestPairs(t *testing.T) {
	pairs, answered, common := 0, 0, 0
	rapid.Check(t, func(r *rapid.T) {
		lists := rapid.SliceOfN(scattering(), 2, 6).Draw(r, "lists")
		src := hosttest.Source(t, 1<<20, []codec.ID{codec.Raw}, lists...)
		aux := New(src, work.NewBudget(0, 0))
		b := new(plan.MatchBatch)
		for range 6 {
			x := rapid.Uint32Range(1, uint32(len(lists)-1)).Draw(r, "x")
			b.Add(src, x, rapid.Uint32Range(0, x-1).Draw(r, "y"))
		}
		totals := make([]uint64, b.Queries())
		if aux.Pairs(totals, b.Offsets, b.Handles, new(Pairs)) != 0 {
			r.Fatal("pairs of lists that are not prepared are answered")
		}
		hosttest.PrepareAll(t, src, aux.Prepare)
		for _, withDocs := range []bool{false, true} {
			out := Pairs{WithDocs: withDocs}
			n := aux.Pairs(totals, b.Offsets, b.Handles, &out)
			pairs, answered = pairs+b.Queries(), answered+n
			var want []uint32
			candidates := uint64(0)
			for q := range n {
				pair := b.Query(q)
				want = append(want, reference.Intersect(lists[pair[0]], lists[pair[1]])...)
				candidates += b.Load(src, q)
				if totals[q] != uint64(len(want)) {
					r.Fatalf("%d docIDs up to pair %d, want %d", totals[q], q, len(want))
				}
			}
			if out.Count != len(want) || out.Candidates != candidates || withDocs && !slices.Equal(out.Docs, want) {
				r.Fatalf("%d docIDs, %d candidates, docs %v, want %d, %d and %v", out.Count, out.Candidates, out.Docs, len(want), candidates, want)
			}
			common += len(want)
			if n < len(totals) && len(b.Query(n)) == 2 {
				x, y := lists[b.Query(n)[0]], lists[b.Query(n)[1]]
				if len(y) <= codec.SegmentLen {
					r.Fatalf("lists of %d and %d docIDs are not answered", len(x), len(y))
				}
			}
		}
	})
	if answered*2 < pairs || common == 0 && pairs > 200 { // few pairs may have nothing in common
		t.Errorf("%d of %d pairs are answered, with %d docIDs", answered, pairs, common)
	}
}

// TestPairsInvalid: a query that is no valid pair is left to the caller, whatever its offsets and its handles are.
func TestPairsInvalid(t *testing.T) {
	src := hosttest.Source(t, 100, []codec.ID{codec.Raw}, []uint32{1}, []uint32{1, 50}, []uint32{2, 3, 99})
	aux := New(src, work.NewBudget(0, 0))
	hosttest.PrepareAll(t, src, aux.Prepare)
	for _, c := range []struct {
		name    string
		offsets []uint32
		handles []plan.Handle
	}{
		{"one list", []uint32{0, 1}, []plan.Handle{0}},
		{"three lists", []uint32{0, 3}, []plan.Handle{0, 1, 2}},
		{"no such list", []uint32{0, 2}, []plan.Handle{0, 3}},
		{"wrong order", []uint32{0, 2}, []plan.Handle{1, 0}},
		{"one list twice", []uint32{0, 2}, []plan.Handle{1, 1}},
		{"behind the handles", []uint32{1, 3}, []plan.Handle{0, 1}},
		{"behind all handles", []uint32{math.MaxUint32 - 2, math.MaxUint32}, []plan.Handle{0, 1}},
		{"not ascending", []uint32{2, 0}, []plan.Handle{0, 1}},
		{"around the end of a word", []uint32{math.MaxUint32, 1}, []plan.Handle{0, 1}},
	} {
		if n := aux.Pairs(make([]uint64, 1), c.offsets, c.handles, new(Pairs)); n != 0 {
			t.Errorf("%s: answered", c.name)
		}
	}
}

// TestRunIndexCrowded: runs that are crowded into one bucket have no index. Two lists with 1000 runs there would
// take the time of half a million comparisons.
func TestRunIndexCrowded(t *testing.T) {
	for _, c := range []struct {
		runs, apart uint32
		index       bool
	}{{crowdedRuns, 4, true}, {crowdedRuns + 1, 4, false}, {1000, 4, false}, {1000, 10_000, true}} {
		var docs []uint32
		for i := range c.runs {
			docs = append(docs, c.apart*i, c.apart*i+1)
		}
		docs = append(docs, 25_000_000) // a run far away
		if n := indexSize(docset.NewRuns(docs, docset.CountRuns(docs))); n > 0 != c.index {
			t.Errorf("%d runs, %d apart: an index of %d entries", c.runs, c.apart, n)
		}
	}
}

// TestRunIndex: the index of runs leads to the first run that does not end before the bucket of a docID.
func TestRunIndex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		docs := scattering().Draw(t, "docs")
		runs := docset.NewRuns(docs, docset.CountRuns(docs))
		size := indexSize(runs)
		if size == 0 {
			if len(runs) >= leastRuns {
				t.Fatalf("%d runs have no index", len(runs))
			}
			return
		}
		index := appendIndex(nil, runs)
		if len(index) != size || size > runBuckets*len(runs)+2 {
			t.Fatalf("%d entries for %d runs, want %d", len(index), len(runs), size)
		}
		shift, entries := index[0], index[1:]
		for _, x := range docs {
			bucket := (x - docs[0]) >> shift
			want := slices.IndexFunc(runs, func(r docset.Run) bool { return (r.Last-docs[0])>>shift >= bucket })
			if got := int(entries[bucket]); got != want {
				t.Fatalf("docID %d: run %d, want %d", x, got, want)
			}
		}
	})
}
