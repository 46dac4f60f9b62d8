package schedule

import (
	"context"
	"time"
)

// Processor is a place where jobs run. Its functions are called by several goroutines at
// the same time.
type Processor struct {
	Name string
	Host bool // which class it serves
	// Reserve keeps the processor for jobs that no further working processor can run: the
	// rest were removed, have failed the job, or lack its data. Default: false.
	Reserve bool
	// Lanes is how many batches it runs at a time, at least 1, and Singles how many jobs
	// at a time under Async; 0 is Lanes.
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
	// Most is how many jobs a batch has at most; 0 is 65536.
	Most int

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
	Jobs []*Job // of one kind, in the order in which they should be answered
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
