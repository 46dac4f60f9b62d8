package tables

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"heddle/engine/internal/pool"
	"heddle/engine/internal/schedule"
	"heddle/engine/plan"
	"heddle/engine/table/result"
	"heddle/engine/table/statement"
)

// Generation is a table that is resident on processors, from one Reload to the next.
type Generation struct {
	*Data
	pool.Generation

	of   *Table
	pool *pool.Pool
	at   []atomic.Pointer[residence] // by processor, nil where the table is not resident

	serial uint64 // number of the generation in keys of filters

	lists map[int]*Generation // values of multi-valued columns, which live and end with g

	predicates recent[string, *Predicate]
	statements recent[statement.Clauses, *result.Query]
}

// generation returns a generation of t that is resident nowhere.
func (t *Table) generation(d *Data) *Generation {
	g := &Generation{Data: d, of: t, pool: t.Pool, at: make([]atomic.Pointer[residence], len(t.Pool.Processors())), serial: t.Pool.Serial()}
	for i, l := range d.lists {
		if g.lists == nil {
			g.lists = map[int]*Generation{}
		}
		g.lists[i] = t.generation(l.Data)
	}
	return g
}

// inOrder are the numbers of the multi-valued columns.
func (g *Generation) inOrder() []int { return slices.Sorted(maps.Keys(g.lists)) }

// load makes the table resident on processors that do not have it. Processors that fail
// are left out, with the error by the index of the processor. The error is ctx.Err().
func (g *Generation) load(ctx context.Context, on []*pool.Processor) (left map[int]error, err error) {
	left = map[int]error{}
	for _, p := range on {
		if g.at[p.Index].Load() != nil {
			continue
		}
		if g.pool.Hung(p) {
			left[p.Index] = fmt.Errorf("%s: %w", p.Name, schedule.ErrHung)
			continue
		}
		r, err := load(ctx, g.Data, p)
		switch {
		case err != nil && ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			left[p.Index] = err
			g.pool.Log().Warn().Err(err).Str("processor", p.Name).Msg("the table is not on this processor")
		default:
			g.at[p.Index].Store(r)
			g.pool.Hold(&r.Residence)
			p.Restore()
			g.pool.Log().Info().Str("processor", p.Name).Uint64("bytes", r.store.Memory()).Msg("table resident")
		}
	}
	return left, nil
}

// residences are the stores on the processors with the table.
func (g *Generation) residences() iter.Seq[*residence] {
	return func(yield func(*residence) bool) {
		for i := range g.at {
			if r := g.at[i].Load(); r != nil && !yield(r) {
				return
			}
		}
	}
}

// loaded is the number of processors with the table.
func (g *Generation) loaded() (n int) {
	for range g.residences() {
		n++
	}
	return n
}

// start makes the table resident on processors and measures its costs there. It fails
// where no processor takes the table, and releases the stores then.
func (g *Generation) start(ctx context.Context, on []*pool.Processor) error {
	if err := g.begin(ctx, on); err != nil {
		return errors.Join(err, g.retire(func() error { return nil }))
	}
	return nil
}

// begin is start without the release after an error.
func (g *Generation) begin(ctx context.Context, on []*pool.Processor) error {
	left, err := g.load(ctx, on)
	if err == nil && g.loaded() == 0 {
		for _, p := range on { // in their order
			err = errors.Join(err, left[p.Index])
		}
	}
	if err == nil {
		err = g.measure(ctx)
	}
	for _, i := range g.inOrder() {
		if err == nil {
			err = g.lists[i].begin(ctx, on)
		}
	}
	return err
}

// Retire implements pool.Content: it closes the stores and the file.
func (g *Generation) Retire() error { return g.retire(g.Data.Close) }

// retire closes the stores, then calls after: see pool.Pool.Retire.
func (g *Generation) retire(after func() error) error {
	var all []*pool.Residence
	for r := range g.residences() {
		all = append(all, &r.Residence)
	}
	for _, i := range g.inOrder() {
		for r := range g.lists[i].residences() {
			all = append(all, &r.Residence)
		}
	}
	return g.pool.Retire(g, all, after)
}

// Has tells whether any processor has a strategy.
func (g *Generation) Has(s plan.Strategy) bool {
	for r := range g.residences() {
		if r.has[s] {
			return true
		}
	}
	return false
}

// Strategies of all processors with the table, besides plan.StrategyAuto.
func (g *Generation) Strategies() []plan.Strategy {
	return slices.DeleteFunc(plan.Strategies(), func(s plan.Strategy) bool { return !g.Has(s) })
}

// Processors that have the table.
func (g *Generation) Processors() (all []*pool.Processor) {
	for r := range g.residences() {
		all = append(all, r.p)
	}
	return all
}

// Memory is the number of bytes that the table occupies on processor p, 0 where it is not
// resident.
func (g *Generation) Memory(p int) uint64 {
	if r := g.at[p].Load(); r != nil {
		n := r.store.Memory()
		for _, l := range g.lists {
			n += l.Memory(p)
		}
		return n
	}
	return 0
}

// measure fits the costs of each processor to measurements, if there is a choice between
// processors. Processors that fail keep their guess. The error is ctx.Err().
func (g *Generation) measure(ctx context.Context) error {
	if g.loaded() < 2 {
		return nil
	}
	for r := range g.residences() {
		samples, err := g.Data.Measure(ctx, func(ctx context.Context, s *plan.SelectBatch) (took time.Duration, err error) {
			t := g.NewTask(s.Output, s.Strategy, s.Rescan)
			defer func() { t.Done(err) }()
			t.only = r
			t.batch.Copy(s, s.Steps)
			t.batch.Offsets = append(t.batch.Offsets[:0], s.Offsets...)
			t.job.Mode = schedule.Async
			if err = g.pool.Do(ctx, &t.job); err != nil {
				return 0, err
			}
			return t.took, nil
		})
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil:
			m := r.models[0].Load()
			m.FitSelections(samples)
			g.pool.Log().Info().Str("processor", r.p.Name).Str("costs", m.Formula()).Msg("costs of selections")
		}
	}
	return nil
}
