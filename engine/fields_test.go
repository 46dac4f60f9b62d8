package engine

import (
	"os"
	"path/filepath"
	"testing"

	"heddle/engine/index/build"
)

// TestFieldsOfBatch: parts that the index lacks are an error of the query that asks for them, in a batch too.
func TestFieldsOfBatch(t *testing.T) {
	dir := t.TempDir()
	texts, path := filepath.Join(dir, "x.tsv"), filepath.Join(dir, "x.hdl")
	if err := os.WriteFile(texts, []byte("a\tloom\nb\tloom loom\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := build.Build(t.Context(), path, []string{texts}, build.Options{Format: build.Text}); err != nil {
		t.Fatal(err)
	}
	x, err := onThread(t).OpenIndex(t.Context(), path, IndexOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	wrong := &Fields{Source: true}
	for _, qs := range [][]Query{
		{{Text: "loom", K: 1, Names: true}, {Text: "loom", K: 1, Fields: wrong}, {Text: "loom", K: 2, Names: true}},
		{{Text: "loom", K: 1, Names: true}, {Text: "loom", K: 1, Fields: wrong}, {Text: "loom", K: 2, Names: true, MinScore: 0.01}},
	} {
		names, codes := make([]int, len(qs)), make([]Code, len(qs))
		err := x.SearchAll(t.Context(), qs, func(first int, hits []Hits) error {
			for i, h := range hits {
				names[first+i], codes[first+i] = len(h.Names), CodeOf(h.Err)
			}
			return nil
		})
		if CodeOf(err) != InvalidOption || codes[0] != OK || codes[1] != InvalidOption || codes[2] != OK || names[0] != 1 || names[1] != 0 || names[2] != 2 {
			t.Errorf("%v: names %v, codes %v", err, names, codes)
		}
	}
}
