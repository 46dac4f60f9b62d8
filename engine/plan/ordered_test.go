package plan

import (
	"reflect"
	"slices"
	"testing"
)

// TestOrdered copies batches query by query: the copies are equal, and AppendLists
// gives the lists of each query.
func TestOrdered(t *testing.T) {
	src := &Source{Docs: 100, Lists: []List{{Len: 9}, {Len: 2}, {Len: 5}, {Len: 2}}}
	var b, b2 MatchBatch
	var r, r2 RankBatch
	var f, f2 MatchBatch
	for _, q := range [][]Handle{{0, 1, 3}, {}, {2}, {3, 2, 1, 0}} {
		b.Add(src, q...)
		var terms []Term
		e := Expr{Op: OpOr}
		for _, h := range q {
			terms = append(terms, Term{List: h, Weight: h + 1})
			e.Args = append(e.Args, Expr{List: h})
		}
		r.Add(src, terms...)
		if err := f.AddExpr(src, e); err != nil {
			t.Fatal(err)
		}
	}
	b2.Reset()
	r2.Reset()
	f2.Reset()
	for i := range b.Queries() {
		b2.Append(&b, i)
		r2.AddOrdered(r.Query(i))
		f2.Append(&f, i)
		want := append([]Handle{77}, b.Query(i)...)
		if got := r.AppendLists([]Handle{77}, i); !slices.Equal(got, want) {
			t.Errorf("ranked query %d: lists %v, want %v", i, got, want)
		}
		got := f.AppendLists([]Handle{77}, i)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("expression %d: lists %v, want %v", i, got, want)
		}
	}
	if !reflect.DeepEqual(b, b2) || !reflect.DeepEqual(r, r2) || !reflect.DeepEqual(f, f2) {
		t.Errorf("%v, %v, %v became %v, %v, %v", b, r, f, b2, r2, f2)
	}
}
