// Package meter counts queries and measures what they took.
//
// A Meter is an observe.Observer that feeds a Sink, which takes ten lines to write for
// any library of metrics. Memory is a Sink of this package, with a Snapshot; package
// prometheus beside this one hands it on.
//
// What an engine knows without being told, such as how long its queue is, it says when
// asked: a State, which the caller of Memory.Register reads.
package meter

import (
	"context"
	"math"
	"sync"
	"sync/atomic"

	"heddle/engine/observe"
	"heddle/engine/schedule"
)

// Sink is where counters and histograms are: one for each combination of label values that
// comes up. Asked for one again, it gives the same. It and what it gives are used by
// several goroutines at the same time.
type Sink interface {
	// Counter and Histogram return that of d whose labels (Desc.Labels) have these values.
	Counter(d *Desc, values ...string) Counter
	Histogram(d *Desc, values ...string) Histogram
}

// Counter is a sum that only grows.
type Counter interface {
	// Add takes a whole number that is not negative.
	Add(n float64)
}

// Histogram counts values by the bounds between which they lie.
type Histogram interface{ Observe(v float64) }

// Meter is an observe.Observer that feeds a Sink. An observation takes a few hundred
// nanoseconds at most with Memory, and allocates nothing but for the first of its labels.
// A query of a block (observe.Query.Queries) counts as a query, and the block as one
// value of histograms.
type Meter struct {
	sink Sink
	// known is replaced, never changed: reading takes no lock.
	known atomic.Pointer[map[labels]*series]
	mu    sync.Mutex // of who replaces it
}

// labels are those that queries differ in.
type labels struct {
	kind, processor string
	mode            schedule.Mode
	class           schedule.Class
	outcome         observe.Outcome
}

// series are the counters and histograms of queries with the same labels.
type series struct {
	queries, cached, retries            Counter
	took, queued, ran, misjudged, batch Histogram
}

// New returns an observer that feeds s.
func New(s Sink) *Meter {
	m := &Meter{sink: s}
	m.known.Store(new(map[labels]*series))
	return m
}

// Answered implements observe.Observer.
func (m *Meter) Answered(_ context.Context, q *observe.Query) {
	t := &q.Trace
	l := labels{q.Kind, t.Processor, t.Mode, t.Class, q.Outcome()}
	s := (*m.known.Load())[l]
	if s == nil {
		s = m.add(l)
	}
	n := float64(max(q.Queries, 1))
	s.queries.Add(n)
	s.took.Observe(q.Took.Seconds())
	if q.Cached {
		s.cached.Add(n)
		return
	}
	if t.Attempts == 0 {
		return
	}
	if t.Attempts > 1 {
		s.retries.Add(float64(t.Attempts - 1))
	}
	s.queued.Observe(t.Queued.Seconds())
	if q.Err != nil { // no batch answered it, and there may be no time of the one that failed
		return
	}
	s.ran.Observe(t.Ran.Seconds())
	s.batch.Observe(float64(t.Batch))
	if e, ok := q.PredictionError(); ok {
		s.misjudged.Observe(math.Abs(e))
	}
}

// add makes the series of l.
func (m *Meter) add(l labels) *series {
	m.mu.Lock()
	defer m.mu.Unlock()
	old := *m.known.Load()
	if s := old[l]; s != nil {
		return s
	}
	mode, s := l.mode.String(), m.sink
	made := &series{
		queries:   s.Counter(queries, l.kind, mode, l.class.String(), l.processor, l.outcome.String()),
		cached:    s.Counter(cached, l.kind),
		retries:   s.Counter(retries, l.processor),
		took:      s.Histogram(took, l.kind, mode, l.outcome.String()),
		queued:    s.Histogram(queued, l.kind, mode, l.processor),
		ran:       s.Histogram(ran, l.kind, mode, l.processor),
		misjudged: s.Histogram(misjudged, l.kind, mode, l.processor),
		batch:     s.Histogram(batch, l.kind, mode, l.processor),
	}
	known := make(map[labels]*series, len(old)+1)
	for k, v := range old {
		known[k] = v
	}
	known[l] = made
	m.known.Store(&known)
	return made
}

// Happened implements observe.Observer.
func (m *Meter) Happened(e schedule.Event) {
	if e.Mode != schedule.Auto {
		m.sink.Counter(changes, e.Mode.String()).Add(1)
	}
	if e.Processor != "" {
		m.sink.Counter(outs, e.Processor).Add(1)
	}
}
