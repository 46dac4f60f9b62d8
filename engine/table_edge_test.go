package engine

import (
	"math"
	"testing"

	"heddle/engine/plan"
	"heddle/engine/table/column"
	"heddle/engine/table/predicate/predicatetest"
)

// TestDegenerateChoice has tables that leave little to measure beside a device and the
// host: costs are numbers, none is negative, and answers are right.
func TestDegenerateChoice(t *testing.T) {
	repeat := func(v any, rows int) predicatetest.Column {
		c := predicatetest.Column{Name: "a", Type: column.Int}
		for range rows {
			c.Values = append(c.Values, v)
		}
		return c
	}
	coded := func(e column.Encoding, c predicatetest.Column) predicatetest.Column {
		c.Encoding = e
		return c
	}
	for name, x := range map[string]struct {
		columns []predicatetest.Column
		equal   uint64 // rows for which a = 5
	}{
		"no columns":              {nil, 0},
		"no rows":                 {[]predicatetest.Column{repeat(nil, 0)}, 0},
		"one row":                 {[]predicatetest.Column{repeat(int64(5), 1)}, 1},
		"one vector of ones":      {[]predicatetest.Column{repeat(int64(5), 1000)}, 1000},
		"all missing":             {[]predicatetest.Column{repeat(nil, 1000)}, 0},
		"one bin, no vector":      {[]predicatetest.Column{coded(column.Range, repeat(int64(5), 100))}, 100},
		"one interval":            {[]predicatetest.Column{coded(column.Interval, repeat(int64(5), 100))}, 100},
		"one bin and missing":     {[]predicatetest.Column{coded(column.Range, predicatetest.Column{Name: "a", Type: column.Int, Values: []any{int64(5), nil, int64(5)}})}, 2},
		"two bins, one vector":    {[]predicatetest.Column{coded(column.Range, predicatetest.Column{Name: "a", Type: column.Int, Values: []any{int64(5), int64(7), nil}})}, 1},
		"three bins, two vectors": {[]predicatetest.Column{coded(column.Interval, predicatetest.Column{Name: "a", Type: column.Int, Values: []any{int64(5), int64(7), int64(6), int64(5)}})}, 2},
	} {
		tab, columns := predicatetest.Table(t, 32, x.columns...)
		device := &faulty{name: "device"}
		table, err := NewTable(t.Context(), &tab.Table, columns, withHost(device))
		table = closedTable(t, table, err)
		for where, want := range map[string]uint64{"TRUE": uint64(tab.Rows), "FALSE": 0, "a = 5": x.equal, "a > 5 AND a < 5": 0} {
			if columns == nil && where[0] == 'a' {
				continue
			}
			if n, err := table.Count(t.Context(), where); n != want || err != nil {
				t.Errorf("%s: %s: %d rows, want %d: %v", name, where, n, want, err)
			}
		}
		c := table.costs.Load()
		for _, m := range []costModel{c.onDevice, c.onHost} {
			for k, cost := range m {
				if !(cost >= 0 && cost < math.Inf(1)) {
					t.Errorf("%s: cost %d is %v", name, k, cost)
				}
			}
		}
	}
}

// TestRunInvalid has selections that name what the table has not, whose work nobody can
// estimate.
func TestRunInvalid(t *testing.T) {
	x := openTable(t, withHost(&faulty{name: "device"}))
	for name, build := range map[string]func(s *plan.SelectBatch){
		"a vector too many":  func(s *plan.SelectBatch) { s.Any(math.MaxUint32) },
		"a column too many":  func(s *plan.SelectBatch) { s.Any(); s.Check(99) },
		"AND of one set":     func(s *plan.SelectBatch) { s.Any(); s.Do(plan.StepAnd) },
		"NOT of none":        func(s *plan.SelectBatch) { s.Do(plan.StepNot) },
		"two sets":           func(s *plan.SelectBatch) { s.Any(); s.Any() },
		"an unknown step":    func(s *plan.SelectBatch) { s.Do(99) },
		"operands not there": func(s *plan.SelectBatch) { s.Steps = []plan.Step{{To: 1}} },
	} {
		var s plan.SelectBatch
		build(&s)
		s.End()
		var out plan.Rows
		if err := x.Run(t.Context(), &s, &out); err == nil {
			t.Errorf("%s was run", name)
		}
	}
}

// TestTableAllocations allows a batch of prepared predicates nothing, on the host and
// where a device is to be chosen or not.
func TestTableAllocations(t *testing.T) {
	skipRace(t)
	for name, opt := range map[string]Options{"host": {Backend: "host"}, "host and device": withHost(&faulty{name: "device"})} {
		x := openTable(t, opt)
		var prepared []*Prepared
		for _, w := range wheres {
			p, err := x.Prepare(w)
			if err != nil {
				t.Fatal(err)
			}
			prepared = append(prepared, p)
		}
		var out plan.Rows
		f := func() {
			if err := x.SelectPrepared(t.Context(), prepared, TableOptions{}, &out); err != nil {
				t.Error(err)
			}
		}
		f()
		if c := x.costs.Load(); c != nil {
			c.onHost = costModel{} // one of them is chosen every time
		}
		for range 10 {
			f()
		}
		checkRows(t, &out, TableOptions{})
		// A collection of garbage empties the pools.
		if n := testing.AllocsPerRun(100, f); n >= 1 {
			t.Errorf("%s: %v allocations a batch in a steady state", name, n)
		}
	}
}
