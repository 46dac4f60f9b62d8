package part

import (
	"testing"

	"heddle/engine/internal/filter"
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
