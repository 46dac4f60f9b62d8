package engine

import (
	"strings"
	"testing"

	"heddle/engine/observe"
)

// TestOverrideProcessor sends a query to one processor by its name.
func TestOverrideProcessor(t *testing.T) {
	x := openMemory(t, Options{Backend: "host"})
	name := x.e.Processors()[0].Name
	q := testCorpus().queries(1)[0]
	q.Explain, q.Override = new(observe.Explanation), &Override{Processor: name}
	if _, err := x.Search(t.Context(), q); err != nil || q.Explain.Processor != name {
		t.Errorf("ran on %q: %v", q.Explain.Processor, err)
	}
	if err := x.SearchAll(t.Context(), []Query{q}, func(int, []Hits) error { return nil }); CodeOf(err) != InvalidOption || !strings.Contains(err.Error(), "single queries") {
		t.Errorf("of many queries: %v", err)
	}
	q.Override = &Override{Processor: "moon"}
	if _, err := x.Search(t.Context(), q); CodeOf(err) != InvalidOption || !strings.Contains(err.Error(), `processor "moon" does not have the index`) {
		t.Errorf("unknown name: %v", err)
	}
}
