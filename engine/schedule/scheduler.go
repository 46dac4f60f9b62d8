package schedule

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// Scheduler brings jobs to processors. Its methods may be called by many goroutines at the
// same time. It has no goroutines of its own but those that run batches, which end when
// there is nothing to run, and a timer.
type Scheduler struct {
	opt        Options
	processors []*processor
	epoch      time.Time
	batches    sync.Pool

	mu       sync.Mutex
	lines    map[lineKey]*line
	lastLine *line   // of lines, that was asked for
	waiting  []*line // those that hold jobs
	callers  map[string]*caller
	streams  []*stream
	virtual  time.Duration // of the caller that was served last
	seq      uint64        // of jobs as they arrive

	manyCallers int
	urgent      [3]heap[*Job] // queued with a deadline, by class
	deadlines   heap[*Job]    // all with a deadline
	queued      [3]int        // jobs by class
	work        [3][]time.Duration

	mode    Mode
	load    float64 // at loadAt
	loadAt  time.Duration
	changed time.Duration // when the mode did

	timer *time.Timer
	armed time.Duration // when it fires, never if it does not

	held, active int           // jobs that have not ended; batches that have not come back
	refusing     error         // what new jobs fail with
	closed       bool          // queued ones too
	quiet        chan struct{} // closed when nothing is held or active; nil: nobody waits
	stats        Stats
}

// processor is the scheduler's part of a Processor.
type processor struct {
	Processor
	index   int
	class   Class
	gone    atomic.Bool // out != nil, without the lock
	out     error
	running []*Batch
	several int // of running, that are not single jobs
	memory  int // batches in a row that ran out of it
	batches uint64
	jobs    uint64
	busy    time.Duration
}

const never = time.Duration(math.MaxInt64)

// New starts a scheduler. Processors that are better at nothing are of no harm. Close
// releases it.
func New(opt Options, processors ...Processor) (*Scheduler, error) {
	if err := opt.fill(); err != nil {
		return nil, err
	}
	if len(processors) == 0 || len(processors) > 64 {
		return nil, fmt.Errorf("%d processors: there must be 1 to 64", len(processors))
	}
	s := &Scheduler{
		opt: opt, epoch: time.Now(), lines: map[lineKey]*line{}, callers: map[string]*caller{},
		manyCallers: minCallers, deadlines: heap[*Job]{id: byDeadline}, mode: opt.Mode, armed: never,
	}
	if s.mode == Auto {
		s.mode = Async
	}
	for class := range s.urgent {
		s.urgent[class].id = byUrgency
		s.work[class] = make([]time.Duration, len(processors))
	}
	for i, p := range processors {
		if p.Lanes < 1 || p.Singles < 0 || p.Threshold == nil || p.Most < 0 || p.Estimate == nil || p.Run == nil {
			return nil, fmt.Errorf("processor %q: %d lanes, %d singles, at most %d jobs: one is out of bounds, or a function is missing", p.Name, p.Lanes, p.Singles, p.Most)
		}
		if p.Singles == 0 {
			p.Singles = p.Lanes
		}
		if p.Most == 0 {
			p.Most = 65536
		}
		class := Device
		if p.Host {
			class = Host
		}
		s.processors = append(s.processors, &processor{Processor: p, index: i, class: class})
	}
	s.batches.New = func() any {
		b := &Batch{batchState: batchState{s: s}}
		b.run = func() { s.lane(b) }
		return b
	}
	s.timer = time.AfterFunc(never, s.tick)
	return s, nil
}

// fill puts defaults where options are zero.
func (o *Options) fill() error {
	if o.Mode > Sync || o.Capacity < 0 || min(o.MaxAge, o.Hold, o.Window, o.Slack, o.Hang) < 0 ||
		!(min(o.Enter, o.Leave, o.Similar, o.Patience) >= 0) {
		return fmt.Errorf("options of the scheduler: one is below nothing: %+v", *o)
	}
	setDefault(&o.Capacity, 8192)
	setDefault(&o.MaxAge, time.Millisecond)
	setDefault(&o.Enter, 0.7)
	setDefault(&o.Leave, 0.4)
	setDefault(&o.Hold, 100*time.Millisecond)
	setDefault(&o.Window, 100*time.Millisecond)
	setDefault(&o.Similar, 1.2)
	setDefault(&o.Patience, 4)
	setDefault(&o.Slack, time.Millisecond)
	setDefault(&o.Hang, 10*time.Second)
	if o.Leave > o.Enter || o.Similar < 1 {
		return fmt.Errorf("options of the scheduler: leave %v above enter %v, or similar %v below 1", o.Leave, o.Enter, o.Similar)
	}
	return nil
}

func setDefault[T comparable](v *T, to T) {
	var zero T
	if *v == zero {
		*v = to
	}
}

func (s *Scheduler) now() time.Duration { return time.Since(s.epoch) }

// Do runs j and waits for its end. The error is that of ctx, a DeadlineError, a FullError,
// plan.ErrClosed after Drain or Close, ErrNoProcessor joined with why there is none,
// ErrHung where an answer was begun and not ended, or else the job's own. With an error
// the answer in j.Work is not valid, and a Run that does not know of it yet may still
// read Work.
func (s *Scheduler) Do(ctx context.Context, j *Job) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.estimate(j)
	now := s.now()
	s.mu.Lock()
	b, err := s.arrive(j, now)
	switch {
	case err != nil:
		s.mu.Unlock()
		return err
	case b != nil && b.inline:
		b.ctx.begin(ctx, j.Deadline)
		s.mu.Unlock()
		if s.inline(b, j) {
			return j.err
		}
	case b != nil:
		j.waiting = true
		s.mu.Unlock()
		go b.run()
	default:
		j.waiting = true
		s.mu.Unlock()
	}
	if ctx.Done() == nil {
		<-j.done
		return j.err
	}
	select {
	case <-j.done:
	case <-ctx.Done():
		if !s.give(j, ctx.Err()) {
			<-j.done
		}
	}
	return j.err
}

// estimate asks the processors what j should take.
func (s *Scheduler) estimate(j *Job) {
	estimates, added := j.Trace.Estimates[:0], j.added[:0]
	for _, p := range s.processors {
		alone, more, ok := time.Duration(-1), time.Duration(-1), false
		if !p.gone.Load() {
			alone, more, ok = p.Estimate(j)
		}
		if ok {
			alone, more = min(max(alone, 1), longest), min(max(more, 1), longest)
		} else {
			alone, more = -1, -1
		}
		estimates, added = append(estimates, alone), append(added, more)
	}
	j.Trace, j.added = Trace{Estimates: estimates}, added
}

// longest estimate that is believed: sums of them do not overflow.
const longest = time.Hour

// arrive admits j. It returns a batch if j is to run at once; else it waits.
func (s *Scheduler) arrive(j *Job, now time.Duration) (*Batch, error) {
	if s.refusing != nil {
		s.stats.Refused++
		return nil, s.refusing
	}
	s.admit(j, now)
	if !j.Deadline.IsZero() {
		if j.deadline = j.Deadline.Sub(s.epoch); j.deadline <= now {
			s.stats.Expired++
			return nil, &DeadlineError{}
		}
	}
	j.batched = j.Mode == Sync || j.Mode == Auto && s.mode == Sync
	if !s.classify(j) {
		s.stats.Failed++
		return nil, s.noProcessor(nil)
	}
	if s.arrived(j.best, now) && j.Mode == Auto {
		j.batched = s.mode == Sync
		s.classify(j)
	}
	j.caller = s.callerNamed(j.Caller)
	var p *processor
	if !j.batched {
		p = s.place(j, now)
	}
	if p == nil {
		if err := s.room(j.caller); err != nil {
			s.stats.Refused++
			return nil, err
		}
	}
	s.held++
	if j.deadline != never {
		s.deadlines.push(j.deadline, j.seq, j)
		s.arm(j.deadline)
	}
	if p == nil {
		s.enqueue(j, now)
		s.dispatch(now)
		return nil, nil
	}
	b := s.newBatch(p, Async)
	s.take(b, j)
	b.inline = p.Inline
	s.begin(b, now)
	return b, nil
}

// admit resets the scheduler's part of j.
func (s *Scheduler) admit(j *Job, now time.Duration) {
	if j.done == nil {
		j.done = make(chan struct{}, 1)
	}
	s.seq++
	j.waiting, j.finished, j.solo, j.late, j.err, j.reason = false, false, false, false, nil, nil
	j.barred, j.stream, j.seq, j.at = 0, nil, s.seq, [heaps]int{-1, -1, -1}
	j.arrived, j.deadline = now, never
	j.Trace.Arrived = s.epoch.Add(now)
}

// room returns a FullError where another job of c may not wait. A caller holds at most
// eight times the room that is left (the dynamic threshold of Choudhury and Hahne 1998):
// alone it gets 8/9 of the queue, and the more there are, the less of it each.
func (s *Scheduler) room(c *caller) error {
	n := s.queuedJobs()
	if left := s.opt.Capacity - n; left <= 0 || c.queued >= 8*left {
		return &FullError{Caller: c.name, Held: c.queued, Queued: n, Room: s.opt.Capacity}
	}
	return nil
}

func (s *Scheduler) queuedJobs() int { return s.queued[Either] + s.queued[Device] + s.queued[Host] }

// can says whether processor p can run j now.
func (s *Scheduler) can(j *Job, p int) bool {
	return j.Trace.Estimates[p] >= 0 && s.processors[p].out == nil && j.barred>>p&1 == 0
}

// classify finds the class of j and its time where it is fastest; false if it can run
// nowhere.
func (s *Scheduler) classify(j *Job) bool {
	device, host := never, never
	j.best = never
	for p, r := range s.processors {
		if !s.can(j, p) {
			continue
		}
		j.best = min(j.best, j.Trace.Estimates[p])
		if r.Host {
			host = min(host, j.cost(p))
		} else {
			device = min(device, j.cost(p))
		}
	}
	switch {
	case s.opt.Similar*float64(device) <= float64(host):
		j.Trace.Class = Device
	case s.opt.Similar*float64(host) <= float64(device):
		j.Trace.Class = Host
	default:
		j.Trace.Class = Either
	}
	return j.best != never
}

// noProcessor is why a job can run nowhere: what its last attempt failed with, or else
// what the processors were taken out for.
func (s *Scheduler) noProcessor(reason error) error {
	if reason == nil {
		var outs []error
		for _, p := range s.processors {
			outs = append(outs, p.out)
		}
		if reason = errors.Join(outs...); reason == nil {
			return ErrNoProcessor
		}
	}
	return fmt.Errorf("%w: %w", ErrNoProcessor, reason)
}
