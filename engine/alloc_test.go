package engine

import (
	"runtime/debug"
	"testing"

	"heddle/engine/plan"
)

// TestAllocations allows a batch a few objects and a query none.
func TestAllocations(t *testing.T) {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "-race" && s.Value == "true" {
				t.Skip("under the race detector sync.Pool drops what it is given at random")
			}
		}
	}
	c := testCorpus()
	x := openFile(t, backendOptions(t))
	qs := make([]Query, 4000)
	for i := range qs {
		n := 1 + i%5
		qs[i].Terms = c.terms[i%(len(c.terms)-n):][:n]
	}
	matches := uint64(0)
	f := func() {
		err := x.SearchBatches(t.Context(), qs, SearchOptions{}, func(_ int, r *plan.Results) error {
			for i := range len(r.Offsets) - 1 {
				matches += r.Count(i)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	x.opt.Workers = 1 // matches has no lock
	for range 3 {
		f()
	}
	limit := 0.02
	if !onHost() {
		limit = 0.1 // calls of OpenCL make small objects, some tens a round
	}
	a := testing.AllocsPerRun(10, f) / float64(len(qs))
	t.Logf("%.4f allocations a query", a)
	if a > limit || matches == 0 {
		t.Errorf("%.3f allocations a query in a steady state (%d matches)", a, matches)
	}
}

// TestSearchAllocations holds a single query to its answer and a handful more.
func TestSearchAllocations(t *testing.T) {
	if !onHost() {
		t.Skip("a launch on OpenCL allocates small objects; a single query is one batch there")
	}
	x := openFile(t, Options{Backend: "host", Threads: 1})
	q := Query{Terms: []string{"t000", "t120"}}
	a := testing.AllocsPerRun(200, func() {
		if _, err := x.Search(t.Context(), q, SearchOptions{}); err != nil {
			t.Error(err)
		}
	})
	if a > 8 {
		t.Errorf("%g allocations for one query", a)
	}
}
