package rank

import (
	"math"
	"slices"
	"strings"
	"testing"

	"heddle/codec"
	"heddle/engine/bench/harness"
	"heddle/engine/bench/workload"
	"heddle/engine/plan"
)

// TestGOV2Like checks the documented properties of the workload on a five-hundredth of
// the documents.
func TestGOV2Like(t *testing.T) {
	const docs = harness.GOV2Docs / 500
	w, err := GOV2(t.Context(), 1, harness.GOV2Queries, docs, codec.ParaPFor, workload.Clustered)
	if err != nil {
		t.Fatal(err)
	}
	near := func(what string, got, want, tolerance float64) {
		t.Helper()
		if math.Abs(got-want) > tolerance*want {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	near("postings a query", float64(w.Postings(harness.GOV2Queries))/harness.GOV2Queries, gov2Postings/500, 0.03)
	lengths := 0.0
	for _, l := range w.Source.Lengths {
		lengths += float64(l)
	}
	near("tokens a document", lengths/docs, 900, 0.02)
	terms, byLength := 0, make(map[int]int)
	for _, q := range w.Handles {
		terms += len(q)
		byLength[len(q)]++
	}
	near("terms a query", float64(terms)/harness.GOV2Queries, 2.79, 0.01)
	near("queries of two terms", float64(byLength[2]), 309, 0.01)
	near("distinct terms", float64(len(w.Source.Lists))/float64(terms), newTermShare, 0.03)
	frequencies, postings := 0.0, 0.0
	for h := range w.Source.Lists {
		freqs := checkList(t, w, plan.Handle(h))
		for _, f := range freqs {
			frequencies += float64(f) + 1
		}
		postings += float64(len(freqs))
	}
	near("mean frequency", frequencies/postings, 3.6, 0.1)
	if sum := rankChecksum(w); sum != 0x5e9c983ececf60ca {
		t.Errorf("checksum %#x", sum)
	}
}

// TestReordered compares the two orders of the workload: lists have as many postings, closer
// together if it is reordered. The measure is the sum of squares of postings by 64th of the
// documents.
func TestReordered(t *testing.T) {
	const docs = harness.GOV2Docs / 100
	var squares, postings [2]float64
	for i, order := range []workload.Order{workload.Clustered, workload.Reordered} {
		w, err := GOV2(t.Context(), 1, 50, docs, codec.Raw, order)
		if err != nil {
			t.Fatal(err)
		}
		for h := range w.Source.Lists {
			var here [64]float64
			for _, x := range w.Source.List(plan.Handle(h)).Words {
				here[uint64(x)*64/docs]++
				postings[i]++
			}
			for _, n := range here {
				squares[i] += n * n
			}
		}
	}
	if math.Abs(postings[1]-postings[0]) > 0.02*postings[0] || squares[1] < 1.3*squares[0] {
		t.Errorf("%v postings, sum of squares %v; reordered %v and %v", postings[0], squares[0], postings[1], squares[1])
	}
	places := []site{{3, 0.5}, {4, 0.1}, {9, 0.3}}
	if got, want := reordered(places), []site{{1, 0.1}, {6, 0.3}, {9, 0.5}}; !slices.Equal(got, want) {
		t.Errorf("sites %v, want %v", got, want)
	}
}

// checkList reports a list that does not ascend below the number of documents. It
// returns the term frequencies less one.
func checkList(t *testing.T, w *Workload, h plan.Handle) []uint32 {
	t.Helper()
	docs, err := w.Source.List(h).AppendTo(nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(docs) == 0 || docs[len(docs)-1] >= w.Source.Docs || !slices.IsSorted(docs) || len(slices.Compact(docs)) != int(w.Source.Lists[h].Len) {
		t.Fatalf("list %d of %d docIDs", h, len(docs))
	}
	packed, err := w.Source.Freq(h)
	if err != nil {
		t.Fatal(err)
	}
	freqs, err := packed.AppendTo(nil)
	if err != nil {
		t.Fatal(err)
	}
	return freqs
}

// rankChecksum depends on every word of the lists, lengths and queries.
func rankChecksum(w *Workload) uint64 {
	sum := workload.Digest(w.Source.Words) ^ workload.Mix(workload.Digest(w.Source.Freqs)) ^ workload.Mix(workload.Mix(workload.Digest(w.Source.Lengths)))
	for i, q := range w.Handles {
		sum = workload.Mix(sum ^ workload.Digest(q))
		for _, weight := range w.Queries[i].Weights {
			sum = workload.Mix(sum ^ math.Float64bits(weight))
		}
	}
	return sum
}

// TestRankChecker: the checker accepts the plain ranking and finds every kind of fault
// in it.
func TestRankChecker(t *testing.T) {
	plain := &plainRanking{or: []scored{{7, 3}, {2, 2}, {9, 2}, {1, 1}}, and: []scored{{9, 2}}, orCount: 4, andCount: 1}
	fine := []scored{{7, 3}, {2, 2}, {9, 2}}
	if err := plain.check(workload.Or, 3, fine); err != nil {
		t.Error(err)
	}
	if err := plain.check(workload.AndOr, 1, plain.and); err != nil {
		t.Error(err)
	}
	if err := plain.check(workload.AndOr, 3, fine); err != nil {
		t.Error(err)
	}
	if err := plain.check(workload.And, 3, plain.and); err != nil {
		t.Error(err)
	}
	for name, bad := range map[string][]scored{
		"one too few":           fine[:2],
		"a tie out of order":    {{7, 3}, {9, 2}, {2, 2}},
		"a score that is off":   {{7, 3.01}, {2, 2}, {9, 2}},
		"a document twice":      {{7, 3}, {2, 2}, {2, 2}},
		"the score of another":  {{2, 3}, {7, 2}, {9, 2}},
		"a better one left out": {{7, 3}, {2, 2}, {1, 1}},
		"an unknown document":   {{7, 3}, {2, 2}, {8, 2}},
	} {
		if err := plain.check(workload.Or, 3, bad); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	c := &Checker{want: make(map[asked][]Answer), first: make(map[asked]string)}
	one := []Answer{c.Answer(0, []uint32{1, 2}, []float64{2, 1})}
	for _, other := range [][]Answer{{c.Answer(0, []uint32{2, 1}, []float64{2, 1})}, {c.Answer(0, []uint32{1, 2}, []float64{2, 1.5})}, {c.Answer(0, nil, nil)}} {
		if err := c.Check("one", workload.Or, 2, one); err != nil {
			t.Fatal(err)
		}
		if err := c.Check("other", workload.Or, 2, other); err == nil || !strings.Contains(err.Error(), "not that of one") {
			t.Errorf("another ranking: %v", err)
		}
	}
}

// TestBestOf compares the keeper with a full sort.
func TestBestOf(t *testing.T) {
	r := workload.NewRandom(1, workload.StreamRankList, 0)
	sums, counts := make([]float64, 5000), make([]uint8, 5000)
	var all []scored
	for d := range sums {
		if counts[d] = uint8(r.Below(3)); counts[d] > 0 {
			sums[d] = float64(r.Below(50) + 1) // many ties
			all = append(all, scored{uint32(d), sums[d]})
		}
	}
	slices.SortFunc(all, byScore)
	got := bestOf(sums, counts, 2, 100)
	if got.orCount != len(all) || !slices.Equal(got.or[:100], all[:100]) {
		t.Errorf("%d documents, best %v", got.orCount, got.or[:5])
	}
	all = slices.DeleteFunc(all, func(s scored) bool { return counts[s.doc] < 2 })
	if got.andCount != len(all) || !slices.Equal(got.and[:100], all[:100]) {
		t.Errorf("%d documents with both, best %v", got.andCount, got.and[:5])
	}
}
