package schedule

import "time"

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
	// Where Auto has chosen Sync, a processor that runs nothing does not wait for that, nor
	// a device of several lanes that runs fewer batches than keep it busy: two, or more if
	// the work of the lanes beside the device takes longer than a seventh of their time.
	MaxAge time.Duration
	// Enter and Leave are utilisations: estimated work arriving per second over work
	// completed per second, of all processors or of a class with its own processors, the
	// greater of both. Auto changes to Sync above Enter, when four jobs wait for each lane, or
	// when a job has waited for eight times MaxAge and twice its own time. It changes back to
	// Async below Leave, if neither is so and Sync has lasted for Hold. A job counts where it is
	// fastest alone. 0 is 0.7, 0.4 and 100 ms.
	Enter, Leave float64
	Hold         time.Duration
	// Window is over which the load is averaged. 0 is 100 ms.
	Window time.Duration
	// Similar is by how much one class must be faster for a job to be of it. 0 is 1.2, as
	// in Ding et al. 2009, section 9. It does not adapt to the rate of arrivals, which the
	// paper leaves open.
	Similar float64
	// Patience is the multiple of its own time within which a job may be overtaken. 0 is 4.
	Patience float64
	// Slack is added to the estimated time of a job to find the moment at which it must
	// start to meet its deadline. When 7/8 of the time until then have passed, the job is
	// urgent; after that moment it waits behind jobs that can still be in time. 0 is 1 ms.
	Slack time.Duration
	// Hang is after which a batch counts as hung, and its processor as failed, if it has
	// also taken 50 times its estimate. Time in which the machine does not run the scheduler
	// does not count, up to ten times the limit. While no other processor can run the jobs
	// of the batch, they wait for it for ten times the limit. The last processor stays: jobs
	// that have waited so long fail with ErrHung, and later ones run when it returns. 0 is
	// 10 s.
	Hang time.Duration
	// Probe is the time from the removal of a processor to its first probe. It doubles with
	// each probe, up to 256 times. A processor that hangs is probed when its batches have
	// returned. 0 is 1 s.
	Probe time.Duration
	// Cores is the number of cores that the host and the work for devices share: see
	// Processor.Threads. CPU returns the CPU time of the process, by which the scheduler
	// measures how many of them feed the devices. 0 and nil: cores are not counted.
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
	Load      float64 // at the time of the event
	Processor string  // that was removed or restored; empty if the event is a change of mode
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
	Changes                                             uint64 // of the mode
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
	Busy    time.Duration // of all its lanes
}
