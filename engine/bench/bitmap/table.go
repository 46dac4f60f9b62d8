package bitmap

import (
	"context"

	"heddle/engine"
	"heddle/engine/bench/harness"
	"heddle/engine/plan"
	"heddle/engine/table/column"
)

// table is a table under test. Benchmarks use the tables of the engine only through it.
type table struct{ t *engine.Table }

// openTable opens a table on one contestant.
func (s *bench) openTable(ctx context.Context, who harness.Contestant, t *plan.Table, columns []column.Column) (*table, error) {
	opt := engine.Options{Backend: who.Name, Threads: s.Opt.Threads}
	if who.Device != nil {
		b, err := s.Backend(ctx, who, harness.Alone)
		if err != nil {
			return nil, err
		}
		opt.On = b
	}
	return newTable(ctx, t, columns, opt)
}

// openAuto opens a table that chooses backend and strategy for each query.
func (s *bench) openAuto(ctx context.Context, t *plan.Table, columns []column.Column) (*table, error) {
	return newTable(ctx, t, columns, engine.Options{Backend: s.Opt.Backend, Device: s.Opt.Device, Threads: s.Opt.Threads})
}

func newTable(ctx context.Context, t *plan.Table, columns []column.Column, opt engine.Options) (*table, error) {
	x, err := engine.NewTable(ctx, t, columns, opt)
	if err != nil {
		return nil, err
	}
	return &table{x}, nil
}

// run evaluates selections of bit vectors.
func (t *table) run(ctx context.Context, b *plan.SelectBatch, out *plan.Rows) error {
	return t.t.Run(ctx, b, out)
}

// count counts the rows of each predicate, given as text.
func (t *table) count(ctx context.Context, where []string, out *plan.Rows) error {
	return t.t.Select(ctx, where, engine.TableOptions{Output: plan.OutputCounts}, out)
}

// prepared is a predicate that is ready to run.
type prepared struct{ p *engine.Prepared }

func (t *table) prepare(where string) (prepared, error) {
	p, err := t.t.Prepare(where)
	return prepared{p}, err
}

// vectors is the number of bit vectors that the predicate reads.
func (p prepared) vectors() int { return p.p.Plan().Vectors }

func (p prepared) String() string { return p.p.String() }

// countPrepared counts the rows of one predicate.
func (t *table) countPrepared(ctx context.Context, p prepared, out *plan.Rows) error {
	return t.t.SelectPrepared(ctx, []*engine.Prepared{p.p}, engine.TableOptions{Output: plan.OutputCounts}, out)
}

func (t *table) close() error { return t.t.Close() }
