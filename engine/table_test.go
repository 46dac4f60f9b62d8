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
	"heddle/engine/table/column"
	"heddle/engine/table/hdb"
	"heddle/engine/table/predicate"
)

// check compares rows with what the oracle selects for wheres.
func checkRows(t *testing.T, out *plan.Rows, opt TableOptions) {
	t.Helper()
	want := wanted()
	if !slices.Equal(out.Counts, want.Counts) {
		t.Errorf("%+v: %d rows, want %d", opt, out.Counts, want.Counts)
	}
	if opt.Output == plan.OutputBits && (out.Stride != want.Stride || !slices.Equal(out.Bits, want.Bits)) {
		t.Errorf("%+v: other rows than wanted", opt)
	}
}

// TestTable asks all predicates of a table from a file and of one in memory, of both
// sizes of words, with every strategy and output.
func TestTable(t *testing.T) {
	tables := []struct {
		file bool
		word int
	}{{true, 32}, {false, 64}, {true, 64}, {false, 32}}
	for _, of := range tables[:pick(4, 2)] {
		var x *Table
		var err error
		if of.file {
			x, err = OpenTable(t.Context(), tableFile(t, of.word), backendOptions(t))
		} else {
			tab, columns := inTable(t, of.word)
			x, err = NewTable(t.Context(), &tab.Table, columns, backendOptions(t))
		}
		closedTable(t, x, err)
		calls := []TableOptions{{}, {Output: plan.OutputCounts}, {Output: plan.OutputResident}}
		for _, s := range x.Strategies() {
			calls = append(calls, TableOptions{Strategy: s}, TableOptions{Strategy: s, Output: plan.OutputCounts, Rescan: true})
		}
		var out plan.Rows
		for _, opt := range calls {
			if err := x.Select(t.Context(), wheres, opt, &out); err != nil {
				t.Fatalf("%+v, %+v: %v", of, opt, err)
			}
			checkRows(t, &out, opt)
		}
		for i, w := range wheres[:4] {
			if n, err := x.Count(t.Context(), w); err != nil || n != uint64(wanted().Counts[i]) {
				t.Errorf("%s: %d rows, want %d: %v", w, n, wanted().Counts[i], err)
			}
		}
		if err := x.Select(t.Context(), nil, TableOptions{}, &out); err != nil || len(out.Counts) != 0 {
			t.Errorf("no predicates: %d counts, %v", len(out.Counts), err)
		}
		if x.Rows() != 5003 || len(x.Columns()) != 6 || x.Columns()[1].Encoding != column.Range || x.Memory() == 0 || x.Backend().Kind != backendOptions(t).Backend {
			t.Errorf("%d rows, columns %v on %+v", x.Rows(), x.Columns(), x.Backend())
		}
		if (x.File() != nil) != of.file {
			t.Errorf("%+v: file %v", of, x.File())
		}
	}
}

func TestPrepared(t *testing.T) {
	x, y := openTable(t, backendOptions(t)), openTable(t, Options{Backend: "host"})
	var prepared []*Prepared
	for _, w := range wheres {
		p, err := x.Prepare(w)
		if err != nil {
			t.Fatal(err)
		}
		prepared = append(prepared, p)
	}
	if p := prepared[0]; p.String() != wheres[0] || len(p.Plan().Tests) != 2 || p.Plan().Vectors == 0 {
		t.Errorf("%s: %+v", p, p.Plan())
	}
	var out plan.Rows
	for range 2 {
		if err := x.SelectPrepared(t.Context(), prepared, TableOptions{}, &out); err != nil {
			t.Fatal(err)
		}
		checkRows(t, &out, TableOptions{})
	}
	if err := y.SelectPrepared(t.Context(), prepared, TableOptions{}, &out); err == nil {
		t.Error("a predicate of another table was answered")
	}
	if _, err := x.Prepare("delay >"); err == nil {
		t.Error("half of a predicate was prepared")
	}
}

func TestTableErrors(t *testing.T) {
	x := openTable(t, backendOptions(t))
	var out plan.Rows
	for text, want := range map[string]string{
		"delay >=":     "column 9: a value is expected here",
		"dely = 1":     "column 1: unknown column \"dely\" (nearest: \"delay\")",
		"carrier >= 1": "column 12: column \"carrier\" is of type string",
	} {
		err := x.Select(t.Context(), []string{text}, TableOptions{}, &out)
		var syntax *predicate.SyntaxError
		if !errors.As(err, &syntax) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
		if err := x.Select(t.Context(), []string{"TRUE", text}, TableOptions{}, &out); err == nil || !strings.HasPrefix(err.Error(), "predicate 2: column") {
			t.Errorf("as the second one: %v", err)
		}
		if _, err := x.Explain(t.Context(), text, TableOptions{}); !errors.As(err, &syntax) {
			t.Errorf("Explain %s: %v", text, err)
		}
	}
	missing := plan.COA
	if !onHost() {
		missing = plan.Iterative
	}
	if err := x.Select(t.Context(), wheres, TableOptions{Strategy: missing}, &out); !errors.Is(err, plan.ErrUnsupported) {
		t.Errorf("a strategy that the backend has not: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := x.Select(ctx, wheres, TableOptions{}, &out); !errors.Is(err, context.Canceled) {
		t.Errorf("under a cancelled context: %v", err)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := x.Count(t.Context(), "TRUE"); !errors.Is(err, plan.ErrClosed) {
		t.Errorf("on a closed table: %v", err)
	}
	if _, err := x.Explain(t.Context(), "TRUE", TableOptions{}); !errors.Is(err, plan.ErrClosed) {
		t.Errorf("Explain on a closed table: %v", err)
	}
	if err := x.Close(); !errors.Is(err, plan.ErrClosed) {
		t.Errorf("a second close: %v", err)
	}
}

// TestNewTableErrors has columns that the table has not.
func TestNewTableErrors(t *testing.T) {
	tab, columns := inTable(t, 32)
	if _, err := NewTable(t.Context(), &tab.Table, columns[:5], Options{Backend: "host"}); err == nil {
		t.Error("a column is missing")
	}
	short := tab.Table
	short.Vectors = short.Vectors[:len(short.Vectors)-1]
	if _, err := NewTable(t.Context(), &short, columns, Options{Backend: "host"}); err == nil || !strings.Contains(err.Error(), `column "gate"`) {
		t.Errorf("a vector is missing: %v", err)
	}
	if _, err := NewTable(t.Context(), &tab.Table, columns, Options{Backend: "abacus"}); err == nil {
		t.Error("an unknown backend was opened")
	}
	empty := plantest.NewTable(0, 32)
	x, err := NewTable(t.Context(), &empty.Table, nil, backendOptions(t))
	closedTable(t, x, err)
	if n, err := x.Count(t.Context(), "TRUE"); n != 0 || err != nil {
		t.Errorf("a table of nothing: %d rows, %v", n, err)
	}
}

func TestOpenTableErrors(t *testing.T) {
	if _, err := OpenTable(t.Context(), filepath.Join(t.TempDir(), "none.hdb"), Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	path := tableFile(t, 32)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	flip(t, path, info.Size()/2)
	if _, err := OpenTable(t.Context(), path, backendOptions(t)); !errors.Is(err, hdb.ErrCorrupt) {
		t.Errorf("a damaged file: %v", err)
	}
	path = tableFile(t, 32)
	opt := backendOptions(t)
	opt.Trusted = true
	x, err := OpenTable(t.Context(), path, opt)
	closedTable(t, x, err)
	if n, err := x.Count(t.Context(), wheres[0]); err != nil || n != uint64(wanted().Counts[0]) {
		t.Errorf("trusted: %d rows, %v", n, err)
	}
}

// TestConcurrentSelect has many callers on one table, and a Close beside them.
func TestConcurrentSelect(t *testing.T) {
	x := openTable(t, backendOptions(t))
	var wg sync.WaitGroup
	for caller := range pick(8, 4) {
		wg.Go(func() {
			var out plan.Rows
			for i := range 5 {
				opt := TableOptions{Output: plan.Output((caller + i) % 2)}
				if err := x.Select(t.Context(), wheres, opt, &out); err != nil {
					t.Error(err)
					return
				}
				checkRows(t, &out, opt)
			}
		})
	}
	wg.Wait()
	for range 4 {
		wg.Go(func() {
			var out plan.Rows
			for {
				err := x.Select(t.Context(), wheres, TableOptions{}, &out)
				if errors.Is(err, plan.ErrClosed) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				checkRows(t, &out, TableOptions{})
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

// TestTableLeaks opens and closes tables, with batches and without.
func TestTableLeaks(t *testing.T) {
	path := tableFile(t, 32)
	cycle := func(i int) {
		x, err := OpenTable(t.Context(), path, backendOptions(t))
		if err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			var out plan.Rows
			if err := x.Select(t.Context(), wheres, TableOptions{}, &out); err != nil {
				t.Error(err)
			}
		}
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	}
	cycles, warm := 50, 3 // what libraries start once stays
	if !onHost() {
		cycles, warm = 2, 1 // each builds the kernels and tests the device
	}
	for i := range warm {
		cycle(i)
	}
	before := holding(t)
	for i := range cycles {
		cycle(i)
	}
	comeBack(t, before)
}
