package schedule

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// Scheduler assigns jobs to processors. It is safe for concurrent use. Its goroutines run
// batches and end when no job waits; it also has a timer.
type Scheduler struct {
	view
	epoch   time.Time // the origin of all times
	batches sync.Pool // of *Batch, for reuse

	_           [cacheLine]byte
	inbox       atomic.Pointer[Job] // the youngest job that arrived while the lock was held; Job.next links the older ones
	_           [cacheLine]byte
	mu          sync.Mutex   // taken by lock and tryLock, left by unlock
	lockWaiters atomic.Int32 // goroutines that wait for mu
	_           [cacheLine]byte

	kindQueues    map[kindKey]*kindQueue
	lastKindQueue *kindQueue // the last result of kindQueueOf
	undispatched  bool       // jobs were queued after the last dispatch
	seq           uint64     // sequence number of the last job

	// Fairness.
	callers     map[string]*caller
	pruneAt     int           // number of callers at which idle ones are forgotten
	virtualTime time.Duration // virtual start of the caller that was served last in its turn

	// Deadlines.
	urgentJobs [3]heap[*Job] // waiting jobs by class, ordered by latest start
	deadlines  heap[*Job]    // queued and running jobs, ordered by deadline
	timer      *time.Timer
	timerAt    time.Duration // next tick; never if the timer is off
	tickedAt   time.Duration // last tick, or start of the timer after a pause

	mode          Mode          // of the policy, as last told
	heldJobs      int           // jobs that have not ended
	activeBatches int           // batches that have not returned
	closed        bool          // waiting jobs fail with refusal, too
	quiet         chan struct{} // closed as soon as nothing is held and nothing runs; nil: nobody waits
	stats         Stats
}

// cacheLine separates fields that different cores write.
const cacheLine = 64

// processor is the scheduler's record of a Processor. All fields but removed are under the
// scheduler's lock.
type processor struct {
	Processor
	index    int
	class    Class       // Device or Host
	removed  atomic.Bool // removal != nil, for readers without the lock
	_        [cacheLine]byte
	capacity capacity

	running        []*Batch
	runningBatches int           // elements of running that are batches, not single jobs
	busyFrom       time.Duration // end of the last batch, or start of the first one after a pause
	triedAt        time.Duration // when it last took a block of a call, or jobs of another processor

	// Service of starving jobs.
	sinceStarving int           // batches since the last one for a starving job or call
	starvingDebt  time.Duration // estimated time of other batches before the next one for a starving job

	// Faults.
	removal          error  // why it was removed; nil: it works
	memoryFailures   int    // batches in a row that ran out of memory
	suspectFailures  int    // jobs in a row that failed here and were answered elsewhere
	successes        uint64 // batches without an error
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
		view:  view{opt: opt, cores: cores{total: opt.Cores, clock: opt.CPU}},
		epoch: time.Now(), kindQueues: map[kindKey]*kindQueue{}, callers: map[string]*caller{},
		pruneAt: minCallers, deadlines: heap[*Job]{id: byDeadline}, timerAt: never,
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
		if p.Lanes < 1 || p.Singles < 0 || p.Threshold == nil || min(p.Most, p.Threads) < 0 || p.Threads > 0 && !p.Host || p.Estimate == nil || p.Run == nil {
			return nil, fmt.Errorf("processor %q: %d lanes, %d singles, at most %d jobs, %d threads of a host: one is out of bounds, or a function is missing", p.Name, p.Lanes, p.Singles, p.Most, p.Threads)
		}
		if p.Singles == 0 {
			p.Singles = p.Lanes
		}
		if p.Most == 0 {
			p.Most = 65536
		}
		p.Blocks = max(p.Blocks, p.Lanes)
		class := Device
		if p.Host {
			class = Host
		}
		s.processors = append(s.processors, &processor{Processor: p, index: i, class: class, capacity: newCapacity(p.Singles, p.Host), probeDelay: opt.Probe, probeAt: never})
	}
	s.batches.New = func() any {
		b := &Batch{batchState: batchState{scheduler: s}}
		b.run = func() { s.lane(b) }
		return b
	}
	s.timer = time.AfterFunc(never, s.tick)
	s.updateReserves()
	return s, nil
}

// updateReserves decides whether reserve processors take all jobs, because no other
// processor works. It is called whenever a processor is removed or restored.
func (s *Scheduler) updateReserves() {
	s.onlyReserves = true
	for _, p := range s.processors {
		if p.removal == nil && !p.Reserve {
			s.onlyReserves = false
		}
	}
}

// fill replaces zero options by their defaults.
func (o *Options) fill() error {
	if o.Mode > Sync || min(o.Capacity, o.Cores) < 0 || min(o.MaxAge, o.Hold, o.Window, o.Slack, o.Hang, o.Probe) < 0 ||
		!(min(o.Enter, o.Leave, o.Similar, o.Patience) >= 0) {
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
	setDefault(&o.Window, 100*time.Millisecond)
	setDefault(&o.Similar, 1.2)
	setDefault(&o.Patience, 4)
	setDefault(&o.Slack, time.Millisecond)
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

func (s *Scheduler) now() time.Duration { return time.Since(s.epoch) }

// Do runs j and waits for its end. The error is ctx.Err(), a DeadlineError, a FullError,
// plan.ErrClosed after Drain or Close, ErrNoProcessor joined with the reason, or else the
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
			if s.inline(b, j) {
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
