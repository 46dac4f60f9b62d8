package part

import (
	"slices"
	"testing"

	"heddle/engine/internal/filter"
	"heddle/engine/internal/lists"
	"heddle/engine/internal/query"
)

// TestRestrict: without a query and a filter of its own a request finds no document, whether documents are deleted
// or not. With a filter it finds the documents of the filter.
func TestRestrict(t *testing.T) {
	for _, p := range []*Part{{}, {Live: &Live{Filter: new(filter.Filter)}}} {
		r, err := p.restrict(Prepare(&Request{Texts: make([]string, 2), Filter: []uint32{0, 1}}), []*filter.Filter{{}})
		if err != nil {
			t.Fatal(err)
		}
		var none, filtered query.Query
		r.Get(0, &none)
		r.Get(1, &filtered)
		if none.Expr == nil || filtered.Expr != nil || r.filters[r.number(1)] == nil {
			t.Errorf("deleted documents %v: %+v, %+v", p.Live != nil, none, filtered)
		}
	}
}

// TestJoin: pieces join in the order of their queries, and a later one has nothing of their memory but its room.
func TestJoin(t *testing.T) {
	q := &Queries{Request: &Request{K: 2, Limit: 2}}
	piece := func(first int, out *Answer, found ...lists.Answer) *writer {
		w := newWriter(nil, q, out, len(found), 4, false)
		w.first = first
		for i := range found {
			var err error
			if found[i].Docs == nil {
				err = errNoAttributes
			}
			if err := w.add(i, &found[i], err); err != nil {
				t.Fatal(err)
			}
		}
		return w
	}
	late := piece(1, new(Answer), lists.Answer{Count: 3, Docs: []uint32{5, 4}, Scores: []float64{2, 1}, Unit: 7}, lists.Answer{})
	got := join([]*writer{late, piece(0, new(Answer), lists.Answer{Count: 1, Docs: []uint32{9}, Scores: []float64{8}, Unit: 6})})
	old := late.out
	if len(old.Docs)+len(old.Ends)+len(old.Scores)+len(old.Errors) > 0 || cap(old.Docs) < 4 || cap(old.Scores) < 4 {
		t.Errorf("the memory of a piece: %+v", old)
	}
	for range 2 {
		if !slices.Equal(got.Docs, []uint32{9, 5, 4}) || !slices.Equal(got.Scores, []float64{8, 2, 1}) || !slices.Equal(got.Ends, []uint64{1, 3, 3}) ||
			!slices.Equal(got.Counts, []uint64{1, 3, 0}) || !slices.Equal(got.Units, []float64{6, 7, 0}) || len(got.Errors) != 1 || got.Errors[0].Query != 2 {
			t.Errorf("%+v", got)
		}
		piece(0, late.out, lists.Answer{Docs: []uint32{1, 2}, Scores: []float64{3, 4}}) // into the same memory, not into that of got
	}
}
