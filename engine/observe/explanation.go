package observe

import (
	"fmt"
	"time"

	"heddle/engine/plan"
)

// Explanation describes the execution of one query, or of all queries of one batch call.
type Explanation struct {
	// Kind is the type of the query, such as "and" or "rank or". The number of kinds is
	// small, so that it can be a label of a metric.
	Kind string
	// Queries is the number of queries: 1 for a single query.
	Queries int
	Outcome Outcome
	// Err is the error of a query that has no answer, otherwise nil.
	Err error
	// Cached is true if the answer comes from the result cache. Of the fields below, only
	// Arrived and Took are then set.
	Cached bool

	Arrived time.Time
	// Took is the time from arrival to the answer or the error.
	Took time.Duration

	// Mode is the scheduler's mode: "async" if the query ran alone, "sync" if it ran in a
	// batch, "auto" if the scheduler did not run it.
	Mode string
	// Class names the preferred processors: "device", "host" or "either".
	Class string
	// Processors are the names of all processors. Queries share this slice; do not modify it.
	Processors []string
	// Estimates are the predicted times of the query alone on each of Processors. A negative
	// estimate means that the query cannot run there.
	Estimates []time.Duration

	// Processor is the name of the processor that answered; empty if there was none.
	Processor string
	// Attempts is the number of processors that started the query.
	Attempts int
	// Batch is the number of jobs in the batch of the last attempt.
	Batch int
	// Estimate is the predicted time of that batch.
	Estimate time.Duration
	// Queued is the time from arrival to the start of the last attempt.
	Queued time.Duration
	// Ran is the time of the last attempt.
	Ran time.Duration
	// Missing is the number of bytes of lists that were not resident when the batch started.
	Missing uint64
	// Filter describes the filter of a single query; nil if it has none.
	Filter *Filter
	// Order says which order pure Go has put the matching documents in; empty for the descending score alone. It is
	// set for a cached answer too.
	Order string
	// Stats are the statistics of the batch.
	Stats plan.Stats
}

// Filter describes the filter of a query.
type Filter struct {
	Text string // the predicate and the sizes of sets
	// Count is the number of documents that pass, of Docs.
	Count, Docs uint32
	Cached      bool // it was made before the query
	// Plan is "seek" if the lists were searched for the documents of the filter, "bits" if the bits of
	// documents were tested, empty if the answer comes from the result cache.
	Plan string
}

// Share is the part of the documents that pass, 0 to 1.
func (f *Filter) Share() float64 { return float64(f.Count) / float64(max(f.Docs, 1)) }

// String returns one line for people.
func (f *Filter) String() string {
	made := "made for this query"
	if f.Cached {
		made = "cached"
	}
	text := fmt.Sprintf("%s: %d of %d documents pass (%.4g %%), %s", f.Text, f.Count, f.Docs, 100*f.Share(), made)
	switch f.Plan {
	case "seek":
		text += "; plan seek: the lists were searched for these documents"
	case "bits":
		text += "; plan bits: each match was tested"
	}
	return text
}

// PredictionError returns the relative error of the predicted batch time: 0.5 if 3 ms were
// predicted and 2 ms passed, -0.5 if 1 ms was predicted. It returns false if no batch
// answered the query.
func (q *Explanation) PredictionError() (float64, bool) {
	if q.Err != nil || q.Cached || q.Attempts == 0 || q.Ran <= 0 {
		return 0, false
	}
	return float64(q.Estimate-q.Ran) / float64(q.Ran), true
}

// Outcome is the result of a query in one word.
type Outcome uint8

const (
	Answered  Outcome = iota
	Refused           // the queue was full, or the engine was closed
	Expired           // the deadline passed
	Cancelled         // the caller cancelled the query
	Failed            // any other error
)

func (o Outcome) String() string {
	return [...]string{"answered", "refused", "expired", "cancelled", "failed"}[o]
}

// Stages yields the measured stages of a batch in their order of execution.
func Stages(s *plan.Stats) func(yield func(name string, took time.Duration) bool) {
	return func(yield func(string, time.Duration) bool) {
		for _, stage := range [...]struct {
			name string
			took time.Duration
		}{
			{"upload", s.Upload}, {"decode", s.Decode}, {"probe", s.Probe}, {"score", s.Score},
			{"select", s.Select}, {"compact", s.Compact}, {"download", s.Download},
		} {
			if stage.took > 0 && !yield(stage.name, stage.took) {
				return
			}
		}
	}
}
