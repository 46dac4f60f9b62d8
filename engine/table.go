package engine

import (
	"context"
	"errors"

	"heddle/engine/internal/tables"
	"heddle/engine/plan"
	"heddle/engine/table/column"
	"heddle/engine/table/hdb"
	"heddle/engine/table/predicate"
)

// TableOptions rule a table. The zero value is the default.
type TableOptions struct {
	// Trusted opens files without a check of their checksums.
	Trusted bool
}

// Table selects rows of a bitmap table. It is safe for concurrent use. Reload changes the
// file while selections run; each selection is answered from one file as a whole.
//
// A table is resident on every processor of its engine that has room for it. If there are
// several, OpenTable measures their costs on the table's own vectors, for tens of
// milliseconds each. A selection runs on the processor that should answer it first, pure Go
// in reserve included. The run times of selections correct the estimates.
type Table struct{ t *tables.Table }

// OpenTable maps the table file at path, validates it and makes it resident on the
// processors of the engine. Errors: codes NotFound, Corrupt, OutOfMemory if no processor
// has room, Closed.
func (e *Engine) OpenTable(ctx context.Context, path string, opt TableOptions) (*Table, error) {
	t, err := tables.OpenTable(ctx, e.pool, path, tables.Options(opt))
	if err != nil {
		return nil, wrap("open table", err)
	}
	return &Table{t}, nil
}

// NewTable makes a table in memory. columns describe its vectors and values; both must stay
// valid and unchanged until Close.
func (e *Engine) NewTable(ctx context.Context, t *plan.Table, columns []column.Column, opt TableOptions) (*Table, error) {
	x, err := tables.NewTable(ctx, e.pool, t, columns, tables.Options(opt))
	if err != nil {
		return nil, wrap("new table", err)
	}
	return &Table{x}, nil
}

// Reload opens the table file at path beside the current one and answers all selections
// that arrive from then on from it. It returns when all earlier selections have ended and
// the old file is closed. After an error the old file stays in use.
//
// A processor without room for both loads the new table after the old one is closed, and
// the other processors answer meanwhile. The error has code OutOfMemory if no processor has
// room for both.
func (t *Table) Reload(ctx context.Context, path string) error {
	return wrap("reload table", t.t.Reload(ctx, path))
}

// Close refuses further selections with code Closed, waits for running ones and releases
// the table and the file. A second Close returns code Closed.
func (t *Table) Close() error { return wrap("close table", t.t.Close()) }

// TableInfo describes a table.
type TableInfo struct {
	Rows       uint32
	Columns    []column.Column // they must not be changed
	Strategies []plan.Strategy // of all processors together, besides plan.StrategyAuto
	Resident   []Resident      // processors that have the table
	// File is nil for a table in memory. Reload and Close close it.
	File *hdb.File
}

// Info describes the current content of the table.
func (t *Table) Info() (TableInfo, error) {
	g, err := t.t.Acquire()
	if err != nil {
		return TableInfo{}, wrap("table", err)
	}
	defer g.Release()
	info := TableInfo{Rows: g.Table.Rows, Columns: g.Columns, Strategies: g.Strategies(), File: g.File}
	for _, p := range g.Processors() {
		info.Resident = append(info.Resident, Resident{Processor: p.Name, Reserve: p.Reserve, Info: p.Info, Bytes: g.Memory(p.Index), Reason: p.Reason})
	}
	return info, nil
}

// Prepared is a predicate that was compiled for a table, for use in many selections. After
// a Reload the next selection compiles it again. It is safe for concurrent use.
type Prepared struct{ p *tables.Prepared }

// Prepare compiles a predicate (package predicate). Errors: codes InvalidQuery, with the
// place of the fault, and Unsupported for a predicate that needs too many sets of rows.
func (t *Table) Prepare(where string) (*Prepared, error) {
	p, err := t.t.Prepare(where)
	if err != nil {
		return nil, wrap("prepare", err)
	}
	return &Prepared{p}, nil
}

// PrepareSteps prepares the only selection of s, whose vectors and columns are those of the
// table. The error has code InvalidQuery.
func (t *Table) PrepareSteps(s *plan.SelectBatch) (*Prepared, error) {
	p, err := t.t.PrepareSteps(s)
	if err != nil && !errors.Is(err, plan.ErrClosed) {
		err = &Error{Code: InvalidQuery, Op: "prepare", Err: err}
	}
	if err != nil {
		return nil, wrap("prepare", err)
	}
	return &Prepared{p}, nil
}

// String returns the predicate in the form of predicate.Expr; empty after PrepareSteps.
func (p *Prepared) String() string { return p.p.Predicate().Text }

// Plan says which bins of which columns the predicate reads.
func (p *Prepared) Plan() predicate.Plan { return p.p.Predicate().Plan }
