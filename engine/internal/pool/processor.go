package pool

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

// Took returns the time that a batch, which began at a time and has ended, took of the processor: since
// the end of the batch before it, for which it waited.
func (p *Processor) Took(began time.Time) time.Duration {
	now := time.Since(epoch)
	return now - max(began.Sub(epoch), time.Duration(p.ended.Swap(int64(now))))
}

// scheduled returns the processor as the scheduler sees it.
func (p *Processor) scheduled(workers int) schedule.Processor {
	i := p.Index
	s := schedule.Processor{
		Name: p.Name, Host: p.Host, Reserve: p.Reserve, Inline: p.Host,
		Threshold: func(kind any) uint64 { return kind.(BatchKey).Threshold(i) },
		Start:     func(kind any) time.Duration { return kind.(BatchKey).Start(i) },
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
