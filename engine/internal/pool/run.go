package pool

import (
	"context"
	"sync/atomic"
	"time"

	"heddle/engine/internal/schedule"
	"heddle/engine/plan"
)

// Work is the content of a job: a query, a block of queries, a selection of rows. Its methods
// receive the index of a processor.
type Work interface {
	// Estimate returns the time that the job takes alone on processor p, and the time that
	// it adds to a batch; false if p cannot run it. It takes well below a microsecond, does
	// not panic and does not call the scheduler.
	Estimate(p int) (alone, added time.Duration, ok bool)
	// Run runs the jobs of b, all of one key, on processor p: see schedule.Processor.Run.
	// The receiver is the work of the first job.
	Run(ctx context.Context, p int, b *schedule.Batch) error
}

// BatchKey is the kind of a job. Jobs with equal keys may share a batch. Keys are comparable
// and include their generation. The methods have the duties of schedule.Processor.Threshold
// and Start.
type BatchKey interface {
	Threshold(p int) uint64
	Start(p int) time.Duration
}

// concurrency finds runs that have all processors of a pool for themselves. While a batch
// hangs, no run has. The low 32 bits count running batches, the high 32 bits all batches,
// modulo 2^32.
type concurrency struct{ state atomic.Uint64 }

// Run is one batch on a residence, from Begin to End.
type Run struct {
	at        *Residence
	load      *concurrency
	nth       uint32
	first     bool // no other batch was running
	delivered bool
}

// enter begins a run.
func (c *concurrency) enter() Run {
	s := c.state.Add(1<<32 + 1)
	return Run{load: c, nth: uint32(s >> 32), first: uint32(s) == 1}
}

func (c *concurrency) leave() { c.state.Add(^uint64(0)) }

// Begin begins a batch on the store. The error is plan.ErrClosed.
func (r *Residence) Begin() (Run, error) {
	if !r.Enter() {
		return Run{}, plan.ErrClosed
	}
	run := r.On[0].pool.load.enter()
	run.at = r
	return run, nil
}

// Alone tells whether no other batch ran beside r, which has not ended.
func (r *Run) Alone() bool { return r.first && uint32(r.load.state.Load()>>32) == r.nth }

// Sampled tells whether costs learn from r, whose time is estimated. They learn from one of eight short runs, because the
// clock and the learning take as long as such a run. The golden ratio spreads the samples over any pattern of queries. A wrong
// estimate below the bound takes eight times as many runs to correct.
func (r *Run) Sampled(estimate time.Duration) bool {
	const short, ratio = 10 * time.Microsecond, 0x9e3779b9
	return estimate > short || r.nth*ratio < 1<<32/8
}

// Delivered says that the processor has ended the batch, although r has not ended.
func (r *Run) Delivered() {
	r.delivered = true
	r.load.leave()
}

// End ends the batch.
func (r *Run) End() {
	if !r.delivered {
		r.load.leave()
	}
	r.at.Leave()
}
