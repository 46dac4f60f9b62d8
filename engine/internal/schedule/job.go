package schedule

import (
	"fmt"
	"strings"
	"time"
)

// Mode is how jobs run.
type Mode uint8

const (
	Auto  Mode = iota // Async or Sync, by the load
	Async             // each job alone, on the processor that should finish it first
	Sync              // jobs in batches
)

// Modes returns all of them.
func Modes() []Mode { return []Mode{Auto, Async, Sync} }

// String gives the name that command line and configuration use.
func (m Mode) String() string {
	switch m {
	case Auto:
		return "auto"
	case Async:
		return "async"
	case Sync:
		return "sync"
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

func (c Class) String() string {
	switch c {
	case Device:
		return "device"
	case Host:
		return "host"
	}
	return "either"
}

// Job is one query on its way, or a block of a Stream. From the call of Do to its return it
// belongs to the scheduler. It may be used again, which saves allocations, unless a Run may
// still read it: this is excluded if Trace.Attempts is 0, or 1 and Do has returned no error.
type Job struct {
	// Kind decides which jobs may share a batch: jobs with equal kinds. It must be
	// comparable.
	Kind any
	// Work is the data of Processor.Estimate and Processor.Run.
	Work any
	// Caller is whose job it is: callers share the processors evenly. Empty is one
	// caller too.
	Caller string
	// Load is the load of the job in a batch, in the units of Processor.Threshold for Kind.
	Load uint64
	// Mode forces one; Auto leaves it to the scheduler.
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
	Processor string // that answered, empty where none did
	// Estimates are the estimated times of the job alone, by processor, at its arrival;
	// negative where it cannot run.
	Estimates []time.Duration
	// Estimate is the estimated time of the batch that answered the job; of the job alone
	// if it ran alone.
	Estimate time.Duration
	Batch    int           // jobs of that batch
	Queued   time.Duration // from arrival to the start of the last attempt
	Ran      time.Duration // of the last attempt
	Attempts int           // processors that began it
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
