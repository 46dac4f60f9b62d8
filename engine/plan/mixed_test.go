package plan

import (
	"context"
	"slices"
	"testing"
)

// marked is a filter of tests.
type marked struct{ Filter }

// TestMixedFilters: in a batch of conjunctions and expressions each query keeps its filter and its
// place, whichever function answers it.
func TestMixedFilters(t *testing.T) {
	src := letters()
	a, b := &marked{}, &marked{}
	batch := &MatchBatch{}
	batch.Reset()
	either := Expr{Op: OpOr, Args: []Expr{{List: 2}, {List: 3}}}
	add := func(expression bool, f Filter) {
		if !expression {
			batch.Add(src, 1)
		} else if err := batch.AddExpr(src, either); err != nil {
			t.Fatal(err)
		}
		if f != nil {
			batch.Restrict(f)
		}
	}
	add(true, nil)
	add(false, a)
	add(true, b)
	add(true, a)
	add(false, nil)

	// Each function answers the filters of its own queries: one document per query, whose number
	// tells the filter.
	answer := func(own func(b *MatchBatch, i int) bool) MatchFunc {
		return func(_ context.Context, m *MatchBatch, out *Results) error {
			out.Reset()
			for i := range m.Queries() {
				if own(m, i) {
					out.Docs = append(out.Docs, uint32(slices.Index([]Filter{nil, a, b}, m.Filter(i))))
				}
				out.Offsets = append(out.Offsets, uint64(len(out.Docs)))
			}
			return nil
		}
	}
	var out Results
	err := MatchMixed(t.Context(), batch, &out,
		answer(func(m *MatchBatch, i int) bool { return len(m.Query(i)) > 0 }),
		answer(func(m *MatchBatch, i int) bool { return len(m.Expression(i)) > 0 }))
	if err != nil {
		t.Fatal(err)
	}
	var got []uint32
	for i := range batch.Queries() {
		got = append(got, out.Query(i)...)
	}
	if want := []uint32{0, 1, 2, 1, 0}; !slices.Equal(got, want) {
		t.Errorf("filters %d, want %d", got, want)
	}
	if out.Stats.Filtered != 3 {
		t.Errorf("%d filtered queries, want 3", out.Stats.Filtered)
	}
}
