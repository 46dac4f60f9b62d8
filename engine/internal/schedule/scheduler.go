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
	opt        Options
	processors []*processor
	epoch      time.Time
	batches    sync.Pool

	_      [cacheLine]byte     // the fields above are read without the lock
	inbox  atomic.Pointer[Job] // came while the lock was held: the youngest, linked by next
	_      [cacheLine]byte
	mu     sync.Mutex   // by lock and unlock
	wanted atomic.Int32 // goroutines that wait for it
	_      [cacheLine]byte

	unseen   bool          // jobs have been queued since dispatch
	reserves bool          // only reserve processors work
	time     time.Duration // when the lock was taken
	lines    map[lineKey]*line
	lastLine *line   // of lines, that was asked for
	waiting  []*line // lines that hold jobs
	callers  map[string]*caller
	streams  []*stream
	virtual  time.Duration // of the caller that was served last in turn
	seq      uint64        // of jobs as they arrive

	manyCallers int
	urgent      [3]heap[*Job] // queued with a deadline, by class
	deadlines   heap[*Job]    // all with a deadline
	queued      [3]int        // jobs by class
	work        [3][]time.Duration

	mode     Mode
	arriving [3]float64 // seconds of single jobs a second, by class, at decayed
	decayed  time.Duration
	changed  time.Duration // when the mode did

	timer *time.Timer
	armed time.Duration // when it fires, never if it does not
	// looked is when it last fired, or was armed for the first time since then.
	looked time.Duration

	held, active int           // jobs that have not ended; batches that have not come back
	refusing     error         // error of further jobs
	closed       bool          // queued ones too
	quiet        chan struct{} // closed when nothing is held or active; nil: no goroutine waits
	stats        Stats

	cores cores
}

// cacheLine separates fields that different cores write.
const cacheLine = 64

// processor is the scheduler's part of a Processor.
type processor struct {
	Processor
	index    int
	class    Class
	gone     atomic.Bool // out != nil, without the lock
	_        [cacheLine]byte
	out      error
	running  []*Batch
	several  int           // of running, that are not single jobs
	passed   int           // batches since the last one that began with the oldest job or call that starved
	owed     time.Duration // estimated time of other batches before the next one of this kind
	inside   float64       // part of the time of recent batches in which the processor worked
	capacity capacity
	tried    time.Duration // when it last took a block of a stream, or jobs of another processor
	ended    time.Duration // when its last batch did, or it began to run after a pause
	memory   int           // batches in a row that ran out of it
	// jobs in a row that failed here and were answered elsewhere, and the successes before
	odd               int
	successes, before uint64
	batches           uint64
	jobs              uint64
	busy              time.Duration

	stray    int           // batches and probes that were given up and have not returned
	restored time.Duration // when it was
	delay    time.Duration // between a removal and a probe
	probeAt  time.Duration // if it is out; never: not planned
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
		opt: opt, epoch: time.Now(), lines: map[lineKey]*line{}, callers: map[string]*caller{},
		manyCallers: minCallers, deadlines: heap[*Job]{id: byDeadline}, mode: opt.Mode, armed: never,
		cores: cores{all: opt.Cores, clock: opt.CPU},
	}
	if s.mode == Auto {
		s.mode = Async
	}
	for class := range s.urgent {
		s.urgent[class].id = byUrgency
		s.work[class] = make([]time.Duration, len(processors))
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
		s.processors = append(s.processors, &processor{Processor: p, index: i, class: class, inside: 1, capacity: newCapacity(p.Singles, p.Host), delay: opt.Probe, probeAt: never})
	}
	s.batches.New = func() any {
		b := &Batch{batchState: batchState{s: s}}
		b.run = func() { s.lane(b) }
		return b
	}
	s.timer = time.AfterFunc(never, s.tick)
	s.callReserves()
	return s, nil
}

// callReserves decides whether reserve processors take all jobs, because no other
// processor works. It is called whenever a processor is removed or restored.
func (s *Scheduler) callReserves() {
	s.reserves = true
	for _, p := range s.processors {
		if p.out == nil && !p.Reserve {
			s.reserves = false
		}
	}
}

// idles says whether p waits in reserve while other processors work.
func (s *Scheduler) idles(p *processor) bool { return p.Reserve && !s.reserves }

// fill replaces zero options by their defaults.
func (o *Options) fill() error {
	if o.Mode > Sync || min(o.Capacity, o.Cores) < 0 || min(o.MaxAge, o.Hold, o.Window, o.Slack, o.Hang, o.Probe) < 0 ||
		!(min(o.Enter, o.Leave, o.Similar, o.Patience) >= 0) {
		return fmt.Errorf("scheduler: negative option: %+v", *o)
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
		if s.give(j, ctx.Err()) {
			return j.err
		}
		<-j.done
	}
	j.wakeGroup()
	return j.err
}
