package selecttest

import (
	"errors"
	"fmt"
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
	for _, word := range []int{32, 64} {
		for _, rows := range []uint32{3000, 16 * 31 * 32, 70_001} { // parts of a tile, whole tiles, several tiles
			t.Run(fmt.Sprintf("%d rows, words of %d bits", rows, word), func(t *testing.T) { su.filteredRows(t, rows, word) })
		}
	}
}

// filteredRows is filtered with a table of some rows and words.
func (su suite) filteredRows(t *testing.T, rows uint32, word int) {
	r := plantest.RNG(t)
	tab := plantest.NewTable(rows, word)
	for i := range 4 {
		tab.AddVector(plantest.NewFilter(rows, func(uint32) bool { return r.IntN(1+9*i) == 0 }))
	}
	st := su.load(t, tab)
	s := plantest.NewSource(rows)
	every := make([]uint32, 0, rows)
	for d := range rows {
		every = append(every, d)
	}
	s.Add(t, codec.ParaPFor, every)
	lists := su.Load(t, s)
	var sel plan.SelectBatch
	half := plantest.NewFilter(rows, func(uint32) bool { return r.IntN(2) == 0 })
	with, err := lists.Filter(t.Context(), half)
	if err != nil {
		t.Fatal(err)
	}
	defer with.Close()
	other, err := su.Load(t, plantest.NewSource(rows+1)).Filter(t.Context(), make([]uint64, plan.FilterWords(rows+1)))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for i, vectors := range [][]uint32{{}, {0}, {1}, {2, 3}, {3}, {}, {0}, {1}, {2, 3}, {3}} {
		sel.Reset()
		sel.Any(vectors...)
		sel.End()
		if _, err := st.Filter(t.Context(), &sel, other); !errors.Is(err, plan.ErrUnsupported) {
			t.Errorf("with a filter of another universe: %v", err)
		}
		of := plan.Filter(nil) // the second half of the cases are joined with documents
		want := reference.Within(slices.Clone(every), tab.Scan(&sel)[0])
		if i >= 5 {
			of, want = with, reference.Within(want, half)
		}
		f, err := st.Filter(t.Context(), &sel, of)
		if err != nil {
			t.Fatal(err)
		}
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
