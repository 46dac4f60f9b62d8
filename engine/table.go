package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"heddle/engine/plan"
	"heddle/engine/table/column"
	"heddle/engine/table/hdb"
	"heddle/engine/table/predicate"
)

// Table answers predicates on the columns of a bitmap table (package predicate says
// which there are). It is safe for concurrent use; Close waits for what is running.
//
// With Options.Backend auto and an OpenCL device, the table lives on the device and on
// the host, and a batch goes where it is estimated to be answered sooner: with the first
// batch, what both take for ORs of the table's own vectors is measured, for some tens of
// milliseconds each; what batches take then corrects it. Explain shows the estimates.
type Table struct {
	file    *hdb.File // nil for a table made by NewTable
	t       *plan.Table
	columns []column.Column
	opt     Options

	resident[plan.TableStore] // spare is the host beside a device

	fitting    chan struct{} // held by who measures costs
	costs      atomic.Pointer[costs]
	vectorRows []float64 // how many rows each vector has

	batches sync.Pool // *plan.SelectBatch

	open   sync.RWMutex // held for reading by every call, for writing by Close
	closed bool
}

// TableOptions vary from call to call. The zero value asks for the rows and their
// number, by the strategy that the backend takes.
type TableOptions struct {
	Output   plan.Output
	Strategy plan.Strategy
	Rescan   bool // plan.SelectBatch.Rescan
}

// OpenTable maps the table file at path, validates it and makes it resident on the
// backends that opt chooses. Errors: hdb.ErrCorrupt for a damaged file,
// plan.ErrNoDevice when nothing matches opt.
func OpenTable(ctx context.Context, path string, opt Options) (*Table, error) {
	open := hdb.Open
	if opt.Trusted {
		open = hdb.OpenTrusted
	}
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	t, err := NewTable(ctx, f.Table(), f.Columns(), opt)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	t.file = f
	return t, nil
}

// NewTable makes a table in memory. Its vectors and columns are described by columns;
// both must stay valid and unchanged until Close.
func NewTable(ctx context.Context, t *plan.Table, columns []column.Column, opt Options) (*Table, error) {
	if err := checkColumns(t, columns); err != nil {
		return nil, err
	}
	x := &Table{t: t, columns: columns, opt: opt, fitting: make(chan struct{}, 1)}
	x.batches.New = func() any { return new(plan.SelectBatch) }
	x.vectorRows = vectorRows(t, columns)
	if err := x.start(ctx); err != nil {
		return nil, err
	}
	return x, nil
}

// checkColumns checks that t has what columns name.
func checkColumns(t *plan.Table, columns []column.Column) error {
	if len(columns) != len(t.Columns) {
		return fmt.Errorf("engine: %d columns are described, the table has the values of %d", len(columns), len(t.Columns))
	}
	for i := range columns {
		c := &columns[i]
		if end := uint64(c.Vector) + uint64(c.Vectors()); end > uint64(len(t.Vectors)) {
			return fmt.Errorf("engine: column %q has vectors up to %d, the table has %d", c.Name, end, len(t.Vectors))
		}
	}
	return t.Validate()
}

func (t *Table) start(ctx context.Context) error {
	log := t.opt.logger()
	list, err := t.opt.candidates(log)
	if err != nil {
		return err
	}
	t.what = "table"
	t.load = func(ctx context.Context, b plan.Backend) (plan.TableStore, error) { return b.LoadTable(ctx, t.t) }
	if n := len(list) - 1; n > 0 && list[n].host {
		// It makes what it keeps of a vector when it first needs it: most batches go to
		// the device.
		opt := t.opt
		opt.Lazy = true
		if t.spare, err = t.resident.open(ctx, hostCandidate(opt)); err != nil {
			return err
		}
		list = list[:n]
	}
	if err := t.begin(ctx, list, log); err != nil {
		return errors.Join(err, t.close())
	}
	return nil
}

// Columns describes the columns. They must not be changed.
func (t *Table) Columns() []column.Column { return t.columns }

// Rows is the number of rows.
func (t *Table) Rows() uint32 { return t.t.Rows }

// File is the table file, nil for a table made by NewTable. It is closed by Close.
func (t *Table) File() *hdb.File { return t.file }

// Backend describes where batches run now: with a choice between a device and the host,
// the device.
func (t *Table) Backend() plan.Info { return t.active.Load().info }

// Strategies that Backend has, besides plan.StrategyAuto.
func (t *Table) Strategies() []plan.Strategy { return t.active.Load().store.Strategies() }

// Memory is what the table occupies there, in bytes.
func (t *Table) Memory() uint64 { return t.active.Load().store.Memory() }

// Select selects the rows for which each of the predicates is true, in one batch. out
// is the caller's and is reused. A predicate that is wrong is a *predicate.SyntaxError;
// a strategy that no backend of the table has is a plan.ErrUnsupported.
func (t *Table) Select(ctx context.Context, where []string, opt TableOptions, out *plan.Rows) error {
	s := t.batches.Get().(*plan.SelectBatch)
	defer t.batches.Put(s)
	s.Reset()
	for i, text := range where {
		if _, err := t.compile(text, s); err != nil && len(where) > 1 {
			return fmt.Errorf("predicate %d: %w", i+1, err)
		} else if err != nil {
			return err
		}
	}
	s.Output, s.Strategy, s.Rescan = opt.Output, opt.Strategy, opt.Rescan
	return t.Run(ctx, s, out)
}

// Count is the number of rows for which a predicate is true.
func (t *Table) Count(ctx context.Context, where string) (uint64, error) {
	var out plan.Rows
	if err := t.Select(ctx, []string{where}, TableOptions{Output: plan.OutputCounts}, &out); err != nil {
		return 0, err
	}
	return uint64(out.Counts[0]), nil
}

// compiled is a predicate and what its selection does.
type compiled struct {
	expr predicate.Expr
	plan predicate.Plan
}

// compile appends the selection of a predicate.
func (t *Table) compile(text string, s *plan.SelectBatch) (compiled, error) {
	e, err := predicate.Parse(text)
	if err != nil {
		return compiled{}, err
	}
	p, err := predicate.Compile(e, t.columns, t.t.Rows, s)
	return compiled{e, p}, err
}

// Run answers a batch of selections of rows, which are put together by hand. Their
// vectors and columns are those of the table's Columns.
func (t *Table) Run(ctx context.Context, s *plan.SelectBatch, out *plan.Rows) error {
	t.open.RLock()
	defer t.open.RUnlock()
	_, err := t.run(ctx, s, out)
	return err
}

// run runs s and gives where it ran. The caller holds open.
func (t *Table) run(ctx context.Context, s *plan.SelectBatch, out *plan.Rows) (*running[plan.TableStore], error) {
	if t.closed {
		return nil, plan.ErrClosed
	}
	var w work
	r, c, err := t.choose(ctx, s, &w)
	if err != nil {
		return nil, err
	}
	if r == t.spare {
		err = r.store.Select(ctx, s, out)
	} else {
		err = t.try(ctx, func(b plan.TableStore) error { return b.Select(ctx, s, out) })
		if now := t.active.Load(); now != r { // it went on elsewhere
			r, c = now, nil
		}
	}
	if c != nil && err == nil {
		c.learn(&w, r == t.spare, out.Stats.Wall)
	}
	return r, err
}

// Close releases stores, backends and the file. Calls after it, and a second Close,
// give plan.ErrClosed.
func (t *Table) Close() error {
	t.open.Lock()
	defer t.open.Unlock()
	if t.closed {
		return plan.ErrClosed
	}
	t.closed = true
	err := t.close()
	if t.file != nil {
		err = errors.Join(err, t.file.Close())
	}
	return err
}
