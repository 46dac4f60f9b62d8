package rank

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heddle/engine/bench/benchtest"
)

// TestTextWork: topics with one term, with unknown terms or with the terms of another
// topic are skipped.
func TestTextWork(t *testing.T) {
	dir := t.TempDir()
	benchtest.WriteCollection(t, dir)
	topics, err := ReadTopics(dir)
	if err != nil || len(topics) != 5 {
		t.Fatalf("topics %q, %v", topics, err)
	}
	w, err := Text(t.Context(), t.TempDir(), filepath.Join(dir, "words.tsv.gz"), topics, 10, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer w.release()
	var got []string
	for i, q := range w.Queries {
		got = append(got, strings.Join(q.Terms, " "))
		if len(w.Handles[i]) != len(q.Terms) {
			t.Errorf("query %d: lists %v", i, w.Handles[i])
		}
	}
	slices.Sort(got)
	if want := []string{"heddle weft", "loom the"}; !slices.Equal(got, want) {
		t.Errorf("queries %q, want %q", got, want)
	}
	if _, err := Text(t.Context(), t.TempDir(), filepath.Join(dir, "words.tsv.gz"), topics[3:], 10, 1); err == nil {
		t.Error("no topic fits: no error")
	}
}
