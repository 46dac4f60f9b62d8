package tables

import (
	"context"
	"fmt"
	"time"

	"heddle/engine/internal/limit"
	"heddle/engine/internal/pool"
	"heddle/engine/observe"
	"heddle/engine/plan"
)

// Until returns the end of the time of a call that begins now.
func (g *Generation) Until(ctx context.Context, call *pool.Call) limit.Until {
	return g.pool.Until(ctx, call)
}

// CompileFor is Compile for a caller. size is the length of all predicates of the call so far:
// above limit.Step, the predicate waits for its turn (pool.Pool.Analyse).
func (g *Generation) CompileFor(until *limit.Until, caller, where string, size int) (*Predicate, error) {
	if size <= limit.Step {
		return g.Compile(where)
	}
	var p *Predicate
	end := *until // until stays on the stack of the caller
	err := g.pool.Analyse(until, caller, len(where), func() (err error) {
		p, err = g.compile(where, g.pool.Limits(), end.Err)
		return err
	})
	return p, err
}

// Do schedules the task, waits for its answer and reports it. A strategy that no processor
// has is a plan.ErrUnsupported.
func (t *Task) Do(ctx context.Context, call *pool.Call) error {
	g := t.kind.g
	if !g.Has(t.kind.strategy) {
		return fmt.Errorf("%w: strategy %v, the table has %v", plan.ErrUnsupported, t.kind.strategy, g.Strategies())
	}
	j := &t.job
	j.Caller, j.Mode, j.Deadline = call.Caller, call.Mode, g.pool.Until(ctx, call).Deadline
	if !g.pool.Observed() && call.Explain == nil {
		return t.answer(ctx)
	}
	began := time.Now()
	err := t.answer(ctx)
	q := &t.told
	*q = observe.Explanation{Kind: "select", Queries: t.Len(), Took: time.Since(began), Err: err}
	if err == nil {
		q.Stats = t.rows.Stats
	}
	g.pool.Report(ctx, call.Explain, q, &j.Trace)
	return err
}

// answer runs the job, then makes the rows of predicates that compare columns.
func (t *Task) answer(ctx context.Context) error {
	if err := t.kind.g.pool.Do(ctx, &t.job); err != nil {
		return err
	}
	for _, c := range t.compared {
		if err := t.compare(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// How describes the run of selection i on the processor that answered: strategy and sizes.
func (t *Task) How(i int) string {
	for _, c := range t.compared {
		if c.selection == i {
			how := fmt.Sprintf("selections: %d", len(c.parts))
			if len(c.Plan.Compared) > 0 {
				how += "; columns compared in pure Go"
			}
			if len(c.Plan.Joined) > 0 {
				how += "; values joined to rows in pure Go"
			}
			return how
		}
	}
	if t.on == nil {
		return ""
	}
	return t.on.store.Explain(&t.batch, i)
}

// Costs are the linear parts of the estimates, by processor; empty where the table is not
// resident.
func (t *Task) Costs() []string {
	g := t.kind.g
	all := make([]string, len(g.at))
	for i := range g.at {
		if r := g.at[i].Load(); r != nil && r.has[t.kind.strategy] {
			all[i] = r.model(&t.kind).Formula()
		}
	}
	return all
}
