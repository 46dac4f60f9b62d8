package schedule

import "time"

// Options of a scheduler. The zero value is good.
type Options struct {
	// Mode forces one. Auto is Async below Leave and Sync above Enter.
	Mode Mode
	// Capacity is how many jobs and streams may wait; more are refused with ErrFull. 0 is 8192. No
	// caller takes more than eight times what it leaves free, so that others find room.
	Capacity int
	// MaxAge closes a batch under Sync when its oldest job has waited so long. 0 is 1 ms.
	// Where Auto has chosen Sync, a processor that runs nothing does not wait for that,
	// nor a device of several lanes that runs one batch.
	MaxAge time.Duration
	// Enter and Leave are loads: the time that jobs should take alone, of those that
	// arrive in a second, by the time of such jobs that processors do in a second, as was
	// seen lately: all jobs by all processors, or those of a class by its own, whichever
	// is more. Above Enter Auto becomes Sync, or when a job has waited for eight times
	// MaxAge and twice its own time; below Leave, when none has, Async again, once Hold
	// has passed since the last change. 0 is 0.7, 0.4 and 100 ms.
	Enter, Leave float64
	Hold         time.Duration
	// Window is over which the load is averaged. 0 is 100 ms.
	Window time.Duration
	// Similar is by how much one class must be faster for a job to be of it. 0 is 1.2, as
	// in Ding et al. 2009, section 9.
	Similar float64
	// Patience is the multiple of its own time within which a job may be overtaken. 0 is 4.
	Patience float64
	// Slack is added to what a job should take, to know when it must start to meet its
	// deadline. When 7/8 of the time until then have passed, it is urgent; after it, it
	// waits behind those that can still be in time. 0 is 1 ms.
	Slack time.Duration
	// Hang is after which a batch counts as hung, and its processor as failed, if it has
	// also taken 50 times its estimate. 0 is 10 s.
	Hang time.Duration
	// Event hears of what happens beside jobs. It must be quick, and not call the
	// scheduler. nil hears nothing.
	Event func(Event)
}

// Event is something that happened to a scheduler.
type Event struct {
	Time      time.Time
	Mode      Mode    // changed to, if not Auto
	Load      float64 // that did it
	Processor string  // taken out, if not empty
	Err       error   // why
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
	Out     error // why it was taken out, nil if it works
	Running int   // batches now
	Batches uint64
	Jobs    uint64
	Busy    time.Duration // of all its lanes
}
