package tables

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"heddle/engine/internal/cost"
	"heddle/engine/internal/pool"
	"heddle/engine/internal/schedule"
	"heddle/engine/observe"
	"heddle/engine/plan"
)

// batchKey tells which tasks may share a batch: tasks with equal keys. It is a pool.BatchKey.
type batchKey struct {
	g        *Generation
	output   plan.Output
	strategy plan.Strategy
	rescan   bool
	measures *plan.Aggregation // the aggregation of Task.Measure; nil: none
	order    *plan.Order       // the order of Task.First; nil: none
}

var (
	_ pool.BatchKey = batchKey{}
	_ pool.Work     = (*Task)(nil)
)

// class numbers the combinations that have costs of their own.
func (k *batchKey) class() int {
	if k.rescan {
		return 2*int(k.strategy) + 1
	}
	return 2 * int(k.strategy)
}

// batchLoad closes a batch. The unit is a word of 32 bits: of compressed vectors, of bit slices (two for 32 checked
// rows, because most checks stop early), of results.
const batchLoad = 1 << 24

// Threshold implements pool.BatchKey.
func (k batchKey) Threshold(int) uint64 { return batchLoad }

// Start implements pool.BatchKey.
func (k batchKey) Start(p int) time.Duration {
	if r := k.g.at[p].Load(); r != nil {
		return r.model(&k).Start()
	}
	return 0
}

// Task is the selections of one call that run together. One goroutine fills it, runs it
// and reads the answer.
type Task struct {
	job      schedule.Job
	kind     batchKey
	batch    plan.SelectBatch
	features cost.Features
	only     *residence // the processor to measure, nil for tasks of callers

	compared []compared // selections whose rows Do makes

	rows  plan.Rows     // the answer
	lends bool          // rows may be on loan
	turn  atomic.Uint64 // number of calls of Done
	cells *plan.Cells   // the answer to Measure; nil: rows
	first []uint32      // the answer to First; nil: rows
	on    *residence    // the processor that answered
	took  time.Duration

	told observe.Explanation
}

var tasks = sync.Pool{New: func() any { return new(Task) }}

// NewTask returns an empty task. The caller calls Done.
func (g *Generation) NewTask(output plan.Output, strategy plan.Strategy, rescan bool) *Task {
	t := tasks.Get().(*Task)
	t.kind, t.cells, t.first = batchKey{g: g, output: output, strategy: strategy, rescan: rescan}, nil, nil
	t.batch.Reset()
	t.batch.Output, t.batch.Strategy, t.batch.Rescan = output, strategy, rescan
	t.features, t.compared, t.lends = cost.Features{}, t.compared[:0], false
	j := &t.job
	j.Work, j.Load, j.Mode, j.Trace.Attempts = t, 0, schedule.Auto, 0
	j.Caller, j.Deadline, j.Reserves = "", time.Time{}, true
	if k, ok := j.Kind.(batchKey); !ok || k != t.kind { // boxing allocates
		j.Kind = t.kind
	}
	return t
}

// Measure asks for the groups of the rows of the only selection in place of the rows, if the processor
// that answers measures groups. Cells then has them.
func (t *Task) Measure(a *plan.Aggregation) {
	if len(t.compared) == 0 {
		t.kind.measures = a
		t.job.Kind = t.kind
	}
}

// First asks for the first rows of an order in place of all rows of the only selection, if the processor that answers finds
// them. Candidates then has them.
func (t *Task) First(o *plan.Order) {
	if len(t.compared) == 0 {
		t.kind.order = o
		t.job.Kind = t.kind
	}
}

// Candidates are rows with the first ones of an order among them; nil if Rows has the rows.
func (t *Task) Candidates() []uint32 { return t.first }

// Cells are the groups of the rows; nil if Rows has the rows.
func (t *Task) Cells() *plan.Cells { return t.cells }

// Add appends the selection of a predicate.
func (t *Task) Add(p *Predicate) {
	if p.Plan.Set != nil {
		t.compared = append(t.compared, compared{t.Len(), p})
	}
	t.batch.Copy(&p.Steps, p.Steps.Steps)
	t.batch.End()
	w, s := p.work, &t.features.Selection
	if t.kind.output == plan.OutputBits {
		w.Rows = uint64(t.kind.g.Table.Rows)
	}
	s.Selections += w.Selections
	s.Vectors += w.Vectors
	s.Bytes += w.Bytes
	s.Checks += w.Checks
	s.Places += w.Places
	s.Rows += w.Rows
	t.job.Load += 1 + w.Bytes/4 + w.Checks/16 + w.Rows/8
}

// Len is the number of selections.
func (t *Task) Len() int { return t.batch.Len() }

// Rows is the answer. It is valid until Done.
func (t *Task) Rows() *plan.Rows { return &t.rows }

// Borrow lets the processor that answers lend its memory for the rows.
func (t *Task) Borrow() { t.lends = true }

// Loan is the memory of an answer. The zero Loan is none.
type Loan struct {
	task *Task
	turn uint64
}

// Loan keeps the task, and its rows, until End in place of Done.
func (t *Task) Loan() Loan { return Loan{t, t.turn.Load()} }

// End ends the loan. Later calls have no effect. It is safe for concurrent use.
func (l Loan) End() {
	if l.task != nil && l.task.turn.CompareAndSwap(l.turn, l.turn+1) {
		l.task.done(nil)
	}
}

// TakeBits returns the rows of the only selection as a bitset that belongs to the caller.
func (t *Task) TakeBits() []uint64 {
	bits := t.rows.Selection(0)
	if cap(t.rows.Bits) > 2*len(bits) {
		return slices.Clone(bits)
	}
	t.rows.Bits = nil
	return bits
}

// Select returns the rows of a predicate as a bitset that belongs to the caller.
func (g *Generation) Select(ctx context.Context, p *Predicate, call *pool.Call) (rows []uint64, err error) {
	t := g.NewTask(plan.OutputBits, plan.StrategyAuto, false)
	defer func() { t.Done(err) }()
	t.Add(p)
	if err = t.Do(ctx, call); err != nil {
		return nil, err
	}
	if rows = t.TakeBits(); rows == nil { // a table without rows
		rows = []uint64{}
	}
	return rows, nil
}

// Done returns the memory of a task that ended with err. A batch that was given up may
// still read the task; then the task is not used again.
func (t *Task) Done(err error) {
	t.turn.Add(1)
	t.done(err)
}

func (t *Task) done(err error) {
	t.rows.Release()
	if n := t.job.Trace.Attempts; n > 1 || n == 1 && err != nil {
		return
	}
	t.only, t.on = nil, nil
	clear(t.compared)
	tasks.Put(t)
}

// copyRows copies n selections of a joined batch, beginning with number from.
func (t *Task) copyRows(all *plan.Rows, from, n int) {
	t.rows.Counts = append(t.rows.Counts[:0], all.Counts[from:from+n]...)
	t.rows.Bits, t.rows.Stride, t.rows.Stats = t.rows.Bits[:0], all.Stride, all.Stats
	if t.kind.output == plan.OutputBits {
		t.rows.Bits = append(t.rows.Bits, all.Bits[from*all.Stride:(from+n)*all.Stride]...)
	}
}

// Estimate implements pool.Work.
func (t *Task) Estimate(p int) (alone, added time.Duration, ok bool) {
	r := t.kind.g.at[p].Load()
	if r == nil || !r.has[t.kind.strategy] || t.only != nil && t.only != r {
		return 0, 0, false
	}
	m := r.model(&t.kind)
	return m.Alone(&t.features), m.Added(&t.features), true
}

// Run implements pool.Work. It corrects the estimates by the time of the batch.
func (t *Task) Run(ctx context.Context, p int, b *schedule.Batch) error {
	kind, f := t.kind, t.features // a claimed task may end at once
	g := kind.g
	r := g.at[p].Load()
	run, err := r.Begin()
	if err != nil {
		return err
	}
	defer run.End()
	m, added := r.model(&kind), time.Duration(0)
	for _, j := range b.Jobs[1:] {
		added += m.Added(&j.Work.(*Task).features)
	}
	took, err := r.answer(ctx, b)
	if err != nil {
		return err
	}
	if kind.measures != nil || kind.order != nil {
		return nil // a model is of selections alone
	}
	if len(b.Jobs) > 1 {
		m.LearnBatch(added+m.Added(&f), took)
		return nil
	}
	m.Learn(&f, took, run.Alone())
	for o := range g.residences() {
		if o != r && o.has[kind.strategy] {
			o.model(&kind).Relax(&f)
		}
	}
	return nil
}
