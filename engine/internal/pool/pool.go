package pool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"heddle/engine/internal/backend"
	"heddle/engine/internal/cputime"
	"heddle/engine/internal/limit"
	"heddle/engine/internal/schedule"
	"heddle/engine/observe"
	"heddle/engine/plan"
)

// Options of a Pool.
type Options struct {
	Schedule schedule.Options
	Timeout  time.Duration    // timeout of queries that set none; 0: none
	Workers  int              // batches that a processor runs at a time; at least 1
	Limits   limit.Limits     // limits of queries and predicates; 0: the default
	Observer observe.Observer // nil receives nothing
	Log      zerolog.Logger
}

// Pool owns processors and their scheduler. It is safe for concurrent use.
type Pool struct {
	opt        Options
	processors []*Processor
	names      []string // names of the processors
	sched      *schedule.Scheduler
	analyses   *schedule.Scheduler // schedules the analysis of long texts, before they become jobs of sched
	load       concurrency
	serial     atomic.Uint64       // the last number that Serial has returned
	retiring   []func(retired any) // called with each generation that ends

	mu      sync.Mutex
	closed  bool
	owned   []io.Closer    // indexes and tables that are open
	stores  []*Residence   // stores that are open
	using   sync.WaitGroup // calls between Use and its done; Add only while not closed
	leaving sync.WaitGroup
}

// New starts a scheduler over backends, which the pool then owns.
func New(open []backend.Opened, opt Options) (*Pool, error) {
	opt.Limits.EnsureDefaults()
	p := &Pool{opt: opt}
	var list []schedule.Processor
	hosts := 0
	for i, o := range open {
		name := o.Info.Device
		for n := 2; slices.Contains(p.names, name); n++ {
			name = fmt.Sprintf("%s #%d", o.Info.Device, n)
		}
		r := &Processor{Opened: o, Name: name, Index: i, pool: p}
		p.names = append(p.names, name)
		p.processors = append(p.processors, r)
		list = append(list, r.scheduled(opt.Workers))
		if o.Host {
			hosts++
		}
	}
	if hosts > 0 && hosts < len(open) { // they share the cores with the devices
		opt.Schedule.Cores = runtime.GOMAXPROCS(0)
	}
	if hosts < len(open) {
		opt.Schedule.CPU = cputime.Total
	}
	event := opt.Schedule.Event
	opt.Schedule.Event = func(v schedule.Event) {
		if i := slices.Index(p.names, v.Processor); i >= 0 {
			p.processors[i].removed.Store(v.Err != nil)
		}
		p.happened(v)
		if event != nil {
			event(v)
		}
	}
	var err error
	if p.sched, err = schedule.New(opt.Schedule, list...); err != nil {
		return nil, err
	}
	p.analyses, err = newAnalyses(&opt.Schedule)
	return p, err
}

// Serial returns a number that the pool has not returned before.
func (p *Pool) Serial() uint64 { return p.serial.Add(1) }

// Processors returns the processors, in the order of the scheduler.
func (p *Pool) Processors() []*Processor { return p.processors }

// Names returns the names of the processors. They must not be changed.
func (p *Pool) Names() []string { return p.names }

// Log returns the logger of the engine.
func (p *Pool) Log() *zerolog.Logger { return &p.opt.Log }

// Limits returns the limits of queries and predicates.
func (p *Pool) Limits() *limit.Limits { return &p.opt.Limits }

// Do runs a job, whose Work is a Work and whose Kind is a BatchKey, and waits for its end: see
// schedule.Scheduler.Do.
func (p *Pool) Do(ctx context.Context, j *schedule.Job) error { return p.sched.Do(ctx, j) }

// DoAll runs the blocks of a stream: see schedule.Scheduler.DoAll.
func (p *Pool) DoAll(ctx context.Context, s schedule.Stream, caller string, deadline time.Time) error {
	return p.sched.DoAll(ctx, s, caller, deadline)
}

// Use begins a use of the backends outside of queries, such as the opening of an index. Close
// waits for done. The error is plan.ErrClosed.
func (p *Pool) Use() (done func(), err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, fmt.Errorf("the engine is %w", plan.ErrClosed)
	}
	p.using.Add(1)
	return p.using.Done, nil
}

// OnRetire lets f receive each generation of an index or a table, a pointer, before its stores are closed. It is for
// the time before the first index or table is opened.
func (p *Pool) OnRetire(f func(retired any)) { p.retiring = append(p.retiring, f) }

// own registers an index or a table, which Close closes unless disown was called before. The
// caller is between Use and done.
func (p *Pool) own(c io.Closer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.owned = append(p.owned, c)
}

// disown is the inverse of own. It comes after the close of c, which Close waits for.
func (p *Pool) disown(c io.Closer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.owned, c); i >= 0 {
		p.owned = slices.Delete(p.owned, i, i+1)
	}
}

// Close waits for uses and closes all indexes and tables, which waits for their queries, then
// the scheduler and the backends. A second Close returns plan.ErrClosed. If a device hangs, the error is
// schedule.ErrHung too: all backends stay open until the device returns.
func (p *Pool) Close() error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return fmt.Errorf("the engine is %w", plan.ErrClosed)
	}
	p.closed = true
	p.mu.Unlock()
	p.using.Wait()
	p.mu.Lock()
	owned := slices.Clone(p.owned) // the close of each removes it
	p.mu.Unlock()
	var err error
	for _, c := range owned {
		if e := c.Close(); !errors.Is(e, plan.ErrClosed) {
			err = errors.Join(err, e)
		}
	}
	return errors.Join(err, p.analyses.Close(), p.sched.Close(), p.closeBackends())
}

// closeBackends closes the backends, later if one of them hangs.
func (p *Pool) closeBackends() error {
	closeAll := func() (err error) {
		for _, r := range p.processors {
			err = errors.Join(err, r.Close())
		}
		return err
	}
	if p.Idle() {
		p.leaving.Wait()
		return closeAll()
	}
	go func() {
		p.leaving.Wait()
		if err := closeAll(); err != nil {
			p.opt.Log.Warn().Err(err).Msg("closing backends")
		}
	}()
	return fmt.Errorf("backends are still open: %w", schedule.ErrHung)
}
