package engine

import (
	"runtime/debug"
	"testing"

	"heddle/engine/plan/testneeds"
)

// TestAllocations allows a batch a few objects and a query none.
func TestAllocations(t *testing.T) {
	testneeds.OneCaller(t)
	skipRace(t)
	c := testCorpus()
	opt := backendOptions(t)
	opt.Workers = 1
	x := openFile(t, opt)
	qs := make([]Query, 12000) // a block allocates some objects, whatever its queries
	for i := range qs {
		n := 1 + i%5
		qs[i].Terms = c.terms[i%(len(c.terms)-n):][:n]
	}
	matches := uint64(0)
	for i := range qs {
		qs[i].Match = And
	}
	f := func() {
		err := x.SearchAll(t.Context(), qs, func(_ int, hits []Hits) error {
			for i := range hits {
				matches += hits[i].Count
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
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

func skipRace(t *testing.T) {
	t.Helper()
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "-race" && s.Value == "true" {
				t.Skip("under the race detector sync.Pool drops what it is given at random")
			}
		}
	}
}

// TestRankAllocations allows a batch of ranked queries a few objects and a query
// none, in every mode.
func TestRankAllocations(t *testing.T) {
	testneeds.OneCaller(t)
	skipRace(t)
	opt := opening()
	opt.Workers = 1
	if !onHost() {
		opt.DeviceMemory = 2 << 30 // rounds are of as many queries everywhere
	}
	x := rankedCorpus(400).open(t, 0, opt)
	var qs []Query
	for _, q := range rankedQueries(pick(24000, 12000)) {
		if q.Text == "" { // the terms of a text are strings of their own
			qs = append(qs, q)
		}
	}
	for _, mode := range Matches() {
		found := 0
		for i := range qs {
			qs[i].Match, qs[i].K = mode, 10
		}
		f := func() {
			err := x.SearchAll(t.Context(), qs, func(_ int, hits []Hits) error {
				for i := range hits {
					found += len(hits[i].Docs)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		}
		for range 3 {
			f()
		}
		limit := 0.05 // a batch allocates a little, and has some hundred queries
		if !onHost() {
			// A round of AND makes about 45 objects, one of OR about 90: one a call of OpenCL, one an
			// event, one a large argument, whatever its queries. On a CPU a round of AND has 63 queries
			// in 2 GiB, one of OR four times as many: 0.37 a query for OR, 0.72 for AND, 1.04 for both.
			limit = 1.25
		}
		a := testing.AllocsPerRun(5, f) / float64(len(qs))
		t.Logf("%s: %.4f allocations a query", mode, a)
		if a > limit || found == 0 {
			t.Errorf("%s: %.3f allocations a query in a steady state (%d documents)", mode, a, found)
		}
	}
}

// TestRankOneAllocations holds a single ranked query to the two slices of its answer.
func TestRankOneAllocations(t *testing.T) {
	skipRace(t)
	if !onHost() {
		t.Skip("a launch on OpenCL allocates small objects; a single query is one batch there")
	}
	x := openFile(t, Options{Backend: "host", Threads: 1})
	q := Query{Terms: []string{"t000", "t120"}, K: 10}
	a := testing.AllocsPerRun(200, func() {
		if _, err := x.Search(t.Context(), q); err != nil {
			t.Error(err)
		}
	})
	if a > 2 {
		t.Errorf("%g allocations to rank one query", a)
	}
}

// TestSearchAllocations holds a single query to the slice of its answer.
func TestSearchAllocations(t *testing.T) {
	skipRace(t)
	if !onHost() {
		t.Skip("a launch on OpenCL allocates small objects; a single query is one batch there")
	}
	x := openFile(t, Options{Backend: "host", Threads: 1})
	q := Query{Terms: []string{"t000", "t120"}, Match: And}
	a := testing.AllocsPerRun(200, func() {
		if _, err := x.Search(t.Context(), q); err != nil {
			t.Error(err)
		}
	})
	if a > 1 {
		t.Errorf("%g allocations for one query", a)
	}
}
