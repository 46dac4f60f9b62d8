package engine

import (
	"errors"
	"testing"

	"heddle/engine/plan"
	"heddle/hostfallback"
)

// TestOn: two indexes live on one backend that is open already; closing them, and
// failing to make a third, leaves it open.
func TestOn(t *testing.T) {
	back := hostfallback.New(hostfallback.Options{Threads: 1})
	c := testCorpus()
	q := c.queries(1)[0]
	for range 2 {
		x := openMemory(t, Options{Backends: []plan.Backend{back}})
		if x.Backend().Device != back.Info().Device {
			t.Errorf("runs on %s", x.Backend().Device)
		}
		a, err := x.search(t.Context(), q, searchOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.check(q, a.Count, a.Docs, false); err != nil {
			t.Error(err)
		}
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
	}
	src, dict := inMemory(t)
	if err := back.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := openSource(t.Context(), src, dict, Options{Backends: []plan.Backend{back}}); !errors.Is(err, plan.ErrClosed) {
		t.Errorf("on a closed backend: %v", err)
	}
}
