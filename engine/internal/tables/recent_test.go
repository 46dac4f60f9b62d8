package tables

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"heddle/engine/internal/schedule"
	"heddle/engine/plan"
	"heddle/engine/table/statement"
)

// TestRecent finds results once, but for errors, long results, and results that it has forgotten.
func TestRecent(t *testing.T) {
	var r recent[string, int]
	calls := 0
	get := func(k string, bytes int, err error) {
		t.Helper()
		if v, got := r.get(k, func() (int, int, error) { calls++; return len(k), bytes, err }); v != len(k) || !errors.Is(got, err) {
			t.Errorf("%q: %d, %v", k, v, got)
		}
	}
	for _, c := range []struct {
		k     string
		bytes int
		err   error
		calls int // after two gets
	}{{"", 1, nil, 1}, {"b", recentBytes + 1, nil, 3}, {"cc", 1, errors.New("broken"), 5}, {"ddd", recentBytes, nil, 6}} {
		get(c.k, c.bytes, c.err)
		if get(c.k, c.bytes, c.err); calls != c.calls {
			t.Errorf("%q: %d calls, want %d", c.k, calls, c.calls)
		}
	}
	for i := range mostRecent { // the first results are forgotten
		get(fmt.Sprint("key ", i), 1, nil)
	}
	calls = 0
	if get("", 1, nil); calls != 1 || len(r.known) > mostRecent {
		t.Errorf("%d calls, %d results", calls, len(r.known))
	}
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			for k := range 3 * mostRecent {
				if v, err := r.get(fmt.Sprint(k), func() (int, int, error) { return k, 1, nil }); v != k || err != nil {
					t.Errorf("caller %d: %d is %d, %v", i, k, v, err)
				}
			}
		})
	}
	group.Wait()
}

// TestCompileOnce compiles a text once, and gives each caller of a statement its own query.
func TestCompileOnce(t *testing.T) {
	g := loaded(t, newPool(t, schedule.Options{}), flights(t, 32))
	p, err := g.Compile("delay > 5")
	again, failed := g.Compile("delay > 5")
	if err != nil || failed != nil || p != again {
		t.Errorf("%p, %v; again %p, %v", p, err, again, failed)
	}
	c := statement.Clauses{Select: "count(*)"}
	q, err := g.CompileValues(c)
	if err != nil {
		t.Fatal(err)
	}
	q.Cells = &plan.Cells{}
	if next, err := g.CompileValues(c); err != nil || next.Cells != nil || next.String() != q.String() {
		t.Errorf("the next query has the cells of the first one, %v", err)
	}
	wide := statement.Clauses{Select: "count(*)"} // its columns take many times the memory of its text
	for i := range 1000 {
		wide.Select += fmt.Sprintf(",count(*) as c%d", i)
	}
	if _, err := g.CompileValues(wide); err != nil || len(g.statements.known) != 1 {
		t.Errorf("%d statements are kept, one is too large; %v", len(g.statements.known), err)
	}
	for range 2 {
		if _, err := g.Compile("no such column = 5"); err == nil {
			t.Error("no error")
		}
	}
}
