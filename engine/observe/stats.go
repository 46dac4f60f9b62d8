package observe

import (
	"time"

	"heddle/engine/plan"
)

// Stats is a snapshot of an engine. Counters start at zero when the engine starts.
type Stats struct {
	// Mode is the present mode of the scheduler, "async" or "sync".
	Mode string
	// Load is the ratio of the estimated work that arrives to the capacity of all processors.
	Load float64
	// Waiting is the number of jobs in the queue, by preferred processors.
	Waiting struct{ Either, Device, Host int }
	// Capacity is the maximum number of jobs in the queue.
	Capacity int

	// Jobs by outcome.
	Answered, Failed, Refused, Expired uint64
	// Retried is the number of jobs that ran again after a failure.
	Retried uint64
	// Stolen is the number of jobs that ran on a processor of another class.
	Stolen uint64
	// Changes is the number of changes of the mode.
	Changes uint64

	Processors []Processor
	Results    ResultCache
	Filters    FilterCache
}

// FilterCache is a snapshot of the cache of filters.
type FilterCache struct {
	// Bytes are of the filters on all processors. Above Capacity, filters that no query uses are
	// dropped.
	Capacity, Bytes uint64
	Entries         int
	Hits, Misses    uint64 // queries that the cache has answered, and queries that it has not
	Evicted         uint64
}

// Processor is a snapshot of one processor of an engine.
type Processor struct {
	Name string
	// Removed is the reason why the scheduler does not use the processor until a probe
	// succeeds; nil while it does.
	Removed error
	// Running is the number of batches that run now.
	Running int
	Batches uint64
	Jobs    uint64
	// Busy is the total run time of all batches. Batches that overlap count each.
	Busy time.Duration

	// Memory is the number of bytes of lists, tables and scratch on the processor.
	Memory uint64
	// Placement states how lists are distributed, and the reason: "a replica: fits".
	Placement string
	// Lists describes the cache of lists; nil if all lists are resident.
	Lists *plan.CacheStats
}

// ResultCache is a snapshot of the cache of answers.
type ResultCache struct {
	Capacity, Bytes uint64 // Bytes is at most Capacity
	Entries         int
	Hits, Misses    uint64
	Evicted         uint64
	Refused         uint64 // answers that were too large
}
