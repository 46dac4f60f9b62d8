package monitor

import (
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	heddle "heddle/engine/observe/prometheus"
)

// Metrics count the requests of a server.
type Metrics struct {
	requests, rpcs, refused, reloads *prometheus.CounterVec
	took, rpcTook                    *prometheus.HistogramVec
	sent                             *prometheus.CounterVec
	inFlight                         prometheus.Gauge
	queries, failed, seconds         *prometheus.CounterVec

	mu    sync.Mutex
	named map[string]*counters // at most mostNames
}

// counters are the counters of an index or table.
type counters struct{ queries, failed, seconds prometheus.Counter }

// mostNames is the number of indexes and tables with counters of their own; the others share the name "other".
const mostNames = 100

// NewMetrics returns metrics that to exports.
func NewMetrics(to prometheus.Registerer) *Metrics {
	times := prometheus.ExponentialBuckets(16e-6, 2, 21) // 16 microseconds to 16 seconds
	m := &Metrics{
		requests: counter("http_requests_total", "Requests by route and status.", "route", "status"),
		took:     histogram("http_request_duration_seconds", "Time from the header of a request to the end of its reply.", times, "route"),
		sent:     counter("http_response_bytes_total", "Bytes of replies before compression, without headers.", "route"),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{Namespace: heddle.Namespace, Name: "http_requests_in_flight", Help: "Requests whose reply has not ended."}),
		rpcs:     counter("rpc_requests_total", "Calls of procedures by protocol (rest, connect, grpc, grpcweb) and code of the error.", "procedure", "protocol", "code"),
		rpcTook:  histogram("rpc_request_duration_seconds", "Time of a call of a procedure.", times, "procedure", "protocol"),
		refused:  counter("server_refused_total", "Requests and connections beyond a limit of the server.", "limit"),
		reloads:  counter("server_reloads_total", "Files opened at the start, by a reload or by administration.", "kind", "outcome"),
	}
	const other = "; names beyond the first 100 are \"other\"."
	m.queries = counter("server_queries_total", "Queries by index or table"+other, "name")
	m.failed = counter("server_query_errors_total", "Queries that end with an error, by index or table"+other, "name")
	m.seconds = counter("server_query_seconds_total", "Time of requests with queries, from the header to the end of the reply, by index or table"+other, "name")
	m.named = map[string]*counters{}
	to.MustRegister(m.queries, m.failed, m.seconds, m.requests, m.took, m.sent, m.inFlight, m.rpcs, m.rpcTook, m.refused, m.reloads)
	return m
}

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: heddle.Namespace, Name: name, Help: help}, labels)
}

func histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: heddle.Namespace, Name: name, Help: help, Buckets: buckets}, labels)
}

func (m *Metrics) http(route string, status int, took time.Duration, bytes int64) {
	m.requests.WithLabelValues(route, strconv.Itoa(status)).Inc()
	m.took.WithLabelValues(route).Observe(took.Seconds())
	m.sent.WithLabelValues(route).Add(float64(bytes))
}

// asked counts the queries of a request. A name without an answer has counters if it is in service.
func (m *Metrics) asked(r *Request, took time.Duration, inService func(name string) bool) {
	if r.Failed {
		r.Errors = r.Queries
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	c, name := m.named[r.Name], r.Name
	if c == nil {
		if r.Errors == r.Queries && !inService(name) {
			return
		}
		if len(m.named) >= mostNames {
			name = "other"
		}
		c = &counters{m.queries.WithLabelValues(name), m.failed.WithLabelValues(name), m.seconds.WithLabelValues(name)}
		if len(m.named) < mostNames {
			m.named[name] = c
		}
	}
	c.queries.Add(float64(r.Queries))
	c.failed.Add(float64(r.Errors))
	c.seconds.Add(took.Seconds())
}

// Called counts a call of a procedure. Code is the code of its error, "ok" without one.
func (m *Metrics) Called(procedure, protocol, code string, took time.Duration) {
	m.rpcs.WithLabelValues(procedure, protocol, code).Inc()
	m.rpcTook.WithLabelValues(procedure, protocol).Observe(took.Seconds())
}

// Refused counts a request beyond a limit.
func (m *Metrics) Refused(limit string) { m.refused.WithLabelValues(limit).Inc() }

// Opened counts a file of an index or a table that was opened, or the failure.
func (m *Metrics) Opened(kind string, err error) {
	outcome := "ok"
	if err != nil {
		outcome = "failed"
	}
	m.reloads.WithLabelValues(kind, outcome).Inc()
}
