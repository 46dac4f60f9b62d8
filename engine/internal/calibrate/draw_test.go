package calibrate

import (
	"fmt"
	"slices"
	"testing"

	"heddle/codec"
	"heddle/engine/index/hdl"
	"heddle/engine/internal/lists"
	"heddle/engine/internal/query"
	"heddle/engine/plan"
)

// lists returns an index of 100 lists of different lengths.
func newLists(t *testing.T) *lists.Generation {
	t.Helper()
	src := &plan.Source{Docs: 1 << 16}
	var terms []string
	for i := range 100 {
		n := 1 + i*i*6
		docs := make([]uint32, n)
		for d := range docs {
			docs[d] = uint32(d)
		}
		if _, err := src.Append(codec.Raw, docs, codec.DefaultOptions()); err != nil {
			t.Fatal(err)
		}
		terms = append(terms, fmt.Sprintf("t%03d", i))
	}
	dict, err := hdl.NewDictionary(terms)
	if err != nil {
		t.Fatal(err)
	}
	x, err := query.NewIndex(src, dict, nil, plan.Auto)
	if err != nil {
		t.Fatal(err)
	}
	return &lists.Generation{Index: x}
}

// TestDraw: they have one term to six, the same ones every time, with lists of all
// lengths; without names or postings there are none.
func TestDraw(t *testing.T) {
	x := newLists(t)
	qs, err := draw(x)
	if err != nil {
		t.Fatal(err)
	}
	again, _ := draw(x)
	byTerms, byLength := map[int]int{}, map[uint32]int{}
	for i, q := range qs {
		if !slices.Equal(q.Terms, again[i].Terms) {
			t.Fatalf("query %d is %v and %v", i, q.Terms, again[i].Terms)
		}
		byTerms[len(q.Terms)]++
		for _, term := range q.Terms {
			h, ok := x.Dictionary.Lookup(term)
			if !ok {
				t.Fatalf("no term %q", term)
			}
			byLength[x.Source.Lists[h].Len]++
		}
	}
	for n := 1; n <= 6; n++ {
		if byTerms[n] < len(qs)/12 {
			t.Errorf("%d of %d queries have %d terms", byTerms[n], len(qs), n)
		}
	}
	lengths := map[uint32]bool{}
	for _, l := range x.Source.Lists {
		lengths[l.Len] = true
	}
	if len(byLength) < len(lengths)/2 {
		t.Errorf("lists of %d lengths, there are %d", len(byLength), len(lengths))
	}
	bare := func(src *plan.Source, dict query.Dictionary) *lists.Generation {
		return &lists.Generation{Index: &query.Index{Source: src, Dictionary: dict}}
	}
	for _, x := range []*lists.Generation{bare(x.Source, unnamed{}), bare(&plan.Source{Lists: make([]plan.List, 3)}, x.Dictionary)} {
		if _, err := draw(x); err == nil {
			t.Error("queries out of nothing")
		}
	}
}

// unnamed is a dictionary that cannot name terms.
type unnamed struct{}

func (unnamed) Lookup(string) (plan.Handle, bool) { return 0, false }
