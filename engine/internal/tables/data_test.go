package tables

import (
	"strings"
	"testing"

	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/engine/table/predicate/predicatetest"
	"heddle/hostfallback"
)

// TestNewErrors describes columns that the table lacks.
func TestNewErrors(t *testing.T) {
	tab, columns := predicatetest.Table(t, 32, predicatetest.Flights()...)
	if _, err := New(&tab.Table, columns[:5]); err == nil {
		t.Error("a column is missing")
	}
	short := tab.Table
	short.Vectors = short.Vectors[:len(short.Vectors)-1]
	if _, err := New(&short, columns); err == nil || !strings.Contains(err.Error(), `column "gate"`) {
		t.Errorf("a vector is missing: %v", err)
	}
	bad := tab.Table
	bad.Rows = 1
	if _, err := New(&bad, columns); err == nil {
		t.Error("an invalid table is described")
	}
	if _, err := New(&plantest.NewTable(0, 32).Table, nil); err != nil {
		t.Error(err)
	}
}

// TestWork counts the work of predicates.
func TestWork(t *testing.T) {
	d := flights(t, 32)
	for text, want := range map[string]struct{ vectors, checks uint64 }{
		"cancelled":                {1, 0},
		"TRUE":                     {0, 0},
		"gate = 'G1'":              {2, 0},
		"at >= '2008-02-01 12:00'": {0, uint64(d.Table.Rows)},
	} {
		p, err := d.Compile(text)
		if err != nil {
			t.Fatal(err)
		}
		w := d.Work(&p.Steps) // the output is bits
		if w.Vectors != want.vectors || uint64(p.Plan.Vectors) != want.vectors {
			t.Errorf("%s: %d vectors, want %d", text, w.Vectors, want.vectors)
		}
		if w.Bytes != d.Table.VectorBytes(p.Steps.Operands) || w.Rows != uint64(d.Table.Rows) || w.Selections != 1 {
			t.Errorf("%s: %+v", text, w)
		}
		// A bound: the difference of two vectors may be as large as the first.
		if w.Checks < want.checks || w.Checks > 0 && want.checks == 0 || w.Places > w.Checks {
			t.Errorf("%s: %d rows are checked in %d places, want %d", text, w.Checks, w.Places, want.checks)
		}
		if w.Rows = 0; w != p.work {
			t.Errorf("%s: a count is %+v, want %+v", text, p.work, w)
		}
		if vectors, slices := p.Bytes(); vectors != w.Bytes || slices > 0 != (want.checks > 0) {
			t.Errorf("%s: %d bytes of vectors, want %d, and %d of slices", text, vectors, w.Bytes, slices)
		}
	}
}

// TestVectorRows compares the known number of rows of each vector with a selection of it.
func TestVectorRows(t *testing.T) {
	d := flights(t, 32)
	host := hostfallback.New(hostfallback.Options{Threads: 1})
	defer host.Close()
	store, err := host.LoadTable(t.Context(), d.Table)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	var s plan.SelectBatch
	s.Output = plan.OutputCounts
	for v := range d.vectorRows {
		s.Any(uint32(v))
		s.End()
	}
	var out plan.Rows
	if err := store.Select(t.Context(), &s, &out); err != nil {
		t.Fatal(err)
	}
	for v, rows := range d.vectorRows {
		if uint64(out.Counts[v]) != rows {
			t.Errorf("vector %d has %d rows, not %d", v, out.Counts[v], rows)
		}
	}
}

// TestAdopt takes steps made by hand, if they are valid.
func TestAdopt(t *testing.T) {
	d := flights(t, 32)
	p, err := d.Compile(wheres[0])
	if err != nil {
		t.Fatal(err)
	}
	same, err := d.Adopt(&p.Steps)
	if err != nil || same.work != p.work || same.Plan.Vectors != p.Plan.Vectors {
		t.Errorf("%+v instead of %+v: %v", same, p, err)
	}
	for name, build := range map[string]func(s *plan.SelectBatch){
		"a vector too many":  func(s *plan.SelectBatch) { s.Any(1<<32 - 1) },
		"a column too many":  func(s *plan.SelectBatch) { s.Any(); s.Check(99) },
		"AND of one set":     func(s *plan.SelectBatch) { s.Any(); s.Do(plan.StepAnd) },
		"NOT of none":        func(s *plan.SelectBatch) { s.Do(plan.StepNot) },
		"two sets":           func(s *plan.SelectBatch) { s.Any(); s.Any() },
		"an unknown step":    func(s *plan.SelectBatch) { s.Do(99) },
		"operands not there": func(s *plan.SelectBatch) { s.Steps = []plan.Step{{To: 1}} },
		"two selections":     func(s *plan.SelectBatch) { s.Any(); s.End(); s.Any() },
	} {
		var s plan.SelectBatch
		build(&s)
		s.End()
		if _, err := d.Adopt(&s); err == nil {
			t.Errorf("%s was adopted", name)
		}
	}
	if _, err := d.Adopt(new(plan.SelectBatch)); err == nil {
		t.Error("nothing was adopted")
	}
}
