// Package schedule assigns jobs to processors: devices and the host beside them. It knows the
// estimated run time of a job on each processor, and no queries or stores.
//
// The mechanism owns the order of jobs, deadlines, cancellation, claims of answers, calls with many
// queries, faults and the watch on batches. A Policy owns the rest: which processor runs a job, whether
// alone or in a batch, and when a batch closes. The policies are
//
//   - cooperative, the default: modes, classes, stealing, and the rule of cooperation (cooperative.go);
//   - device-first: devices run all that they can, the host runs the rest (devicefirst.go);
//   - wu: alone under light load, batches on devices under heavy load (wu.go);
//   - ding: three classes of jobs, stealing, deadlines (ding.go).
//
// A job that cannot run at once waits in a bounded queue. Callers share the processors evenly. Within
// a caller small jobs go before large ones, for a bounded time: only jobs that arrive within a
// multiple of the large job's own time may overtake it. A job near its deadline runs next. A job past
// its deadline fails, and no processor takes a job that it cannot end in time while another one can. A
// job or call that has waited for two seconds starves. Starving jobs and calls, the oldest first, get
// up to an eighth of the batches and of the time, and have first choice of lanes and cores.
//
// Jobs that arrive while another goroutine changes the queue do not wait for the lock: the
// goroutine that holds it admits them together, in order (inbox.go).
//
// A processor that fails is removed until a probe succeeds or Restore is called, and its jobs
// run elsewhere: each is answered once or fails with an error that errors.Is tells apart. The
// last processor is not removed because it hangs: its jobs wait (watch.go). Reserve processors
// run only jobs that no other processor can run.
package schedule

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"heddle/engine/internal/stack"
	"heddle/engine/plan"
)

// Scheduler assigns jobs to processors. It is safe for concurrent use. Its goroutines run
// batches and end when no job waits; it also has a timer.
type Scheduler struct {
	view
	batches sync.Pool // values *Batch that have ended, for reuse

	_           [cacheLine]byte
	inbox       atomic.Pointer[Job] // the youngest job that arrived while the lock was held; Job.next links the older ones
	_           [cacheLine]byte
	mu          sync.Mutex   // taken by lock and tryLock, left by unlock
	lockWaiters atomic.Int32 // goroutines that wait for mu
	_           [cacheLine]byte

	clients
	undispatched bool   // jobs were queued after the last dispatch
	seq          uint64 // sequence number of the last job

	// Deadlines.
	urgentJobs [3]heap[*Job] // waiting jobs by class, ordered by latest start
	deadlines  heap[*Job]    // queued and running jobs, ordered by deadline
	clock

	mode          Mode          // mode of the policy at the start, or as the last Event told it
	heldJobs      int           // jobs that have not ended
	activeBatches int           // batches that have not returned
	quiet         chan struct{} // closed when nothing is held and nothing runs; nil: Close does not wait
	stats         Stats
}

// cacheLine separates fields that different cores write.
const cacheLine = 64

// processor is the scheduler's record of a Processor. All fields but removed are under the
// scheduler's lock.
type processor struct {
	Processor
	scheduler *Scheduler
	index     int
	class     Class       // Device or Host
	removed   atomic.Bool // removal != nil, for readers without the lock
	_         [cacheLine]byte
	capacity  capacity

	running        []*Batch
	runningBatches int           // elements of running that are batches, not single jobs
	busyFrom       time.Duration // end of the last batch
	triedAt        time.Duration // when it last took a block of a call, or jobs of another processor

	// Service of starving jobs.
	sinceStarving int           // batches since the last one for a starving job or call
	starvingDebt  time.Duration // estimated time of other batches before the next one for a starving job

	// Faults.
	removal          error  // why it was removed; nil: it works
	memoryFailures   int    // batches in a row that ran out of memory
	suspectFailures  int    // jobs in a row that failed here and were answered elsewhere
	successes        uint64 // batches without an error, and restorations
	suspectSuccesses uint64 // successes before the first of suspectFailures
	abandonedRuns    int    // batches and probes that were given up and have not returned
	restoredAt       time.Duration
	probeDelay       time.Duration // from a removal to the next probe
	probeAt          time.Duration // time of the next probe; never: none is planned

	// Statistics.
	batches, jobs uint64
	busy          time.Duration // sum over lanes
}

const never = time.Duration(math.MaxInt64)

// New starts a scheduler. Close releases it.
func New(opt Options, processors ...Processor) (*Scheduler, error) {
	if err := opt.fill(); err != nil {
		return nil, err
	}
	if len(processors) == 0 || len(processors) > 64 {
		return nil, fmt.Errorf("%d processors: there must be 1 to 64", len(processors))
	}
	s := &Scheduler{
		view:    view{opt: opt, cores: cores{total: opt.Cores, clock: opt.CPU}},
		clients: clients{kindQueues: map[kindKey]*kindQueue{}, callers: map[string]*caller{}, pruneAt: minCallers},
		clock:   clock{epoch: time.Now(), hang: opt.Hang, timerAt: never}, deadlines: heap[*Job]{id: byDeadline},
	}
	policy, _ := policyOf(opt.Policy)
	s.policy = policy.make(&s.opt, len(processors))
	s.mode = s.policy.Mode()
	if _, ok := s.policy.(*cooperative); !ok {
		s.cores.total = 0 // the host takes all cores
	}
	for class := range s.urgentJobs {
		s.urgentJobs[class].id = byUrgency
		s.queuedTime[class] = make([]time.Duration, len(processors))
	}
	for i, p := range processors {
		if p.Lanes < 1 || p.Singles < 0 || p.Threshold == nil || p.Threads < 0 || p.Threads > 0 && !p.Host || p.Estimate == nil || p.Run == nil {
			return nil, fmt.Errorf("processor %q: %d lanes, %d singles, %d threads of a host: one is out of bounds, or a function is missing", p.Name, p.Lanes, p.Singles, p.Threads)
		}
		if p.Singles == 0 {
			p.Singles = p.Lanes
		}
		p.Blocks = max(p.Blocks, p.Lanes)
		class := Device
		if p.Host {
			class = Host
		}
		s.processors = append(s.processors, &processor{Processor: p, scheduler: s, index: i, class: class, capacity: newCapacity(p.Singles, p.Host), probeDelay: opt.Probe, probeAt: never})
	}
	s.batches.New = func() any {
		b := &Batch{batchState: batchState{scheduler: s}}
		b.run = func() {
			stack.Grow()
			b.lane()
		}
		return b
	}
	s.timer = time.AfterFunc(never, s.tick)
	return s, nil
}

// fill replaces zero options by their defaults.
func (o *Options) fill() error {
	if o.Mode > Sync || min(o.Capacity, o.Cores) < 0 || min(o.MaxAge, o.Hold, o.Hang, o.Probe) < 0 ||
		!(min(o.Enter, o.Leave, o.Similar) >= 0) {
		return fmt.Errorf("scheduler: negative option: %+v", *o)
	}
	policy, err := policyOf(o.Policy)
	if err != nil {
		return err
	}
	setDefault(&o.Mode, policy.mode)
	setDefault(&o.Capacity, 8192)
	setDefault(&o.MaxAge, time.Millisecond)
	setDefault(&o.Enter, 0.7)
	setDefault(&o.Leave, 0.4)
	setDefault(&o.Hold, 100*time.Millisecond)
	setDefault(&o.Similar, 1.2)
	setDefault(&o.Hang, 10*time.Second)
	setDefault(&o.Probe, time.Second)
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

// Do runs j and waits for its end. The error is ctx.Err(), a DeadlineError, a FullError,
// plan.ErrClosed after Close, ErrNoProcessor joined with the reason, or else the
// job's own. With an error the answer in j.Work is not valid, and a Run that still runs may
// read Work.
func (s *Scheduler) Do(ctx context.Context, j *Job) error {
	if err := ctx.Err(); err != nil {
		j.Trace = Trace{Arrived: time.Now(), Estimates: j.Trace.Estimates[:0]}
		return err
	}
	if j.done == nil {
		j.done = make(chan struct{}, 1)
	}
	s.prepare(j)
	if s.tryLock() {
		b, err := s.arrive(j)
		switch {
		case err != nil:
			s.unlock()
			return err
		case b != nil && b.inline:
			b.ctx.begin(ctx, j.Deadline)
			s.unlock()
			if b.runInline(j) {
				return j.err
			}
		case b != nil:
			j.waiting = true
			s.unlock()
			go b.run()
		default:
			j.waiting = true
			s.unlock()
		}
	} else {
		s.post(j)
	}
	if ctx.Done() == nil {
		<-j.done
		j.wakeGroup()
		return j.err
	}
	select {
	case <-j.done:
	case <-ctx.Done():
		if s.withdraw(j, ctx.Err()) {
			return j.err
		}
		<-j.done
	}
	j.wakeGroup()
	return j.err
}

// Close fails the waiting jobs with plan.ErrClosed, and waits until the running jobs have
// ended. It does not wait for a Run that counts as hung: that goroutine is left alone. A
// second Close returns plan.ErrClosed.
func (s *Scheduler) Close() error {
	now := s.lock()
	if s.closed {
		s.unlock()
		return errClosed
	}
	quiet := make(chan struct{})
	s.closed, s.quiet = true, quiet
	s.failWaiting(errClosed, now)
	s.unlock()
	<-quiet
	s.timer.Stop()
	return nil
}

// Stats returns a snapshot.
func (s *Scheduler) Stats() Stats {
	now := s.lock()
	defer s.unlock()
	s.decay(now)
	st := s.stats
	st.Mode, st.Load, st.Queued, st.Capacity = s.mode, s.load(), s.queued, s.opt.Capacity
	for _, p := range s.processors {
		busy := p.busy
		for _, b := range p.running {
			busy += now - b.started
		}
		st.Processors = append(st.Processors, ProcessorStats{
			Name: p.Name, Out: p.removal, Hung: s.hangs(p, now), Running: len(p.running), Batches: p.batches, Jobs: p.jobs, Busy: busy,
		})
	}
	return st
}

// errClosed is the error of jobs that come too late.
var errClosed = fmt.Errorf("the engine is %w", plan.ErrClosed)
