package engine

import (
	"context"
	"fmt"
	"sync"
	"time"

	"heddle/engine/internal/serve"
	"heddle/engine/internal/tables"
	"heddle/engine/plan"
)

// Selection selects the rows of a table for which a predicate is true. It must not change
// while it runs.
type Selection struct {
	// Where is the predicate (package predicate).
	Where string
	// Prepared is a predicate of the same table in place of Where. Default: nil.
	Prepared *Prepared

	// Output: the rows and their number, or the number alone. Default: plan.OutputBits.
	Output plan.Output
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

// Rows is the answer of a selection.
type Rows struct {
	Count uint64
	// Bits has the rows, with plan.OutputBits: row r is bit r%64 of word r/64. Else it is nil.
	Bits []uint64
}

// Select answers one selection. The caller owns the memory of the answer.
//
// Errors: codes InvalidQuery, with the place of the fault, Unsupported (a strategy that no
// processor has), Overloaded, Deadline, Canceled, NoDevice, Closed.
func (t *Table) Select(ctx context.Context, s Selection) (Rows, error) {
	g, err := t.t.Acquire()
	if err != nil {
		return Rows{}, wrap("select", err)
	}
	defer g.Release()
	task := g.NewTask(s.Output, s.Strategy, s.Rescan)
	var e explaining
	defer func() { task.Done(err) }()
	if err = e.add(g, task, &s); err == nil {
		err = e.run(ctx, task, &s)
		e.explain(task, &s, 0, err)
	}
	if err != nil {
		return Rows{}, wrap("select", err)
	}
	r := Rows{Count: uint64(task.Rows().Counts[0])}
	if s.Output == plan.OutputBits {
		r.Bits = task.TakeBits()
	}
	return r, nil
}

const (
	mostSelections = 1 << 16 // of a batch
	mostSelected   = 1 << 29 // rows of a batch that returns bits
)

// rowBlocks reuses the answers that SelectAll delivers.
var rowBlocks = sync.Pool{New: func() any { return new([]Rows) }}

// SelectAll answers many selections in batches and passes the answers of consecutive
// selections to deliver, in their order: rows[i] is the answer of selection first+i. The
// rows are views that are valid during the call. SelectAll stops at the first error, an
// error of deliver included. A call holds a bounded number of rows. A steady state of
// prepared predicates allocates nothing.
//
// Consecutive selections with equal Output, Strategy and Rescan form batches. Caller and
// Timeout of the first selection of a batch hold for the batch. All selections are answered
// from one file.
func (t *Table) SelectAll(ctx context.Context, all []Selection, deliver func(first int, rows []Rows) error) error {
	g, err := t.t.Acquire()
	if err != nil {
		return wrap("select", err)
	}
	defer g.Release()
	for first := 0; first < len(all); {
		n := batchOf(g, all[first:])
		if err := selectBatch(ctx, g, all, first, n, deliver); err != nil {
			return wrap("select", err)
		}
		first += n
	}
	return nil
}

// batchOf is the number of leading selections that form a batch.
func batchOf(g *tables.Generation, all []Selection) int {
	most := mostSelections
	if all[0].Output == plan.OutputBits {
		most = min(most, max(1, int(mostSelected/(uint64(g.Table.Rows)+1))))
	}
	for n := 1; n < len(all); n++ {
		if a, b := &all[0], &all[n]; n == most || a.Output != b.Output || a.Strategy != b.Strategy || a.Rescan != b.Rescan {
			return n
		}
	}
	return len(all)
}

func selectBatch(ctx context.Context, g *tables.Generation, all []Selection, first, n int, deliver func(first int, rows []Rows) error) (err error) {
	batch, s := all[first:first+n], &all[first]
	task := g.NewTask(s.Output, s.Strategy, s.Rescan)
	defer func() { task.Done(err) }()
	var e explaining
	for i := range batch {
		if err = e.add(g, task, &batch[i]); err != nil && len(all) > 1 {
			return fmt.Errorf("predicate %d: %w", first+i+1, err)
		} else if err != nil {
			return err
		}
	}
	err = e.run(ctx, task, s)
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
		r := Rows{Count: uint64(task.Rows().Counts[i])}
		if s.Output == plan.OutputBits {
			r.Bits = task.Rows().Selection(i)
		}
		*rows = append(*rows, r)
	}
	err = deliver(first, *rows)
	clear(*rows)
	return err
}

// call says for whom and how the selection runs.
func (s *Selection) call() serve.Call { return serve.Call{Caller: s.Caller, Timeout: s.Timeout} }
