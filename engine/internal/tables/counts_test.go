package tables

import (
	"context"
	"errors"
	"slices"
	"testing"

	"heddle/engine/internal/schedule"
	"heddle/engine/plan"
	"heddle/engine/table/result"
	"heddle/engine/table/statement"
)

// counting is a store that counts codes: it answers with counts or an error.
type counting struct {
	plan.TableStore
	counts []uint64
	err    error
	calls  int
}

func (c *counting) CountCodes(_ context.Context, _ []uint64, columns []plan.Input) ([][]uint64, error) {
	c.calls++
	return slices.Repeat([][]uint64{c.counts}, len(columns)), c.err
}

// TestCount asks a device for counts only if the rows are many and the query counts codes, and goes
// on without it after a fault.
func TestCount(t *testing.T) {
	g := loaded(t, newPool(t, schedule.Options{}), flights(t, 32))
	compile := func(c statement.Clauses) *result.Query {
		q, err := g.CompileValues(c)
		if err != nil {
			t.Fatal(err)
		}
		return q
	}
	name := `"` + g.Columns[0].Name + `"`
	many, few := make([]uint64, leastCounted/64), make([]uint64, leastCounted/64)
	for i := range many {
		many[i] = ^uint64(0)
	}
	few[0] = 1
	counts := []uint64{1, 2, 3}
	for _, c := range []struct {
		what    string
		rows    []uint64
		clauses statement.Clauses
		err     error
		asked   bool
		counted bool
	}{
		{"many rows", many, statement.Clauses{Select: name + ", count(*)", GroupBy: name}, nil, true, true},
		{"few rows", few, statement.Clauses{Select: name + ", count(*)", GroupBy: name}, nil, false, false},
		{"no groups", many, statement.Clauses{Select: "count(*)"}, nil, false, false},
		{"another measure", many, statement.Clauses{Select: name + ", max(" + name + ")", GroupBy: name}, nil, false, false},
		{"a fault", many, statement.Clauses{Select: name + ", count(*)", GroupBy: name}, errors.New("lost"), true, false},
	} {
		device := &counting{counts: counts, err: c.err}
		for r := range g.residences() {
			device.TableStore = r.store
			r.store = device
		}
		q := compile(c.clauses)
		if err := g.Count(t.Context(), c.rows, []*result.Query{q}); err != nil {
			t.Fatalf("%s: %v", c.what, err)
		}
		if asked, counted := device.calls > 0, q.Cells != nil; asked != c.asked || counted != c.counted {
			t.Errorf("%s: asked %t, counted %t", c.what, asked, counted)
		}
		for r := range g.residences() {
			r.store = device.TableStore
		}
	}
	ended, stop := context.WithCancel(t.Context())
	stop()
	for r := range g.residences() {
		r.store = &counting{TableStore: r.store, err: context.Canceled}
	}
	q := compile(statement.Clauses{Select: name + ", count(*)", GroupBy: name})
	if err := g.Count(ended, many, []*result.Query{q}); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}
