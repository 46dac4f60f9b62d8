package tables

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"heddle/engine/file/mapped"
	"heddle/engine/internal/cost"
	"heddle/engine/internal/pool"
	"heddle/engine/internal/schedule"
	"heddle/engine/plan"
)

// residence is a table on a processor, and the costs of selections there.
type residence struct {
	pool.Residence
	p      *pool.Processor
	store  plan.TableStore
	has    [strategies]bool
	models [2 * strategies]atomic.Pointer[cost.Model] // by class of strategies
	runs   sync.Pool                                  // *run
}

// run is the memory of a batch. A processor that hangs keeps it.
type run struct {
	joined plan.SelectBatch
	rows   plan.Rows
}

// strategies is the number of strategies, plan.StrategyAuto included.
const strategies = int(plan.Reduction) + 1

// load makes the table resident on p.
func load(ctx context.Context, d *Data, p *pool.Processor) (r *residence, err error) {
	defer mapped.Catch(mapped.Watch(), &err)
	if d.File != nil && !p.Host { // a device copies the words
		if err := d.File.CheckWords(); err != nil {
			return nil, err
		}
	}
	s, err := p.Backend.LoadTable(ctx, d.Table)
	if err != nil {
		return nil, err
	}
	if s, ok := s.(plan.Preparer); ok {
		s.Prepare(measures(p))
	}
	r = &residence{Residence: pool.Residence{On: []*pool.Processor{p}, Store: s}, p: p, store: s}
	r.Probe = func(ctx context.Context) error { return d.probe(ctx, s) }
	r.runs.New = func() any { return new(run) }
	r.models[0].Store(cost.NewSelections(p.Host))
	r.has[plan.StrategyAuto] = true
	for _, has := range s.Strategies() {
		r.has[has] = true
	}
	return r, nil
}

// model returns the costs of a class of strategies. A class without batches so far starts
// from the costs of the default strategy.
func (r *residence) model(k *batchKey) *cost.Model {
	p := &r.models[k.class()]
	if m := p.Load(); m != nil {
		return m
	}
	p.CompareAndSwap(nil, r.models[0].Load().Copy())
	return p.Load()
}

// answer runs the tasks of b as one batch and returns the time that it took.
func (r *residence) answer(ctx context.Context, b *schedule.Batch) (time.Duration, error) {
	w := r.runs.Get().(*run)
	defer r.runs.Put(w)
	first := b.Jobs[0].Work.(*Task)
	batch := &first.batch // a task that is given up is not used again
	if len(b.Jobs) > 1 {
		batch = w.join(b.Jobs)
	}
	began := time.Now()
	if a := first.kind.measures; a != nil {
		if answered, err := r.measure(ctx, b, a); answered || err != nil {
			return time.Since(began), err
		}
	}
	if o := first.kind.order; o != nil {
		if answered, err := r.sort(ctx, b, o); answered || err != nil {
			return time.Since(began), err
		}
	}
	w.rows.Lend = first.lends || len(b.Jobs) > 1 // rows of several jobs are copied below
	defer w.rows.Release()
	if err := r.store.Select(ctx, batch, &w.rows); err != nil {
		return 0, err
	}
	took := time.Since(began)
	if len(b.Jobs) == 1 {
		if b.Claim(0) {
			first.rows, w.rows, first.on, first.took = w.rows, first.rows, r, took
		}
		return took, nil
	}
	from := 0
	for i, j := range b.Jobs {
		t := j.Work.(*Task)
		n := t.Len()
		if b.Claim(i) {
			t.copyRows(&w.rows, from, n)
			t.on = r
		}
		from += n
	}
	return took, nil
}

// measures tells whether a processor may measure groups. Others share the cores of pure Go, which needs a fifth of the
// time of PoCL.
func measures(p *pool.Processor) bool { return p.Info.Type != "cpu" }

// measure answers the only task of b by groups. It returns false if the store does not measure them.
func (r *residence) measure(ctx context.Context, b *schedule.Batch, a *plan.Aggregation) (answered bool, err error) {
	m, ok := r.store.(plan.Measurer)
	if !ok || len(b.Jobs) > 1 || !measures(r.p) {
		return false, nil
	}
	t := b.Jobs[0].Work.(*Task)
	cells, err := m.Measure(ctx, &t.batch, a)
	if errors.Is(err, plan.ErrUnsupported) {
		return false, nil
	}
	if err == nil && b.Claim(0) {
		rows := uint64(0)
		for _, n := range cells.Rows {
			rows += n
		}
		t.cells, t.on = cells, r
		t.rows = plan.Rows{Counts: []uint32{uint32(rows)}, Stats: cells.Stats}
	}
	return true, err
}

// sort answers the only task of b by the first rows of an order. It returns false if the store does not find them.
func (r *residence) sort(ctx context.Context, b *schedule.Batch, o *plan.Order) (answered bool, err error) {
	s, ok := r.store.(plan.Sorter)
	if !ok || len(b.Jobs) > 1 {
		return false, nil
	}
	t := b.Jobs[0].Work.(*Task)
	first, err := s.First(ctx, &t.batch, nil, o)
	if errors.Is(err, plan.ErrUnsupported) {
		return false, nil
	}
	if err == nil && b.Claim(0) {
		t.first, t.on = append([]uint32{}, first.Rows...), r
		t.rows = plan.Rows{Counts: []uint32{uint32(first.Count)}, Stats: first.Stats}
	}
	return true, err
}

// join appends the selections of all jobs, which are of one kind.
func (w *run) join(jobs []*schedule.Job) *plan.SelectBatch {
	b, first := &w.joined, &jobs[0].Work.(*Task).batch
	b.Reset()
	b.Output, b.Strategy, b.Rescan = first.Output, first.Strategy, first.Rescan
	for _, j := range jobs {
		t := j.Work.(*Task)
		for i := range t.Len() {
			b.Copy(&t.batch, t.batch.Selection(i))
			b.End()
		}
	}
	return b
}
