package tables

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"heddle/engine/internal/cost"
	"heddle/engine/plan"
	"heddle/engine/schedule"
)

// Place is a processor on which a table can be resident.
type Place struct {
	Name    string // of the processor, unique in its engine
	Host    bool   // pure Go
	Backend plan.Backend
	Info    plan.Info
}

// resident is a table on a processor, and the costs of selections there.
type resident struct {
	Place
	store  plan.TableStore
	has    [strategies]bool
	models [2 * strategies]atomic.Pointer[cost.Model] // by class of strategies
	runs   sync.Pool                                  // *run

	running sync.RWMutex // batches hold it for reading
	closed  bool         // guarded by running
}

// run is the memory of a batch. A processor that hangs keeps it.
type run struct {
	joined plan.SelectBatch
	rows   plan.Rows
}

// strategies is the number of strategies, plan.StrategyAuto included.
const strategies = int(plan.Reduction) + 1

// load makes the table resident on p.
func load(ctx context.Context, d *Data, p Place) (*resident, error) {
	s, err := p.Backend.LoadTable(ctx, d.Table)
	if err != nil {
		return nil, err
	}
	r := &resident{Place: p, store: s}
	r.has[plan.StrategyAuto] = true
	for _, has := range s.Strategies() {
		r.has[has] = true
	}
	r.runs.New = func() any { return new(run) }
	r.models[0].Store(cost.NewSelections(p.Host))
	return r, nil
}

// model returns the costs of a class of strategies. A class without batches so far starts
// from the costs of the default strategy.
func (r *resident) model(k *Kind) *cost.Model {
	p := &r.models[k.class()]
	if m := p.Load(); m != nil {
		return m
	}
	p.CompareAndSwap(nil, r.models[0].Load().Copy())
	return p.Load()
}

// idle tells whether no batch runs.
func (r *resident) idle() bool {
	idle := r.running.TryLock()
	if idle {
		r.running.Unlock()
	}
	return idle
}

// close waits until no batch runs, and releases the store.
func (r *resident) close() error {
	r.running.Lock()
	defer r.running.Unlock()
	if r.closed {
		return nil
	}
	r.closed = true
	return r.store.Close()
}

// answer runs the tasks of b as one batch and returns the time that it took.
func (r *resident) answer(ctx context.Context, tasks []*Task, b *schedule.Batch) (time.Duration, error) {
	r.running.RLock()
	defer r.running.RUnlock()
	if r.closed {
		return 0, plan.ErrClosed
	}
	w := r.runs.Get().(*run)
	defer r.runs.Put(w)
	batch := &tasks[0].batch // not changed before the task ends, and not afterwards if it is given up
	if len(tasks) > 1 {
		batch = w.join(tasks)
	}
	began := time.Now()
	if err := r.store.Select(ctx, batch, &w.rows); err != nil {
		return 0, err
	}
	took := time.Since(began)
	if len(tasks) == 1 {
		if b.Claim(0) {
			t := tasks[0]
			t.rows, w.rows, t.on = w.rows, t.rows, r
		}
		return took, nil
	}
	from := 0
	for i, t := range tasks {
		n := len(t.batch.Offsets) - 1 // read before the task may end
		if b.Claim(i) {
			t.copyRows(&w.rows, from, n)
			t.on = r
		}
		from += n
	}
	return took, nil
}

// join appends the selections of all tasks, which are of one kind.
func (w *run) join(tasks []*Task) *plan.SelectBatch {
	b, first := &w.joined, &tasks[0].batch
	b.Reset()
	b.Output, b.Strategy, b.Rescan = first.Output, first.Strategy, first.Rescan
	for _, t := range tasks {
		for i := range t.batch.Len() {
			b.Copy(&t.batch, t.batch.Selection(i))
			b.End()
		}
	}
	return b
}
