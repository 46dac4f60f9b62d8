package query

import (
	"slices"
	"testing"

	"heddle/engine/plan"
)

// TestInField asks twice for the documents in a field: the second query does not look at the lengths.
func TestInField(t *testing.T) {
	src := &plan.Source{Docs: 4, Lengths: []uint32{1, 2, 3, 4}, Fields: []plan.Field{
		{Name: "body", Docs: 4, Lengths: []uint32{1, 1, 1, 3}},
		{Name: "title", Docs: 3, Lengths: []uint32{0, 1, 2, 1}},
	}}
	x, err := NewIndex(src, numbers(0), nil, plan.Auto)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		var b Batch
		in := x.inField(&b, "title")
		docs, err := b.phrased.docsOf(t.Context(), src, &in, nil)
		if err != nil || !slices.Equal(docs, []uint32{1, 2, 3}) {
			t.Errorf("documents %v, %v", docs, err)
		}
		clear(src.Fields[1].Lengths)
	}
}
