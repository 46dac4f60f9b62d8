package serve

import (
	"context"
	"sync/atomic"
	"time"

	"heddle/engine/file/mapped"
	"heddle/engine/internal/backend"
	"heddle/engine/internal/cost"
	"heddle/engine/internal/schedule"
)

// Processor is a backend that runs jobs of a Pool.
type Processor struct {
	backend.Opened
	Name  string // unique in the pool
	Index int    // number of the processor in the pool and its scheduler

	pool    *Pool
	removed atomic.Bool  // by the scheduler, after a failure
	ended   atomic.Int64 // when a batch last did, ns since epoch
}

// epoch is the origin of times.
var epoch = time.Now()

// took is the time that a batch, which began at a time and has ended, took of the processor: since
// the end of the batch before it, for which it waited.
func (p *Processor) took(began time.Time) time.Duration {
	now := time.Since(epoch)
	return now - max(began.Sub(epoch), time.Duration(p.ended.Swap(int64(now))))
}

// Work is the content of a job: a query, a block of queries, a selection of rows. Its methods
// receive the index of a processor.
type Work interface {
	// Estimate returns the time that the job takes alone on processor p, and the time that
	// it adds to a batch; false if p cannot run it. It takes well below a microsecond, does
	// not panic and does not call the scheduler.
	Estimate(p int) (alone, added time.Duration, ok bool)
	// Run runs the jobs of b, all of one kind, on processor p: see schedule.Processor.Run.
	// The receiver is the work of the first job.
	Run(ctx context.Context, p int, b *schedule.Batch) error
}

// Kind is the kind of a job. Jobs with equal kinds may share a batch. Kinds are comparable
// and include their generation. The methods have the duties of schedule.Processor.Threshold
// and Start.
type Kind interface {
	Threshold(p int) uint64
	Start(p int) time.Duration
}

// scheduled returns the processor as the scheduler sees it.
func (p *Processor) scheduled(workers int) schedule.Processor {
	i := p.Index
	s := schedule.Processor{
		Name: p.Name, Host: p.Host, Reserve: p.Reserve, Inline: p.Host,
		Threshold: func(kind any) uint64 { return kind.(Kind).Threshold(i) },
		Start:     func(kind any) time.Duration { return kind.(Kind).Start(i) },
		Estimate:  func(j *schedule.Job) (alone, added time.Duration, ok bool) { return j.Work.(Work).Estimate(i) },
		Run: func(ctx context.Context, b *schedule.Batch) (err error) {
			defer mapped.Catch(mapped.Watch(), &err)
			return b.Jobs[0].Work.(Work).Run(ctx, i, b)
		},
		Probe: p.probe,
	}
	s.Lanes = workers
	if p.Host {
		s.Lanes = min(2, workers) // a batch uses all threads; the second one is prepared meanwhile
		s.Blocks = workers
		s.Singles = max(p.Info.ComputeUnits, 1)
		s.Threads = s.Singles
	}
	return s
}

// Model returns the name of the processor in cost models. Equal devices share a model.
func (p *Processor) Model() string {
	if p.Host {
		return cost.Host
	}
	return p.Info.Device
}

// Removed tells whether the scheduler has removed the processor after a failure.
func (p *Processor) Removed() bool { return p.removed.Load() }

// Restore lets a removed processor run jobs again. It is called when the processor has
// loaded lists or a table, which shows that it works.
func (p *Processor) Restore() {
	if p.Removed() {
		p.pool.sched.Restore(p.Index)
	}
}

// probe runs a short query on each store of the processor. The scheduler restores the
// processor if all succeed. The fault of a mapped file is no fault of the processor.
func (p *Processor) probe(ctx context.Context) error {
	for _, r := range p.pool.on(p) {
		if err := r.probed(ctx); err != nil && !mapped.IsFault(err) {
			return err
		}
	}
	return nil
}

// concurrency finds runs that have all processors of a pool for themselves. While a batch
// hangs, no run has. The low 32 bits count running batches, the high 32 bits all batches,
// modulo 2^32.
type concurrency struct{ state atomic.Uint64 }

// run is one batch from enter to leave.
type run struct {
	began time.Time
	nth   uint32
	first bool // no other batch was running
}

func (c *concurrency) enter() run {
	s := c.state.Add(1<<32 + 1)
	return run{nth: uint32(s >> 32), first: uint32(s) == 1, began: time.Now()}
}

func (c *concurrency) leave() { c.state.Add(^uint64(0)) }

// alone tells whether no other batch ran beside r, which has not left.
func (c *concurrency) alone(r run) bool { return r.first && uint32(c.state.Load()>>32) == r.nth }

// Run is one batch of a table, from Begin to End.
type Run struct {
	run
	load *concurrency
}

// Begin notes that a batch of a table runs.
func (p *Pool) Begin() Run { return Run{p.load.enter(), &p.load} }

// End ends the batch.
func (r *Run) End() { r.load.leave() }

// Alone tells whether no other batch ran beside r, which has not ended.
func (r *Run) Alone() bool { return r.load.alone(r.run) }
