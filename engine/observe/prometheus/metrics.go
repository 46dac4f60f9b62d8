// Package prometheus exports the metrics of an engine to Prometheus. Only programs that import
// this package depend on the Prometheus client library:
//
//	metrics := heddleprometheus.New()
//	registry.MustRegister(metrics)
//	// … the engine starts with metrics as its observer …
//	metrics.Watch(e.Stats)
//
// Names of metrics begin with "heddle_". A service with several engines gives each one a label
// of its own with prometheus.WrapRegistererWith.
package prometheus

import (
	"math"
	"strings"
	"sync"
	"sync/atomic"

	"context"

	"github.com/prometheus/client_golang/prometheus"

	"heddle/engine/observe"
)

// Namespace is the first part of each metric's name.
const Namespace = "heddle"

// Metrics counts the queries of an engine. It is an observe.Observer and a
// prometheus.Collector, safe for concurrent use. It replaces bytes of a label that are not
// UTF-8, which Prometheus does not accept.
type Metrics struct {
	queries, cached, retries, changes, removed   *prometheus.CounterVec
	took, queued, ran, predictionError, batchJob *prometheus.HistogramVec

	stats atomic.Pointer[func() observe.Stats]

	// known saves the lookup of each metric by label values. The map is replaced, never
	// changed, so that readers need no lock.
	known atomic.Pointer[map[labels]*series]
	mu    sync.Mutex // held while known is replaced
}

// labels distinguish the series of queries.
type labels struct {
	kind, processor, mode, class string
	outcome                      observe.Outcome
}

// series are the metrics of queries with the same labels.
type series struct {
	queries, cached, retries                     prometheus.Counter
	took, queued, ran, predictionError, batchJob prometheus.Observer
}

// New returns metrics of an engine that has answered no query.
func New() *Metrics {
	times := prometheus.ExponentialBuckets(4e-6, 2, 22) // 4 microseconds to 8 seconds
	run := []string{"kind", "mode", "processor"}
	m := &Metrics{
		queries: counter("queries_total", "Queries by outcome.", "kind", "mode", "class", "processor", "outcome"),
		cached:  counter("cached_queries_total", "Queries answered from the result cache.", "kind"),
		retries: counter("retries_total", "Repeated attempts at queries, by the processor of the last attempt.", "processor"),
		changes: counter("mode_changes_total", "Changes of the scheduler's mode, by new mode.", "mode"),
		removed: counter("processors_removed_total", "Removals of failed processors.", "processor"),

		took:   histogram("query_duration_seconds", "Time from a query's arrival to its answer or error.", times, "kind", "mode", "outcome"),
		queued: histogram("queue_duration_seconds", "Time from a query's arrival to the start of its last attempt.", times, run...),
		ran:    histogram("run_duration_seconds", "Time of the batch that answered a query, once per query.", times, run...),
		predictionError: histogram("prediction_error_ratio", "Relative error of the predicted time of the batch that answered a query, without sign.",
			prometheus.ExponentialBuckets(1./128, 2, 12), run...),
		batchJob: histogram("batch_jobs", "Jobs in the batch that answered a query, once per query.", prometheus.ExponentialBuckets(1, 2, 17), run...),
	}
	m.known.Store(new(map[labels]*series))
	return m
}

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: Namespace, Name: name, Help: help}, labels)
}

func histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: Namespace, Name: name, Help: help, Buckets: buckets}, labels)
}

// Watch sets the source of the metrics about processors, queues and caches, usually
// Engine.Stats. Collect calls it from several goroutines. Without a source, and with nil,
// these metrics are absent.
func (m *Metrics) Watch(stats func() observe.Stats) {
	if stats == nil {
		m.stats.Store(nil)
		return
	}
	m.stats.Store(&stats)
}

func (m *Metrics) vectors() [10]prometheus.Collector {
	return [...]prometheus.Collector{m.queries, m.cached, m.retries, m.changes, m.removed, m.took, m.queued, m.ran, m.predictionError, m.batchJob}
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(out chan<- *prometheus.Desc) {
	for _, v := range m.vectors() {
		v.Describe(out)
	}
	describe(out)
}

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(out chan<- prometheus.Metric) {
	for _, v := range m.vectors() {
		v.Collect(out)
	}
	if stats := m.stats.Load(); stats != nil {
		collect(out, (*stats)())
	}
}

// Answered implements observe.Observer. A block of queries (Explanation.Queries) counts as
// that many queries and as one value of the histograms.
func (m *Metrics) Answered(_ context.Context, q *observe.Explanation) {
	l := labels{q.Kind, q.Processor, q.Mode, q.Class, q.Outcome}
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
	if q.Attempts == 0 {
		return
	}
	if q.Attempts > 1 {
		s.retries.Add(float64(q.Attempts - 1))
	}
	s.queued.Observe(q.Queued.Seconds())
	if q.Err != nil { // no batch answered the query
		return
	}
	s.ran.Observe(q.Ran.Seconds())
	s.batchJob.Observe(float64(q.Batch))
	if e, ok := q.PredictionError(); ok {
		s.predictionError.Observe(math.Abs(e))
	}
}

// add creates the series of l.
func (m *Metrics) add(l labels) *series {
	m.mu.Lock()
	defer m.mu.Unlock()
	old := *m.known.Load()
	if s := old[l]; s != nil {
		return s
	}
	kind, mode, processor, outcome := valid(l.kind), valid(l.mode), valid(l.processor), l.outcome.String()
	s := &series{
		queries:         m.queries.WithLabelValues(kind, mode, valid(l.class), processor, outcome),
		cached:          m.cached.WithLabelValues(kind),
		retries:         m.retries.WithLabelValues(processor),
		took:            m.took.WithLabelValues(kind, mode, outcome),
		queued:          m.queued.WithLabelValues(kind, mode, processor),
		ran:             m.ran.WithLabelValues(kind, mode, processor),
		predictionError: m.predictionError.WithLabelValues(kind, mode, processor),
		batchJob:        m.batchJob.WithLabelValues(kind, mode, processor),
	}
	known := make(map[labels]*series, len(old)+1)
	for k, v := range old {
		known[k] = v
	}
	known[l] = s
	m.known.Store(&known)
	return s
}

// Happened implements observe.Observer.
func (m *Metrics) Happened(e observe.Event) {
	if e.Mode != "" {
		m.changes.WithLabelValues(valid(e.Mode)).Inc()
	}
	if e.Err != nil {
		m.removed.WithLabelValues(valid(e.Processor)).Inc()
	}
}

func valid(label string) string { return strings.ToValidUTF8(label, "\uFFFD") }
