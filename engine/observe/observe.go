// Package observe defines the reports of an engine: the explanation of a query, events of
// the scheduler, and a snapshot of all counters. An engine sends explanations and events to
// an Observer. The packages prometheus and tracing below this one are observers.
package observe

import (
	"context"
	"time"
)

// Observer receives query results and scheduler events. The engine calls its methods from
// many goroutines at the same time, on the path of each query; a call should take less
// than a microsecond.
type Observer interface {
	// Answered reports a query that was answered or failed. It must not keep q, which is
	// valid during the call only. The context is the caller's.
	Answered(ctx context.Context, q *Explanation)
	// Happened reports an event of the scheduler.
	Happened(e Event)
}

// Event is a change of the scheduler's mode, the removal of a failed processor, or its
// restoration after a probe or a reload.
type Event struct {
	Time time.Time
	// Mode is the new mode, "async" or "sync"; empty if the event concerns a processor.
	Mode string
	// Load is the ratio of arriving work to capacity at the time of the event.
	Load float64
	// Processor is the name of the removed or restored processor; empty if the event is a
	// change of mode.
	Processor string
	// Err is the reason for the removal; nil if the processor is restored.
	Err error
}

// All returns an observer that forwards each report to every given observer in order. It
// ignores nil observers and returns nil if none is left.
func All(observers ...Observer) Observer {
	var a all
	for _, o := range observers {
		if o != nil {
			a = append(a, o)
		}
	}
	switch len(a) {
	case 0:
		return nil
	case 1:
		return a[0]
	}
	return a
}

type all []Observer

func (a all) Answered(ctx context.Context, q *Explanation) {
	for _, o := range a {
		o.Answered(ctx, q)
	}
}

func (a all) Happened(e Event) {
	for _, o := range a {
		o.Happened(e)
	}
}
