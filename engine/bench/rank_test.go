package bench

import (
	"compress/gzip"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heddle/codec"
	"heddle/engine"
	"heddle/engine/plan"
)

// TestGOV2Like holds what the package documentation says of the workload, on a
// five-hundredth of the documents.
func TestGOV2Like(t *testing.T) {
	const docs = gov2Docs / 500
	w, err := gov2(t.Context(), 1, gov2Queries, docs, codec.ParaPFor)
	if err != nil {
		t.Fatal(err)
	}
	near := func(what string, got, want, tolerance float64) {
		t.Helper()
		if math.Abs(got-want) > tolerance*want {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	near("postings a query", float64(w.postings(gov2Queries))/gov2Queries, gov2Postings/500, 0.03)
	lengths := 0.0
	for _, l := range w.source.Lengths {
		lengths += float64(l)
	}
	near("tokens a document", lengths/docs, 900, 0.02)
	terms, byLength := 0, make(map[int]int)
	for _, q := range w.handles {
		terms += len(q)
		byLength[len(q)]++
	}
	near("terms a query", float64(terms)/gov2Queries, 2.79, 0.01)
	near("queries of two terms", float64(byLength[2]), 309, 0.01)
	near("distinct terms", float64(len(w.source.Lists))/float64(terms), newTermShare, 0.03)
	frequencies, postings := 0.0, 0.0
	for h := range w.source.Lists {
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

// checkList reports a list that is not ascending below the number of documents, and
// returns its frequencies less one.
func checkList(t *testing.T, w *ranked, h plan.Handle) []uint32 {
	t.Helper()
	docs, err := w.source.List(h).AppendTo(nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(docs) == 0 || docs[len(docs)-1] >= w.source.Docs || !slices.IsSorted(docs) || len(slices.Compact(docs)) != int(w.source.Lists[h].Len) {
		t.Fatalf("list %d of %d docIDs", h, len(docs))
	}
	packed, err := w.source.Freq(h)
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
func rankChecksum(w *ranked) uint64 {
	sum := digest(w.source.Words) ^ mix(digest(w.source.Freqs)) ^ mix(mix(digest(w.source.Lengths)))
	for i, q := range w.handles {
		sum = mix(sum ^ digest(q))
		for _, weight := range w.queries[i].Weights {
			sum = mix(sum ^ math.Float64bits(weight))
		}
	}
	return sum
}

func TestSparse(t *testing.T) {
	w, err := sparse(t.Context(), 1, 20, 20_000, codec.ParaPFor)
	if err != nil {
		t.Fatal(err)
	}
	if w.source.Impacts != sparseImpacts || len(w.queries) != 20 {
		t.Errorf("%d bits, %d queries", w.source.Impacts, len(w.queries))
	}
	for i, q := range w.queries {
		sorted := slices.Sorted(slices.Values(w.handles[i]))
		if len(q.Terms) != sparseLength || len(q.Weights) != sparseLength || slices.Min(q.Weights) <= 0 || len(slices.Compact(sorted)) != sparseLength {
			t.Errorf("query %d: %d terms, weights %v", i, len(q.Terms), q.Weights)
		}
	}
	for h := range w.source.Lists {
		if most := slices.Max(checkList(t, w, plan.Handle(h))); most >= 1<<sparseImpacts-1 {
			t.Errorf("list %d has impact %d", h, most+1)
		}
	}
	if sum := rankChecksum(w); sum != 0x2032f9e2405de9d {
		t.Errorf("checksum %#x", sum)
	}
}

// TestRankChecker: the checker accepts the plain ranking and finds every kind of
// fault in it.
func TestRankChecker(t *testing.T) {
	plain := &plainRanking{or: []scored{{7, 3}, {2, 2}, {9, 2}, {1, 1}}, and: []scored{{9, 2}}, orCount: 4, andCount: 1}
	fine := []scored{{7, 3}, {2, 2}, {9, 2}}
	if err := plain.check(engine.Or, 3, fine); err != nil {
		t.Error(err)
	}
	if err := plain.check(engine.AndOr, 1, plain.and); err != nil {
		t.Error(err)
	}
	if err := plain.check(engine.AndOr, 3, fine); err != nil {
		t.Error(err)
	}
	if err := plain.check(engine.And, 3, plain.and); err != nil {
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
		if err := plain.check(engine.Or, 3, bad); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	c := &rankChecker{want: make(map[rankAsked][]rankAnswer), first: make(map[rankAsked]string)}
	one := []rankAnswer{c.answer(0, []uint32{1, 2}, []float64{2, 1})}
	for _, other := range [][]rankAnswer{{c.answer(0, []uint32{2, 1}, []float64{2, 1})}, {c.answer(0, []uint32{1, 2}, []float64{2, 1.5})}, {c.answer(0, nil, nil)}} {
		if err := c.check("one", engine.Or, 2, one); err != nil {
			t.Fatal(err)
		}
		if err := c.check("other", engine.Or, 2, other); err == nil || !strings.Contains(err.Error(), "not that of one") {
			t.Errorf("another ranking: %v", err)
		}
	}
}

// TestBestOf compares the keeper with sorting everything.
func TestBestOf(t *testing.T) {
	r := newRandom(1, streamRankList, 0)
	sums, counts := make([]float64, 5000), make([]uint8, 5000)
	var all []scored
	for d := range sums {
		if counts[d] = uint8(r.below(3)); counts[d] > 0 {
			sums[d] = float64(r.below(50) + 1) // many ties
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

func TestPercentile(t *testing.T) {
	hundred := make([]float64, 100)
	for i := range hundred {
		hundred[i] = float64(i + 1)
	}
	for _, c := range []struct {
		of   []float64
		p    int
		want float64
	}{{hundred, 50, 50}, {hundred, 99, 99}, {hundred, 100, 100}, {hundred[:10], 95, 10}, {hundred[:1], 1, 1}, {nil, 50, 0}} {
		if got := percentile(c.of, c.p); got != c.want {
			t.Errorf("%d %% of %d: %v, want %v", c.p, len(c.of), got, c.want)
		}
	}
}

// writeCollection writes documents of many lengths, and topics, one of which has a
// word that no document has.
func writeCollection(t *testing.T, dir string) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "words.tsv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	for i := range 500 {
		fmt.Fprintf(z, "d%d\tthe %s and the %s%s\n", i, []string{"loom", "weft", "warp"}[i%3], []string{"shuttle", "heddle"}[i%2], strings.Repeat(" yarn", i/6))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	topics := filepath.Join(dir, "topics")
	if err := os.Mkdir(topics, 0o777); err != nil {
		t.Fatal(err)
	}
	text := "1:the loom\n2:Heddle weft\n3:weft heddle heddle\n4:loom\n5:shuttle of zeus\n"
	if err := os.WriteFile(filepath.Join(topics, "topics.terabyte.txt"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestTextWork: topics of one term, with unknown terms, or of the terms of another are
// left out.
func TestTextWork(t *testing.T) {
	dir := t.TempDir()
	writeCollection(t, dir)
	s := &session{opt: Options{Real: dir}}
	topics, err := s.topics()
	if err != nil || len(topics) != 5 {
		t.Fatalf("topics %q, %v", topics, err)
	}
	w, err := textWork(t.Context(), t.TempDir(), filepath.Join(dir, "words.tsv.gz"), topics, 10, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer w.release()
	var got []string
	for i, q := range w.queries {
		got = append(got, strings.Join(q.Terms, " "))
		if len(w.handles[i]) != len(q.Terms) {
			t.Errorf("query %d: lists %v", i, w.handles[i])
		}
	}
	slices.Sort(got)
	if want := []string{"heddle weft", "loom the"}; !slices.Equal(got, want) {
		t.Errorf("queries %q, want %q", got, want)
	}
	if _, err := textWork(t.Context(), t.TempDir(), filepath.Join(dir, "words.tsv.gz"), topics[3:], 10, 1); err == nil {
		t.Error("no topic fits: no error")
	}
}
