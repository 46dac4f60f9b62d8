package engine

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/engine/plan/testneeds"
	"heddle/engine/syntax"
	"heddle/engine/table/column"
	"heddle/engine/table/hdb"
)

// TestTable asks all predicates of a table from a file and of one in memory, of both
// sizes of words, with every strategy and output.
func TestTable(t *testing.T) {
	testneeds.OneCaller(t)
	e := tableEngine(t, backendOptions(t))
	tables := []struct {
		file bool
		word int
	}{{true, 32}, {false, 64}, {true, 64}, {false, 32}}
	for _, of := range tables[:pick(4, 2)] {
		var x *Table
		if of.file {
			var err error
			if x, err = e.OpenTable(t.Context(), tableFile(t, of.word), TableOptions{}); err != nil {
				t.Fatal(err)
			}
		} else {
			x = memoryTable(t, e, of.word)
		}
		info, err := x.Info()
		if err != nil {
			t.Fatal(err)
		}
		calls := []Selection{{}, {Output: plan.OutputCounts}, {Output: plan.OutputResident}}
		for _, s := range info.Strategies {
			calls = append(calls, Selection{Strategy: s}, Selection{Strategy: s, Output: plan.OutputCounts, Rescan: true})
		}
		for _, s := range calls {
			checkAll(t, x, s)
		}
		for i := range wheres[:4] {
			checkOne(t, x, Selection{}, i)
			checkOne(t, x, Selection{Output: plan.OutputCounts}, i)
		}
		if err := x.SelectAll(t.Context(), nil, nil); err != nil {
			t.Errorf("no predicates: %v", err)
		}
		if info.Rows != 5003 || len(info.Columns) != 6 || info.Columns[1].Encoding != column.Range || (info.Path != "") != of.file || (info.Checksum != 0) != of.file ||
			len(info.Resident) != 1 || info.Resident[0].Bytes == 0 || info.Resident[0].Info.Kind != backendOptions(t).Backend {
			t.Errorf("%+v: %+v", of, info)
		}
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestSelectAll mixes kinds of selections in one call.
func TestSelectAll(t *testing.T) {
	testneeds.OneCaller(t)
	x := openTable(t, backendOptions(t))
	var all []Selection
	for i := range 40 {
		all = append(all, Selection{Where: wheres[i%len(wheres)], Output: plan.Output(i / 3 % 2)})
	}
	next, calls, want := 0, 0, wanted()
	if err := x.SelectAll(t.Context(), all, func(first int, rows []Rows) error {
		if first != next {
			t.Errorf("answers from %d, want %d", first, next)
		}
		for k, r := range rows {
			i := (first + k) % len(wheres)
			if r.Count != uint64(want.Counts[i]) || (r.Bits != nil) != (all[first+k].Output == plan.OutputBits) ||
				r.Bits != nil && !slices.Equal(r.Bits, want.Selection(i)) {
				t.Errorf("selection %d: %d rows, want %d", first+k, r.Count, want.Counts[i])
			}
		}
		next += len(rows)
		calls++
		return nil
	}); err != nil || next != len(all) || calls != 14 {
		t.Errorf("%d answers in %d calls: %v", next, calls, err)
	}
	stop := errors.New("stop")
	calls = 0
	if err := x.SelectAll(t.Context(), all, func(int, []Rows) error { calls++; return stop }); !errors.Is(err, stop) || calls != 1 {
		t.Errorf("%d calls, %v", calls, err)
	}
}

func TestPrepared(t *testing.T) {
	testneeds.OneCaller(t)
	e := tableEngine(t, backendOptions(t))
	x, y := memoryTable(t, e, 32), memoryTable(t, e, 64)
	var prepared []Selection
	for _, w := range wheres {
		p, err := x.Prepare(t.Context(), Selection{Where: w})
		if err != nil {
			t.Fatal(err)
		}
		prepared = append(prepared, Selection{Prepared: p})
	}
	if p := prepared[0].Prepared; p.String() != wheres[0] || len(p.Plan().Tests) != 2 || p.Plan().Tests[0].Checked == 0 {
		t.Errorf("%s: %+v", p, p.Plan())
	}
	want := wanted()
	for range 2 {
		out, err := selectAll(t.Context(), x, prepared)
		if err != nil || !slices.Equal(out.Counts, want.Counts) || !slices.Equal(out.Bits, want.Bits) {
			t.Errorf("%d rows, want %d: %v", out.Counts, want.Counts, err)
		}
	}
	if _, err := y.Select(t.Context(), prepared[0]); err == nil {
		t.Error("a predicate of another table was answered")
	}
	if _, err := x.Prepare(t.Context(), Selection{Where: "delay >"}); CodeOf(err) != InvalidQuery {
		t.Errorf("half of a predicate was prepared: %v", err)
	}
	var s plan.SelectBatch
	s.Any(0, 1)
	s.Any(1)
	s.Do(plan.StepAnd)
	s.End()
	p, err := x.PrepareSteps(&s)
	if err != nil {
		t.Fatal(err)
	}
	s.Reset()
	var one plan.SelectBatch
	one.Any(1)
	one.End()
	q, err := x.PrepareSteps(&one)
	if err != nil {
		t.Fatal(err)
	}
	a, err := x.Select(t.Context(), Selection{Prepared: p})
	b, err2 := x.Select(t.Context(), Selection{Prepared: q})
	if err != nil || err2 != nil || a.Count == 0 || a.Count != b.Count || !slices.Equal(a.Bits, b.Bits) {
		t.Errorf("steps by hand: %d and %d rows: %v, %v", a.Count, b.Count, err, err2)
	}
	if _, err := x.PrepareSteps(&s); CodeOf(err) != InvalidQuery {
		t.Errorf("no steps: %v", err)
	}
}

func TestTableErrors(t *testing.T) {
	testneeds.OneCaller(t)
	x := openTable(t, backendOptions(t))
	for text, want := range map[string]string{
		"delay >=":     "column 9: a value is expected here",
		"dely = 1":     "column 1: unknown column \"dely\" (nearest: \"delay\")",
		"carrier >= 1": "column 12: column \"carrier\" is of type string",
	} {
		_, err := x.Select(t.Context(), Selection{Where: text, Explain: new(TableExplanation)})
		var syntax *syntax.Error
		if !errors.As(err, &syntax) || !strings.HasPrefix(err.Error(), want) || CodeOf(err) != InvalidQuery {
			t.Errorf("%s: %v", text, err)
		}
		if _, err := selectAll(t.Context(), x, selections(Selection{}, "TRUE", text)); err == nil || !strings.HasPrefix(err.Error(), "selections[1]: column") {
			t.Errorf("as the second one: %v", err)
		}
	}
	missing := plan.COA
	if !onHost() {
		missing = plan.Iterative
	}
	if _, err := x.Select(t.Context(), Selection{Where: "TRUE", Strategy: missing}); !errors.Is(err, plan.ErrUnsupported) || CodeOf(err) != Unsupported {
		t.Errorf("a strategy that the backend lacks: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := x.Select(ctx, Selection{Where: "TRUE"}); !errors.Is(err, context.Canceled) || CodeOf(err) != Canceled {
		t.Errorf("under a cancelled context: %v", err)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := x.Select(t.Context(), Selection{Where: "TRUE"})
	_, err2 := x.Info()
	_, err3 := x.Prepare(t.Context(), Selection{Where: "TRUE"})
	for _, err := range []error{err, err2, err3, x.Close(), x.Reload(t.Context(), tableFile(t, 32)), x.SelectAll(t.Context(), nil, nil)} {
		if !errors.Is(err, plan.ErrClosed) || CodeOf(err) != Closed {
			t.Errorf("on a closed table: %v", err)
		}
	}
}

// TestNewTableErrors has columns that the table lacks.
func TestNewTableErrors(t *testing.T) {
	testneeds.OneCaller(t)
	e := tableEngine(t, backendOptions(t))
	tab, columns := inTable(t, 32)
	if _, err := e.NewTable(t.Context(), &tab.Table, columns[:5], TableOptions{}); err == nil {
		t.Error("a column is missing")
	}
	empty := plantest.NewTable(0, 32)
	x, err := e.NewTable(t.Context(), &empty.Table, nil, TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := x.Select(t.Context(), Selection{Where: "TRUE"}); r.Count != 0 || err != nil {
		t.Errorf("a table of nothing: %d rows, %v", r.Count, err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := e.NewTable(t.Context(), &tab.Table, columns, TableOptions{}); CodeOf(err) != Closed {
		t.Errorf("on a closed engine: %v", err)
	}
	if _, err := x.Select(t.Context(), Selection{Where: "TRUE"}); CodeOf(err) != Closed {
		t.Errorf("a table of a closed engine: %v", err)
	}
}

func TestOpenTableErrors(t *testing.T) {
	testneeds.OneCaller(t)
	e := tableEngine(t, backendOptions(t))
	if _, err := e.OpenTable(t.Context(), filepath.Join(t.TempDir(), "none.hdb"), TableOptions{}); !errors.Is(err, fs.ErrNotExist) || CodeOf(err) != NotFound {
		t.Errorf("a file that is not there: %v", err)
	}
	path := tableFile(t, 32)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := hdb.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	sections := f.Sections()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for _, s := range sections {
		data[s.Offset] ^= 1
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		data[s.Offset] ^= 1
		x, err := e.OpenTable(t.Context(), path, TableOptions{})
		if lazy := s.Name == "vectors" || s.Name == "slices"; lazy && err == nil { // each selection reads some of them
			var r Rows
			for i := 0; i < len(wheres) && err == nil; i++ {
				if r, err = x.Select(t.Context(), Selection{Where: wheres[i]}); err == nil && r.Count != uint64(wanted().Counts[i]) {
					t.Errorf("%s: %d rows of a damaged file, want %d", wheres[i], r.Count, wanted().Counts[i])
				}
			}
		}
		if !errors.Is(err, hdb.ErrCorrupt) || CodeOf(err) != Corrupt {
			t.Errorf("damage in section %s: %v", s.Name, err)
		}
		if x != nil {
			if err := x.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if maps, err := os.ReadFile("/proc/self/maps"); err == nil && strings.Contains(string(maps), path) { // Linux alone
			t.Errorf("section %s: the file is still mapped", s.Name)
		}
	}
	x, err := e.OpenTable(t.Context(), tableFile(t, 32), TableOptions{Trusted: true})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close() // before the file is removed
	checkOne(t, x, Selection{}, 0)
}

// TestConcurrentSelect has many callers on one table, and a Close beside them.
func TestConcurrentSelect(t *testing.T) {
	x := openTable(t, backendOptions(t))
	var wg sync.WaitGroup
	for caller := range pick(8, 4) {
		wg.Go(func() {
			for i := range 5 {
				checkAll(t, x, Selection{Output: plan.Output((caller + i) % 2)})
				checkOne(t, x, Selection{}, (caller+i)%len(wheres))
			}
		})
	}
	wg.Wait()
	for range 4 {
		wg.Go(func() {
			for {
				_, err := selectAll(t.Context(), x, selections(Selection{}, wheres...))
				if CodeOf(err) == Closed {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Go(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	wg.Wait()
}
