package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"heddle/engine/failure"
	"heddle/engine/file/mapped"
	"heddle/engine/internal/handle"
	"heddle/engine/internal/limit"
	"heddle/engine/internal/pool"
	"heddle/engine/internal/tables"
	"heddle/engine/plan"
	"heddle/engine/table/column"
	"heddle/engine/table/predicate"
	"heddle/engine/table/result"
)

// TableOptions rule a table. The zero value is the default.
type TableOptions struct {
	// Trusted opens files without a check of their checksums.
	Trusted bool
	// Root is the folder of the file: see IndexOptions.Root.
	Root *os.Root
}

// OpenTable maps the table file at path, validates it and makes it resident on the
// processors of the engine. A folder of table files with equal columns is one table, of the rows of
// all files by their names: it is merged once for each state of the folder, and kept in the cache
// folder of heddle (HEDDLE_CACHE). Errors: codes NotFound, Corrupt, OutOfMemory if no processor
// has room, Closed.
func (e *Engine) OpenTable(ctx context.Context, path string, opt TableOptions) (*Table, error) {
	t, err := tables.OpenTable(ctx, e.pool, path, tables.Options(opt))
	if err != nil {
		return nil, failure.Wrap("open table", err)
	}
	return &Table{handle.New(t)}, nil
}

// NewTable makes a table in memory. columns describe its vectors and values; both must stay
// valid and unchanged until Close. Errors: code InvalidOption if columns and table do not agree, and
// the codes of OpenTable.
func (e *Engine) NewTable(ctx context.Context, t *plan.Table, columns []column.Column, opt TableOptions) (*Table, error) {
	if t == nil {
		return nil, failure.Invalid("new table", errors.New("the table is nil"))
	}
	d, err := tables.New(t, columns)
	if err != nil {
		return nil, failure.Invalid("new table", err)
	}
	x, err := tables.NewTable(ctx, e.pool, d, tables.Options(opt))
	if err != nil {
		return nil, failure.Wrap("new table", err)
	}
	return &Table{handle.New(x)}, nil
}

// Reload opens the table file at path beside the current one and answers all selections
// that arrive from then on from it. It returns when all earlier selections have ended and
// the old file is closed. It compares all checksums of the new file (code Corrupt), which
// opening leaves to the first use of each block. After an error the old file stays in use.
//
// A processor without room for both loads the new table after the old one is closed, and
// the other processors answer meanwhile. The error has code OutOfMemory if no processor has
// room for both.
func (t *Table) Reload(ctx context.Context, path string) error { return t.ReloadIn(ctx, nil, path) }

// ReloadIn is Reload with a path below root: see IndexOptions.Root.
func (t *Table) ReloadIn(ctx context.Context, root *os.Root, path string) error {
	return failure.Wrap("reload table", t.Internal().Reload(ctx, root, path))
}

// Close refuses further selections with code Closed, waits for running ones and releases
// the table and the file. A second Close returns code Closed.
func (t *Table) Close() error { return failure.Wrap("close table", t.Internal().Close()) }

// TableInfo describes the content of a table at a moment. It stays valid after Reload and Close.
type TableInfo struct {
	Rows       uint32
	Columns    []column.Column // they must not be changed
	Strategies []plan.Strategy // strategies that a processor with the table has, besides plan.StrategyAuto
	Resident   []Resident      // processors that have the table
	Path       string          // path of the table file or folder; empty for a table in memory
	Checksum   uint64          // checksum of the content of the file; 0 for a table in memory
}

// Info describes the current content of the table.
func (t *Table) Info() (info TableInfo, err error) {
	defer failure.Catch("table", &err)
	defer mapped.Catch(mapped.Watch(), &err)
	g, err := t.Internal().Acquire()
	if err != nil {
		return TableInfo{}, failure.Wrap("table", err)
	}
	defer g.Release()
	info = TableInfo{Rows: g.Table.Rows, Columns: g.Columns, Strategies: g.Strategies()}
	if g.File != nil {
		info.Path, info.Checksum = g.Data.Path, g.File.Checksum()
	}
	for _, p := range g.Processors() {
		info.Resident = append(info.Resident, Resident{Processor: p.Name, Reserve: p.Reserve, Info: p.Info, Bytes: g.Memory(p.Index), Reason: p.Reason})
	}
	return info, nil
}

// Prepared is a predicate that was compiled for a table, for use in many selections. After
// a Reload the next selection compiles it again. It is safe for concurrent use.
type Prepared struct{ p *tables.Prepared }

// Prepare compiles the predicate s.Where (package predicate). Caller and Timeout of s hold as
// in Select, its other fields have no effect. Errors: codes InvalidQuery, with the place of the
// fault, Unsupported for a predicate that needs too many sets of rows, Overloaded, Deadline,
// Canceled, Closed.
func (t *Table) Prepare(ctx context.Context, s Selection) (*Prepared, error) {
	call := s.call()
	p, err := t.Internal().Prepare(ctx, &call, s.Where)
	if err != nil {
		return nil, failure.Wrap("prepare", err)
	}
	return &Prepared{p}, nil
}

// PrepareSteps prepares the only selection of s, which names vectors and columns of the
// table. The error has code InvalidQuery.
func (t *Table) PrepareSteps(s *plan.SelectBatch) (*Prepared, error) {
	p, err := t.Internal().PrepareSteps(s)
	if err != nil && !errors.Is(err, plan.ErrClosed) {
		err = &Error{Code: InvalidQuery, Op: "prepare", Err: err}
	}
	if err != nil {
		return nil, failure.Wrap("prepare", err)
	}
	return &Prepared{p}, nil
}

// String returns the predicate in the form of predicate.Expr; empty after PrepareSteps.
func (p *Prepared) String() string { return p.p.Predicate().Text }

// Plan says which bins of which columns the predicate reads.
func (p *Prepared) Plan() predicate.Plan { return p.p.Predicate().Plan }

// Selection selects the rows of a table for which a predicate is true. It must not change
// while it runs.
type Selection struct {
	// Where is the predicate (package predicate).
	Where string
	// Prepared is a predicate of the same table in place of Where. Default: nil.
	Prepared *Prepared
	// In are the rows to select from, in the form of Rows.Bits; rows behind its end are not
	// selected. Package rowset makes it from row ids and Roaring bitmaps. Default: nil, all rows. A
	// TableExplanation counts the rows of the predicate, in In or not.
	In []uint64

	// Output: the rows and their number, or the number alone. Default: plan.OutputBits.
	Output plan.Output
	// Into is memory for Rows.Bits, which are copied to it, or to longer memory if it is too short. Default: nil,
	// Rows.Bits are on loan.
	Into []uint64
	// Strategy of the OR of vectors. Default: plan.StrategyAuto, the choice of the processor.
	// A strategy restricts the selection to processors that have it.
	Strategy plan.Strategy
	// Rescan repeats the scans of strategies that decompress: see plan.SelectBatch.Rescan.
	Rescan bool

	// Caller names the client. Callers share the processors evenly. Default: "", one caller.
	Caller string
	// Timeout of the selection. Default: 0, Options.Timeout; negative: none.
	Timeout time.Duration
	// Explain receives the way of the selection through the engine, unless nil.
	Explain *TableExplanation
}

// Select answers one selection. The memory of the answer is on loan until Rows.Release, unless s.Into is set. A steady
// state of prepared predicates that releases its rows allocates nothing in pure Go, and no memory for rows on devices.
//
// Errors: codes InvalidQuery (with the place of the fault, or a predicate that another table has
// prepared), InvalidOption, Unsupported (a strategy that no processor has), Overloaded, Deadline,
// Canceled, NoDevice, Closed.
func (t *Table) Select(ctx context.Context, s Selection) (r Rows, err error) {
	defer failure.Catch("select", &err)
	defer mapped.Catch(mapped.Watch(), &err)
	g, err := t.Internal().Acquire()
	if err != nil {
		return Rows{}, failure.Wrap("select", err)
	}
	defer g.Release()
	call := s.call()
	until := g.Until(ctx, &call)
	r, err = selectRows(ctx, g, &s, &until, nil, nil)
	return r, failure.Wrap("select", err)
}

// selectRows answers one selection. A device may measure the groups of q, or find the first rows of an order, in place of the
// rows: q has their Cells or Candidates then. Default of q and of the order: nil, none.
func selectRows(ctx context.Context, g *tables.Generation, s *Selection, until *limit.Until, q *result.Query, order *plan.Order) (r Rows, err error) {
	call := s.call()
	call.Deadline = until.Deadline
	task := g.NewTask(s.needs(), s.Strategy, s.Rescan)
	task.Borrow()
	var e explaining
	defer func() {
		if r.loan == (tables.Loan{}) {
			task.Done(err)
		}
	}()
	if err = e.add(g, task, s, until); err == nil {
		if q != nil && q.Grouped && s.In == nil && !q.Multivalued() {
			task.Measure(&q.Aggregation)
		}
		if order != nil && s.In == nil {
			task.First(order)
		}
		err = e.run(ctx, task, &call)
		e.explain(task, s, 0, err)
	}
	if err != nil {
		return Rows{}, err
	}
	if r = s.answer(task.Rows(), 0); q != nil {
		q.Cells, q.Candidates = task.Cells(), task.Candidates()
	}
	if s.Output == plan.OutputBits {
		if r.Bits = s.bits(task, 0); s.Into == nil {
			r.loan = task.Loan()
		}
	}
	return r, nil
}

// bits returns the rows of selection i of a task: a view, or a copy in s.Into.
func (s *Selection) bits(task *tables.Task, i int) []uint64 {
	bits := task.Rows().Selection(i)
	if s.Into != nil {
		return append(s.Into[:0], bits...)
	}
	if bits == nil {
		return []uint64{}
	}
	return bits
}

const (
	mostSelections = 1 << 16 // greatest number of selections of a batch
	mostSelected   = 1 << 29 // greatest number of rows of all selections of a batch that returns bits
)

// rowBlocks reuses the answers that SelectAll delivers.
var rowBlocks = sync.Pool{New: func() any { return new([]Rows) }}

// SelectAll answers many selections in batches and passes the answers of consecutive selections to
// deliver, in their order: rows[i] is the answer of selection first+i. The rows are views that are
// valid during the call, unless Into is set. SelectAll stops at the first error, an error of deliver included; it names
// the index of a selection at fault. A call holds a bounded number of rows. A steady state of
// prepared predicates allocates nothing.
//
// Consecutive selections with equal Output, Strategy and Rescan form batches. Caller and
// Timeout of the first selection of a batch hold for the batch. All selections are answered
// from one file.
func (t *Table) SelectAll(ctx context.Context, all []Selection, deliver func(first int, rows []Rows) error) (err error) {
	defer failure.Catch("select", &err)
	defer mapped.Catch(mapped.Watch(), &err)
	g, err := t.Internal().Acquire()
	if err != nil {
		return failure.Wrap("select", err)
	}
	defer g.Release()
	for first := 0; first < len(all); {
		n := batchOf(g, all[first:])
		if err := selectBatch(ctx, g, all, first, n, deliver); err != nil {
			return failure.Wrap("select", err)
		}
		first += n
	}
	return nil
}

// batchOf is the number of leading selections that form a batch.
func batchOf(g *tables.Generation, all []Selection) int {
	most := mostSelections
	if all[0].needs() == plan.OutputBits {
		most = min(most, max(1, int(mostSelected/(uint64(g.Table.Rows)+1))))
	}
	for n := 1; n < len(all); n++ {
		if a, b := &all[0], &all[n]; n == most || a.needs() != b.needs() || a.Strategy != b.Strategy || a.Rescan != b.Rescan {
			return n
		}
	}
	return len(all)
}

func selectBatch(ctx context.Context, g *tables.Generation, all []Selection, first, n int, deliver func(first int, rows []Rows) error) (err error) {
	batch, s := all[first:first+n], &all[first]
	task := g.NewTask(s.needs(), s.Strategy, s.Rescan)
	task.Borrow()
	defer func() { task.Done(err) }()
	call := s.call()
	until := g.Until(ctx, &call)
	var e explaining
	for i := range batch {
		if err = e.add(g, task, &batch[i], &until); err != nil && len(all) > 1 {
			return fmt.Errorf("selections[%d]: %w", first+i, err)
		} else if err != nil {
			return err
		}
	}
	call.Deadline = until.Deadline
	err = e.run(ctx, task, &call)
	for i := range batch {
		e.explain(task, &batch[i], i, err)
	}
	if err != nil {
		return err
	}
	rows := rowBlocks.Get().(*[]Rows)
	defer rowBlocks.Put(rows)
	*rows = (*rows)[:0]
	for i := range batch {
		r := batch[i].answer(task.Rows(), i)
		if batch[i].Output == plan.OutputBits {
			r.Bits = batch[i].bits(task, i)
		}
		*rows = append(*rows, r)
	}
	err = deliver(first, *rows)
	clear(*rows)
	return err
}

// call returns the caller of the selection and how it runs.
func (s *Selection) call() pool.Call { return pool.Call{Caller: s.Caller, Timeout: s.Timeout} }
