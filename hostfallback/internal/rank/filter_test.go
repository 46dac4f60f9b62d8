package rank

import (
	"slices"
	"sync/atomic"
	"testing"

	"heddle/engine/plan"
	"heddle/hostfallback/internal/filter"
)

// TestFilterCandidates keeps the documents of a filter up to its last word, and clears the scores of others.
func TestFilterCandidates(t *testing.T) {
	w := &worker{filter: &filter.Set{Words: []uint32{1 << 31, 0, 1, 1<<31 | 1}}}
	const from = 16
	for _, x := range []uint32{30, 31, 32, 64, 65, 96, 126, 127, 128, 1000} {
		w.candidates = append(w.candidates, uint16(x-from))
		w.scores[x-from] = x
	}
	w.filterCandidates(from)
	if want := []uint16{31 - from, 64 - from, 96 - from, 127 - from}; !slices.Equal(w.candidates, want) {
		t.Errorf("candidates %v, want %v", w.candidates, want)
	}
	for x, score := range w.scores {
		if in := slices.Contains(w.candidates, uint16(x)); score != 0 && score != uint32(x+from) || in != (score != 0) {
			t.Errorf("document %d has score %d", x+from, score)
		}
	}
}

// TestSeek looks up the documents of the filter that lie in the part.
func TestSeek(t *testing.T) {
	docs := []uint32{1, 4, 5, 9, 10, 1<<32 - 2}
	for _, c := range []struct {
		from, to uint64
		want     []uint32
	}{{0, 1 << 32, docs}, {5, 10, []uint32{5, 9}}, {2, 4, nil}, {10, 1<<32 - 2, []uint32{10}}, {11, 1<<32 - 1, docs[5:]}} {
		w := &worker{filter: &filter.Set{Docs: docs}}
		w.best.open(10)
		if err := w.seek(t.Context(), plan.And, &part{from: c.from, to: c.to, threshold: new(atomic.Uint32)}); err != nil {
			t.Fatal(err)
		}
		var got []uint32
		for _, k := range w.best.keys {
			doc, _ := k.split()
			got = append(got, doc)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("documents %d to %d: %v, want %v", c.from, c.to, got, c.want)
		}
	}
}
