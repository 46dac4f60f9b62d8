// Package observe says what became of queries: to counters, to histograms, to traces, to
// people. The engine tells an Observer; the packages below this one are observers.
package observe

import (
	"context"
	"time"

	"heddle/engine/plan"
	"heddle/engine/schedule"
)

// Observer hears of queries and of what happens beside them. Its methods are called by
// many goroutines at the same time, on the way of each query: they should take less than
// a microsecond.
type Observer interface {
	// Answered hears of a query that has been answered or has failed. q is valid during
	// the call only. ctx is the caller's.
	Answered(ctx context.Context, q *Query)
	// Happened hears of a change of mode, or of a processor that was taken out.
	Happened(e schedule.Event)
}

// Query explains what became of one query, or of a block of queries of one call.
type Query struct {
	Kind    string // "and", "formula", "rank or", …: few, fit for a label
	Queries int    // of the block, 1 for a single query
	Trace   schedule.Trace
	// Processors are the names of those that Trace.Estimates are of. It may be shared by
	// queries: nobody changes it.
	Processors []string
	// Cached says that the answer came from the result cache; Trace is empty then but for
	// Arrived.
	Cached bool
	// Missing is how many bytes of lists were not resident where its batch ran, when that
	// began.
	Missing uint64
	Took    time.Duration // from arrival to the answer
	Stats   plan.Stats    // of the batch that answered it
	Err     error         // nil: answered
}
