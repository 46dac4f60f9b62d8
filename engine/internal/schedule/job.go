package schedule

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// Mode is how jobs run.
type Mode uint8

const (
	Auto  Mode = iota // Async or Sync, by the load
	Async             // each job alone
	Sync              // jobs in batches
)

// Modes returns all modes.
func Modes() []Mode { return []Mode{Auto, Async, Sync} }

// String gives the name that command line and configuration use.
func (m Mode) String() string {
	if names := [...]string{"auto", "async", "sync"}; int(m) < len(names) {
		return names[m]
	}
	return fmt.Sprintf("mode(%d)", uint8(m))
}

// ParseMode is the inverse of String, case ignored.
func ParseMode(s string) (Mode, error) {
	for _, m := range Modes() {
		if strings.EqualFold(s, m.String()) {
			return m, nil
		}
	}
	return 0, fmt.Errorf("unknown mode %q (one of auto, async, sync)", s)
}

// Class says which processors a job suits (Ding et al. 2009, section 9).
type Class uint8

const (
	Either Class = iota // none is much better than the other
	Device              // devices
	Host                // the host
)

func (c Class) String() string { return [...]string{"either", "device", "host"}[c] }

// Job is one query on its way, or a block of a Stream. From the call of Do to its return it
// belongs to the scheduler. It may be used again, which saves allocations, unless a Run may
// still read it: this is excluded if Trace.Attempts is 0, or 1 and Do has returned no error.
type Job struct {
	// Kind decides which jobs may share a batch: jobs with equal kinds. It must be
	// comparable.
	Kind any
	// Work is the data of Processor.Estimate and Processor.Run.
	Work any
	// Caller names the client. Callers share the processors evenly. Empty is a caller, too.
	Caller string
	// Load is the load of the job in a batch, in the units of Processor.Threshold for Kind.
	Load uint64
	// Mode forces a mode; Auto leaves it to the policy.
	Mode Mode
	// Reserves lets reserve processors run the job beside the other ones. Default: false,
	// they run it only if no other processor can.
	Reserves bool
	// Deadline fails the job when it has passed, queued or running; zero is none.
	Deadline time.Time

	jobState

	// Trace is the history of the job. It is valid when Do has returned.
	Trace Trace
}

// Trace is how a job was scheduled.
type Trace struct {
	Arrived   time.Time
	Mode      Mode
	Class     Class
	Processor string // name of the processor that answered; empty: none
	// Estimates are the estimated times of the job alone, by processor, at its arrival;
	// negative where it cannot run.
	Estimates []time.Duration
	// Estimate is the estimated time of the batch that answered the job; of the job alone
	// if it ran alone.
	Estimate time.Duration
	Batch    int           // number of jobs of the batch that answered
	Queued   time.Duration // from arrival to the start of the last attempt
	Ran      time.Duration // run time of the last attempt
	Attempts int           // number of starts
}

// Stream is a call with many queries, which processors cut blocks off as they become
// free. It is synchronous: a block is a batch by itself.
type Stream interface {
	// Kind is the kind of the next block, for Processor.Threshold.
	Kind() any
	// Blocks is the number of blocks that processor p may run at a time, at most
	// Processor.Blocks; 0: it cannot run any. It is called as Cut is.
	Blocks(p int) int
	// Left is the number of queries that are not cut. It is called as Cut is.
	Left() int
	// Each is the time of a query on processor p, whose lanes share it, as learnt from earlier
	// blocks of the same kind of queries; 0 is unknown. It is called as Cut is.
	Each(p int) time.Duration
	// Learn receives the time of a query on processor p in this call so far, when a block has
	// ended. It is called as Cut is.
	Learn(p int, block *Job, each time.Duration)
	// Cut returns the next block for processor p, a job of about load and of at most a number
	// of queries, or nil when nothing is left. Calls do not overlap. It runs under the scheduler's lock: it must be quick,
	// must not panic, and leaves the resolving of queries to Processor.Run. Kind, Caller,
	// Deadline and Mode of the job come from the call. Its Trace is valid when DoAll has
	// returned.
	Cut(p int, load uint64, most int) *Job
}

// Heaps that a job may be in at the same time.
const (
	byOrder    = iota // waiting jobs of a caller: small and old ones first
	byUrgency         // waiting jobs of a class with a deadline: the one first that is urgent first
	byDeadline        // queued and running jobs with a deadline: least deadline first
	heaps
)

// jobState is the scheduler's record of a job. All fields but owner are under the scheduler's
// lock while the job is held. Times count from the start of the scheduler. The order of fields
// follows their use, because each group comes from the cache of another core.
type jobState struct {
	// owner is the attempt that may answer: nil is none, &claimed says that the answer is
	// being written. Only a swap of owner decides between an answer and its being too late.
	owner atomic.Pointer[Batch]

	done  chan struct{} // receives once, if waiting, or if refused from the inbox
	next  *Job          // next in the queue by arrival, in the inbox, or in a group of callers to wake
	prev  *Job          // previous in the queue by arrival
	batch *Batch        // that runs the job; nil: none

	err         error
	waiting     bool // the caller sleeps until done
	finished    bool
	batchPriced bool       // costs are additions to a batch, not times alone
	runsAlone   bool       // it joins no batch, whatever the mode
	reserveOnly bool       // no processor can run it but reserve processors
	postponed   bool       // too late for its deadline, so it waits behind jobs that are not
	singleClass Class      // class by its times alone
	kindQueue   *kindQueue // where it waits; nil: it does not
	callerQueue *callerQueue
	caller      *caller
	arrived     time.Duration
	bestTime    time.Duration // alone on the fastest processor
	freeCores   float64       // share of the cores that fed no device when it arrived, 0 to 1

	added       []time.Duration     // estimated addition to a batch by processor; negative: cannot run
	timesMemory [2][4]time.Duration // memory of added and Trace.Estimates, for at most four processors
	positions   [heaps]int          // index in each heap, or absent
	stream      *stream             // the call whose block it is; nil: none
	seq         uint64              // order of arrival
	similarCost time.Duration       // greatest cost at which a processor suits the job
	barredOn    uint64              // bit set of processors that must not run it again
	deadline    time.Duration       // never: none
	failures    []failure           // attempts whose error may have been the job's own
	lastError   error               // why the last attempt failed; nil before the first failure
}

// usage is the CPU time that the process has used at a time.
type usage struct{ at, cpu time.Duration }

// claimed is the owner of jobs whose answers are being written.
var claimed Batch

// moved notes a place in a heap.
func (j *Job) moved(heap uint8, at int) { j.positions[heap] = at }

// cost is the time of j on processor p: its addition to a batch, or its time alone.
func (j *Job) cost(p int) time.Duration {
	if j.batchPriced {
		return j.added[p]
	}
	return j.Trace.Estimates[p]
}

// batchState is the scheduler's record of a batch.
type batchState struct {
	scheduler      *Scheduler
	processor      *processor
	started, limit time.Duration // after limit the batch counts as hung
	watched        usage         // time and CPU time when works was last called
	givenUp        bool          // its jobs have failed, but it keeps its lane
	expectedTime   time.Duration // estimate, corrected by the times of earlier batches
	concurrent     int           // batches that ran on the processor at the start
	cores          int           // cores that it takes on a host; 0 on a device
	cpuTime        time.Duration // estimated CPU time on a host
	longestJob     time.Duration // greatest time alone of its jobs
	inline         bool          // it runs on the goroutine of its caller
	abandoned      bool          // it hung, and the scheduler waits for it no more
	delivering     bool          // it has left its lane before its return
	stream         *stream       // the call whose block it is; nil: none
	queries        int           // queries of the block
	ctx            runContext    // context of Run, if the processor takes inline jobs
	answered       []*Job        // jobs with an answer and a caller to wake
	run            func()        // runs the batch on a goroutine of its own
}

// timeFloor raises the estimate of a batch like b to the time of its longest job alone.
func (b *Batch) timeFloor(estimate time.Duration) time.Duration { return max(estimate, b.longestJob) }

// Claim asks whether the answer of Jobs[i] may be written: true once, unless the job was
// given up. After true the answer must be written before Run returns. It is safe for
// concurrent use.
func (b *Batch) Claim(i int) bool {
	return b.Jobs[i].owner.CompareAndSwap(b, &claimed)
}

// Delivering frees the lane for the next batch. Run may call it, once, when it has claimed
// its jobs and needs the processor no more, before it hands answers to a caller that may be
// slow. A stream has at most twice as many blocks running and in delivery as the processor
// has lanes.
func (b *Batch) Delivering() {
	s := b.scheduler
	now := s.lock()
	defer s.unlock()
	if b.abandoned || b.delivering {
		return
	}
	b.leave(now)
	b.delivering = true
	s.dispatch(now)
}

// beingAnswered says whether the answer of a job of b is being written.
func (b *Batch) beingAnswered() bool {
	return slices.ContainsFunc(b.Jobs, func(j *Job) bool { return j.batch == b && j.owner.Load() == &claimed })
}

// release takes j from the attempt that runs it; false where its answer is being written.
func (j *Job) release() bool {
	if !j.owner.CompareAndSwap(j.batch, nil) {
		return false
	}
	j.batch = nil
	return true
}
