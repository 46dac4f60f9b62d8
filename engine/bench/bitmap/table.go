package bitmap

import (
	"context"
	"errors"

	"heddle/engine"
	"heddle/engine/bench/harness"
	"heddle/engine/plan"
	"heddle/engine/table/column"
)

// table is a table under test, with an engine of its own. Benchmarks use the tables of the
// engine only through it.
type table struct {
	e *engine.Engine
	t *engine.Table
}

// openTable opens a table on one contestant.
func (s *bench) openTable(ctx context.Context, who harness.Contestant, t *plan.Table, columns []column.Column) (*table, error) {
	if who.Device == nil {
		return newTable(ctx, t, columns, engine.Options{Backend: who.Name, Threads: s.Opt.Threads})
	}
	b, err := s.Backend(ctx, who, harness.Alone)
	if err != nil {
		return nil, err
	}
	return newTable(ctx, t, columns, engine.Options{Backends: []plan.Backend{b}})
}

// openAuto opens a table that chooses backend and strategy for each query.
func (s *bench) openAuto(ctx context.Context, t *plan.Table, columns []column.Column) (*table, error) {
	opt := engine.Options{Backend: s.Opt.Backend, Device: s.Opt.Device}
	if opt.Backend != "opencl" {
		opt.Threads = s.Opt.Threads
	}
	return newTable(ctx, t, columns, opt)
}

func newTable(ctx context.Context, t *plan.Table, columns []column.Column, opt engine.Options) (*table, error) {
	e, err := engine.New(ctx, opt)
	if err != nil {
		return nil, err
	}
	x, err := e.NewTable(ctx, t, columns, engine.TableOptions{})
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return &table{e, x}, nil
}

// count returns the rows of each predicate, given as text.
func (t *table) count(ctx context.Context, where []string, out *plan.Rows) error {
	all := make([]engine.Selection, len(where))
	for i, w := range where {
		all[i] = engine.Selection{Where: w, Output: plan.OutputCounts}
	}
	out.Counts = append(out.Counts[:0], make([]uint32, len(where))...)
	return t.t.SelectAll(ctx, all, func(first int, rows []engine.Rows) error {
		for i, r := range rows {
			out.Counts[first+i] = uint32(r.Count)
		}
		return nil
	})
}

// prepared is a predicate that is ready to run.
type prepared struct{ p *engine.Prepared }

func (t *table) prepare(ctx context.Context, where string) (prepared, error) {
	p, err := t.t.Prepare(ctx, engine.Selection{Where: where})
	return prepared{p}, err
}

// prepareSteps prepares the only selection of b.
func (t *table) prepareSteps(b *plan.SelectBatch) (prepared, error) {
	p, err := t.t.PrepareSteps(b)
	return prepared{p}, err
}

// vectors is the number of bit vectors that the predicate reads.
func (p prepared) vectors() int { return p.p.Plan().Vectors }

func (p prepared) String() string { return p.p.String() }

// countPrepared counts the rows of one predicate.
func (t *table) countPrepared(ctx context.Context, p prepared, out *plan.Rows) error {
	rows, err := t.t.Select(ctx, engine.Selection{Prepared: p.p, Output: plan.OutputCounts})
	out.Counts = append(out.Counts[:0], uint32(rows.Count))
	return err
}

func (t *table) close() error { return t.e.Close() }
