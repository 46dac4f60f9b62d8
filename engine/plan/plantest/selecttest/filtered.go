package selecttest

import (
	"slices"
	"testing"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/engine/plan/reference"
)

// filtered restricts a query over lists to the rows of a selection, which stay on the backend.
func (su suite) filtered(t *testing.T) {
	if !su.Filters() {
		t.Skip("the backend has no filters")
	}
	r := plantest.RNG(t)
	const rows = 3000
	tab := plantest.NewTable(rows, 32)
	for i := range 4 {
		tab.AddVector(plantest.NewFilter(rows, func(uint32) bool { return r.IntN(1+9*i) == 0 }))
	}
	st := su.load(t, tab)
	s := plantest.NewSource(rows)
	every := make([]uint32, 0, rows)
	for d := range uint32(rows) {
		every = append(every, d)
	}
	s.Add(t, codec.ParaPFor, every)
	lists := su.Load(t, s)
	var sel plan.SelectBatch
	for _, vectors := range [][]uint32{{}, {0}, {1}, {2, 3}, {3}} {
		sel.Reset()
		sel.Any(vectors...)
		sel.End()
		f, err := st.Filter(t.Context(), &sel)
		if err != nil {
			t.Fatal(err)
		}
		want := reference.Within(slices.Clone(every), tab.Scan(&sel)[0])
		var b plan.MatchBatch
		b.Add(&s.Source, 0)
		b.Restrict(f)
		var out plan.Results
		if err := lists.Match(t.Context(), &b, &out); err != nil {
			t.Fatal(err)
		}
		if got := out.Query(0); !slices.Equal(got, want) || int(f.Count()) != len(want) || f.Universe() != rows {
			t.Errorf("vectors %d: %d documents, the filter counts %d of %d, want %d", vectors, len(got), f.Count(), f.Universe(), len(want))
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}
