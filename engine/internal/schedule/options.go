package schedule

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Options of a scheduler. The zero value is the default.
type Options struct {
	// Policy decides what runs where: see Policies. Empty is "cooperative".
	Policy string
	// Mode forces one. Auto is Async below Leave and Sync above Enter, under the policies wu and
	// cooperative. The other policies have one mode each.
	Mode Mode
	// Capacity is the number of jobs and streams that may wait; more are refused with
	// ErrFull. 0 is 8192. A caller takes at most eight times the room that it leaves free.
	Capacity int
	// MaxAge closes a batch under Sync when its oldest job has waited so long. 0 is 1 ms.
	// Under the policy cooperative without a forced mode, an idle processor starts a batch at
	// once, and so does a device with fewer batches than keep it busy: at least two.
	MaxAge time.Duration
	// Enter and Leave are utilisation thresholds: estimated work arriving per second over work
	// completed per second, for all processors or for one class, the greater of both. Auto changes
	// to Sync above Enter, when four jobs wait for each lane, or when a job has waited for eight times
	// MaxAge and twice its own time. It changes back to Async below Leave without such a backlog, when
	// Sync has lasted for Hold. 0 is 0.7, 0.4 and 100 ms.
	Enter, Leave float64
	Hold         time.Duration
	// Similar is the ratio of run times from which a job suits the faster class only, at least 1.
	// 0 is 1.2, as in Ding et al. 2009, section 9.
	Similar float64
	// Hang is the time after which a batch counts as hung, and its processor as failed, if the
	// batch has also taken 50 times its estimate. Time in which the machine does not run the scheduler
	// does not count, up to ten times the limit. While no other processor can run the jobs
	// of the batch, they wait for it for twice the limit, and for ten times the limit while
	// the process uses CPU time. The last processor stays: jobs that have waited so long fail
	// with ErrHung, and later ones run when it returns. 0 is 10 s.
	Hang time.Duration
	// Probe is the time from the removal of a processor to its first probe. It doubles with
	// each probe, up to 256 times. A processor that hangs is probed when its batches have
	// returned. 0 is 1 s.
	Probe time.Duration
	// Cores is the number of cores that the host and the work for devices share: see
	// Processor.Threads. CPU returns the CPU time of the process, by which the scheduler
	// measures how many of them feed the devices, and whether the process works while a batch
	// hangs. 0 or nil: cores are not counted. Only the policy
	// cooperative counts them.
	Cores int
	CPU   func() time.Duration
	// Event receives changes of mode, removals and restorations of processors. It must be
	// quick and must not call the scheduler. Default: nil, none.
	Event func(Event)
}

// Event is a change of mode, or the removal or restoration of a processor.
type Event struct {
	Time      time.Time
	Mode      Mode    // the new mode; Auto if the event concerns a processor
	Load      float64 // utilisation at the time of the event
	Processor string  // name of the removed or restored processor; empty: a change of mode
	Err       error   // reason of the removal; nil: restored
}

// Stats is a snapshot of a scheduler.
type Stats struct {
	Mode     Mode
	Load     float64
	Queued   [3]int // by Class
	Capacity int
	// Since the start:
	Answered, Failed, Refused, Expired, Retried, Stolen uint64
	Changes                                             uint64 // changes of the mode
	Processors                                          []ProcessorStats
}

// ProcessorStats is a snapshot of a processor.
type ProcessorStats struct {
	Name    string
	Out     error // reason of the removal; nil if the processor works
	Hung    bool  // a batch or a probe has not returned in time
	Running int   // batches now
	Batches uint64
	Jobs    uint64
	Busy    time.Duration // sum over lanes
}

// Causes of errors, for errors.Is.
var (
	// ErrFull: the queue has no room for the job; the caller may try again.
	ErrFull = errors.New("the queue is full")
	// ErrDeadline: the deadline of the job has passed. errors.Is finds
	// context.DeadlineExceeded too.
	ErrDeadline = errors.New("the deadline has passed")
	// ErrHung: a batch of the processor did not return in time.
	ErrHung = errors.New("no answer")
	// ErrNoProcessor: no processor can run the job, or none can any more.
	ErrNoProcessor = errors.New("no processor is left")
)

// FullError describes the queue that refused a job.
type FullError struct {
	Caller             string
	Held, Queued, Room int // waiting jobs of the caller, waiting jobs of all callers, capacity of the queue
}

func (e *FullError) Error() string {
	return fmt.Sprintf("%v: %d of %d places are taken, %d by caller %q", ErrFull, e.Queued, e.Room, e.Held, e.Caller)
}

// Is finds ErrFull.
func (e *FullError) Is(target error) bool { return target == ErrFull }

// DeadlineError describes a job whose deadline has passed.
type DeadlineError struct {
	Waited  time.Duration // time since the arrival
	Running bool          // the job had begun
}

func (e *DeadlineError) Error() string {
	state := "queued"
	if e.Running {
		state = "running"
	}
	return fmt.Sprintf("%v: %s after %v", ErrDeadline, state, e.Waited)
}

// Is finds ErrDeadline and context.DeadlineExceeded.
func (e *DeadlineError) Is(target error) bool {
	return target == ErrDeadline || target == context.DeadlineExceeded
}

// Processor is a place where jobs run. Its functions are called by several goroutines at
// the same time.
type Processor struct {
	Name string
	Host bool // it is the host; otherwise a device
	// Reserve keeps the processor for jobs that no further working processor can run: the
	// rest were removed, have failed the job, or lack its data. Default: false.
	Reserve bool
	// Lanes is the number of batches at a time, at least 1. Singles is the number of single jobs at
	// a time; 0 is Lanes.
	Lanes, Singles int
	// Blocks is the number of blocks of streams that run at a time, at least Lanes; 0 is
	// Lanes.
	Blocks int
	// Inline lets a job under Async run on the goroutine of its caller where a lane is
	// free, which saves two switches of goroutines. Run must then return soon after its
	// context is done, whatever happens; elsewhere the context given to Run is never
	// done, and a Run that does not come back is left alone.
	Inline bool
	// Threads is the number of cores that a batch takes on a host; a device has none. A host beside devices
	// leaves the cores that feed them: batches of jobs that devices may run are smaller, run on
	// fewer threads, or wait. 0: they are not counted.
	Threads int
	// Threshold is the load at which a batch of a kind is closed, S·T·B, at least 1.
	Threshold func(kind any) uint64

	// Estimate returns the time of j here alone, and its addition to a batch that runs
	// anyway; false if it cannot run here. It should take well below a microsecond.
	// Estimate, Threshold and Start may run under the scheduler's lock: they must not panic,
	// nor call the scheduler.
	Estimate func(j *Job) (alone, added time.Duration, ok bool)
	// Start is the time of a batch beside the additions of its jobs. nil is 0.
	Start func(kind any) time.Duration

	// Run answers the jobs of b, which are of one kind. For each it asks Batch.Claim before
	// it writes an answer into the job's Work, when nothing can fail any more. A claimed job
	// counts as answered when Run returns, whatever else happens, and the scheduler waits
	// for it. A slow reader of answers is served after Batch.Delivering.
	//
	// On an error of the kinds of package plan the unclaimed jobs run elsewhere:
	// ErrDeviceLost, ErrBuild and ErrSelfTest remove the processor; ErrOutOfMemory does so
	// when it comes three times in a row, unless the processor is the last one. After
	// ErrTooLarge a job runs elsewhere, if it was alone in its batch. After any other error,
	// and where Run returns nil and has not claimed all, a batch of several is run job by
	// job, and a job that fails alone runs elsewhere: the error is its own if it fails
	// everywhere. A processor is removed when three jobs in a row that failed there were
	// answered elsewhere.
	//
	// A panic ends the program, as it does on any goroutine of its own; inline it goes to
	// the caller of Do, whose job has failed.
	Run func(ctx context.Context, b *Batch) error
	// Probe tests the processor after its removal. The processor is restored if the result
	// is nil. nil: it is never probed.
	Probe func(ctx context.Context) error
}

// Batch is the jobs that a processor runs at a time.
type Batch struct {
	Jobs []*Job // jobs with equal kinds, in the order in which they should be answered
	Mode Mode   // Async: one job
	// Estimate is the estimated time.
	Estimate time.Duration
	// Added is the sum of the estimated additions of the jobs.
	Added time.Duration
	// Threads is the most cores that Run may take on a host; 0: all that it has. Narrow: these are
	// fewer than the first job can use, and it takes longer than alone.
	Threads int
	Narrow  bool
	// Inside is set by Run: the part of its time in which the processor worked, or its driver. The
	// rest is work of a lane alone. 0: all of its time.
	Inside time.Duration

	batchState
}

// free says whether p has a lane for a single job, or for a batch.
func (p *processor) free(batch bool) bool {
	if p.removal != nil {
		return false
	}
	if batch {
		return p.runningBatches < p.Lanes && len(p.running) < max(p.Lanes, p.Singles)
	}
	return len(p.running) < p.Singles
}

// freeBlock says whether p has a lane for a block of a stream.
func (p *processor) freeBlock() bool {
	return p.removal == nil && p.runningBatches < p.Blocks && len(p.running) < max(p.Blocks, p.Singles)
}
