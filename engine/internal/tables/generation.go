package tables

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"heddle/engine/plan"
	"heddle/engine/schedule"
)

// Generation is a table that is resident on processors of an engine, from one Reload to
// the next.
type Generation struct {
	*Data
	places []*resident // by processor of the engine, nil where the table is not resident
}

// LeftOut is a processor without the table.
type LeftOut struct {
	Processor int
	Name      string
	Err       error
}

// Load makes d resident on the processors. A processor without room is left out. The
// error joins the reasons where no processor has room; no store stays open then.
func Load(ctx context.Context, d *Data, on []Place) (*Generation, []LeftOut, error) {
	g := &Generation{Data: d, places: make([]*resident, len(on))}
	var left []LeftOut
	var errs []error
	loaded := false
	for i, p := range on {
		if p.Backend == nil {
			continue
		}
		r, err := load(ctx, d, p)
		if err != nil && ctx.Err() != nil {
			return nil, nil, errors.Join(ctx.Err(), g.close())
		}
		if err != nil {
			left, errs = append(left, LeftOut{i, p.Name, err}), append(errs, fmt.Errorf("%s: %w", p.Name, err))
			continue
		}
		g.places[i], loaded = r, true
	}
	if !loaded {
		return nil, nil, errors.Join(errs...)
	}
	return g, left, nil
}

func (g *Generation) close() (err error) {
	for _, r := range g.places {
		if r != nil {
			err = errors.Join(err, r.close())
		}
	}
	return err
}

// Has tells whether any processor has a strategy.
func (g *Generation) Has(s plan.Strategy) bool {
	return slices.ContainsFunc(g.places, func(r *resident) bool { return r != nil && r.has[s] })
}

// Strategies of all processors with the table, besides plan.StrategyAuto.
func (g *Generation) Strategies() []plan.Strategy {
	return slices.DeleteFunc(plan.Strategies(), func(s plan.Strategy) bool { return !g.Has(s) })
}

// Memory is the number of bytes that the table occupies on processor p, 0 where it is not
// resident.
func (g *Generation) Memory(p int) uint64 {
	if r := g.places[p]; r != nil {
		return r.store.Memory()
	}
	return 0
}

// Estimate is the time of a task alone on processor p, and its addition to a batch; false
// where the task cannot run.
func (g *Generation) Estimate(p int, work any) (alone, added time.Duration, ok bool) {
	t, r := work.(*Task), g.places[p]
	if r == nil || !r.has[t.kind.Strategy] || t.only != nil && t.only != r {
		return 0, 0, false
	}
	m := r.model(&t.kind)
	return m.Alone(&t.features), m.Added(&t.features), true
}

// Start is the time of a batch beside the additions of its tasks.
func (g *Generation) Start(p int, kind any) time.Duration {
	k := kind.(Kind)
	if r := g.places[p]; r != nil {
		return r.model(&k).Start()
	}
	return 0
}

// batchLoad closes a batch. The unit is a word of 32 bits: of compressed vectors, of
// checked values, of results.
const batchLoad = 1 << 24

// Threshold is the load at which a batch is closed.
func (g *Generation) Threshold(int, any) uint64 { return batchLoad }

// Run answers a batch on processor p, and corrects the estimates by its time. alone tells
// whether the batch had all processors for itself.
func (g *Generation) Run(ctx context.Context, p int, b *schedule.Batch, alone bool) error {
	r := g.places[p]
	list := make([]*Task, 0, 8)
	for _, j := range b.Jobs {
		list = append(list, j.Work.(*Task))
	}
	kind, f := list[0].kind, list[0].features // a claimed task may end at once
	m := r.model(&kind)
	added := time.Duration(0)
	for _, t := range list {
		added += m.Added(&t.features)
	}
	took, err := r.answer(ctx, list, b)
	if err != nil {
		return err
	}
	if len(list) > 1 {
		m.LearnBatch(added, took)
		return nil
	}
	m.Learn(&f, took, alone)
	for _, o := range g.places {
		if o != nil && o != r && o.has[kind.Strategy] {
			o.model(&kind).Relax(&f)
		}
	}
	return nil
}

// choice tells whether more than one processor has the table.
func (g *Generation) choice() bool {
	n := 0
	for _, r := range g.places {
		if r != nil {
			n++
		}
	}
	return n > 1
}

// Measure fits the costs of each processor to measurements, if there is a choice between
// processors. do schedules a job and waits for its end. Processors that fail keep their
// guess. The error is ctx.Err().
func (g *Generation) Measure(ctx context.Context, do func(context.Context, *schedule.Job) error) error {
	if !g.choice() {
		return nil
	}
	for _, r := range g.places {
		if r == nil {
			continue
		}
		samples, err := g.Data.Measure(ctx, func(ctx context.Context, s *plan.SelectBatch) (took time.Duration, err error) {
			t := g.NewTask(s.Output, s.Strategy, s.Rescan)
			defer func() { t.Done(err) }()
			t.only = r
			t.batch.Copy(s, s.Steps)
			t.batch.Offsets = append(t.batch.Offsets[:0], s.Offsets...)
			t.Job.Mode, t.Job.Load = schedule.Async, 1
			if err = do(ctx, &t.Job); err != nil {
				return 0, err
			}
			return t.Job.Trace.Ran, nil
		})
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil:
			r.models[0].Load().FitSelections(samples)
		}
	}
	return nil
}

// Costs is the linear part of the estimates of processor p for a strategy.
func (g *Generation) Costs(p int, s plan.Strategy) string {
	r := g.places[p]
	if r == nil || !r.has[s] {
		return ""
	}
	return r.model(&Kind{Strategy: s}).Formula()
}
