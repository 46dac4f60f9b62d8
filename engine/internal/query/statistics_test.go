package query

import (
	"testing"

	"heddle/engine/plan"
)

// TestExactLength: the mean length of documents is exact where their lengths are rounded.
func TestExactLength(t *testing.T) {
	for length, want := range map[uint64]uint64{0: 80, 83: 83} {
		x, err := NewIndex(&plan.Source{Docs: 2, Lengths: []uint32{40, 40}, Length: length}, nil, nil, plan.Auto)
		if err != nil {
			t.Fatal(err)
		}
		if got := x.Statistics(); got.Length != want || got.Docs != 2 {
			t.Errorf("statistics %+v, want length %d", got, want)
		}
	}
}

// TestWithTerms: documents without terms do not count, as in Lucene's docCount.
func TestWithTerms(t *testing.T) {
	for _, c := range []struct {
		src  plan.Source
		want uint64
	}{
		{plan.Source{Docs: 5, Lengths: []uint32{3, 0, 1, 0, 0}}, 2},
		{plan.Source{Docs: 5, Lengths: []uint32{3, 0, 1, 0, 0}, WithTerms: 3}, 3}, // a list has a document of length 0
		{plan.Source{Docs: 2, Lengths: []uint32{0, 0}}, 0},
		{plan.Source{Docs: 2}, 2},
	} {
		x, err := NewIndex(&c.src, nil, nil, plan.Auto)
		if err != nil {
			t.Fatal(err)
		}
		if got := x.Statistics().Docs; got != c.want {
			t.Errorf("%+v: %d documents, want %d", c.src, got, c.want)
		}
	}
}
