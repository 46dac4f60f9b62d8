package tables

import (
	"sync"

	"heddle/engine/internal/cost"
	"heddle/engine/plan"
	"heddle/engine/schedule"
)

// Kind tells which tasks may share a batch: tasks with equal kinds.
type Kind struct {
	Generation *Generation
	Output     plan.Output
	Strategy   plan.Strategy
	Rescan     bool
}

// class numbers the combinations that have costs of their own.
func (k *Kind) class() int {
	if k.Rescan {
		return 2*int(k.Strategy) + 1
	}
	return 2 * int(k.Strategy)
}

// Task is the selections of one call that run together. One goroutine fills it, schedules
// Job and reads the answer.
type Task struct {
	Job schedule.Job

	kind     Kind
	batch    plan.SelectBatch
	features cost.Features
	only     *resident // the processor to measure, nil for tasks of callers
	rows     plan.Rows // the answer
	on       *resident // the processor that answered
}

var tasks = sync.Pool{New: func() any { return new(Task) }}

// NewTask returns an empty task. The caller calls Done.
func (g *Generation) NewTask(output plan.Output, strategy plan.Strategy, rescan bool) *Task {
	t := tasks.Get().(*Task)
	t.kind = Kind{g, output, strategy, rescan}
	t.batch.Reset()
	t.batch.Output, t.batch.Strategy, t.batch.Rescan = output, strategy, rescan
	t.features = cost.Features{}
	j := &t.Job
	j.Work, j.Load, j.Mode, j.Trace.Attempts = t, 0, schedule.Auto, 0
	if k, ok := j.Kind.(Kind); !ok || k != t.kind { // boxing allocates
		j.Kind = t.kind
	}
	return t
}

// Add appends the selection of a predicate.
func (t *Task) Add(p *Predicate) {
	t.batch.Copy(&p.Steps, p.Steps.Steps)
	t.batch.End()
	w, s := p.work, &t.features.Selection
	if t.kind.Output == plan.OutputBits {
		w.Rows = uint64(t.kind.Generation.Table.Rows)
	}
	s.Selections += w.Selections
	s.Vectors += w.Vectors
	s.Bytes += w.Bytes
	s.Checks += w.Checks
	s.Places += w.Places
	s.Rows += w.Rows
	t.Job.Load += 1 + w.Bytes/4 + w.Checks + w.Rows/8
}

// Len is the number of selections.
func (t *Task) Len() int { return t.batch.Len() }

// Rows is the answer. It is valid until Done.
func (t *Task) Rows() *plan.Rows { return &t.rows }

// TakeBits returns the rows of the only selection as a bitset that belongs to the caller.
func (t *Task) TakeBits() []uint64 {
	bits := t.rows.Selection(0)
	if cap(t.rows.Bits) > 2*len(bits) {
		return append(make([]uint64, 0, len(bits)), bits...)
	}
	t.rows.Bits = nil
	return bits
}

// Done returns the memory of a task whose Job ended with err. A batch that was given up
// may still read the task; then the task is not used again.
func (t *Task) Done(err error) {
	if n := t.Job.Trace.Attempts; n > 1 || n == 1 && err != nil {
		return
	}
	t.kind, t.only, t.on = Kind{}, nil, nil
	t.Job.Work = nil
	tasks.Put(t)
}

// copyRows copies n selections of a joined batch, beginning with number from.
func (t *Task) copyRows(all *plan.Rows, from, n int) {
	t.rows.Counts = append(t.rows.Counts[:0], all.Counts[from:from+n]...)
	t.rows.Bits, t.rows.Stride, t.rows.Stats = t.rows.Bits[:0], all.Stride, all.Stats
	if t.kind.Output == plan.OutputBits {
		t.rows.Bits = append(t.rows.Bits, all.Bits[from*all.Stride:(from+n)*all.Stride]...)
	}
}
