package tables

import (
	"context"
	"fmt"
	"time"

	"heddle/engine/internal/limit"
	"heddle/engine/internal/serve"
	"heddle/engine/observe"
	"heddle/engine/plan"
)

// Until returns the end of the time of a call that begins now.
func (g *Generation) Until(ctx context.Context, call *serve.Call) limit.Until {
	return g.pool.Until(ctx, call)
}

// Do schedules the task, waits for its answer and reports it. A strategy that no processor
// has is a plan.ErrUnsupported.
func (t *Task) Do(ctx context.Context, call *serve.Call) error {
	g := t.kind.g
	if !g.Has(t.kind.strategy) {
		return fmt.Errorf("%w: strategy %v, the table has %v", plan.ErrUnsupported, t.kind.strategy, g.Strategies())
	}
	j := &t.job
	j.Caller, j.Mode, j.Deadline = call.Caller, call.Mode, g.pool.Until(ctx, call).Deadline
	if !g.pool.Observed() && call.Explain == nil {
		return g.pool.Do(ctx, j)
	}
	began := time.Now()
	err := g.pool.Do(ctx, j)
	q := &t.told
	*q = observe.Explanation{Kind: "select", Queries: t.Len(), Took: time.Since(began), Err: err}
	if err == nil {
		q.Stats = t.rows.Stats
	}
	g.pool.Report(ctx, call.Explain, q, &j.Trace)
	return err
}

// How describes the run of selection i on the processor that answered: strategy and sizes.
func (t *Task) How(i int) string {
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
