// Package monitor reports the requests of a server: metrics, an access log, spans, and a log of
// slow queries.
package monitor

import (
	"context"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/rs/zerolog"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Request is the part of a request that all protocols and reports share.
type Request struct {
	ID     string
	Caller string // name of a token or certificate, or a host
	Query  string // text of the query or predicate, set before the engine gets it
	Name   string // name of the index or table of the query; "" for a request without queries

	Queries int  // number of queries
	Errors  int  // number of queries that end with an error in an answered request
	Failed  bool // the request ends with an error, as do all of its queries
}

type requestKey struct{}

// With returns a context with a request.
func With(ctx context.Context, r *Request) context.Context {
	return context.WithValue(ctx, requestKey{}, r)
}

// Of returns the request of a context; an empty one if it has none.
func Of(ctx context.Context) *Request {
	if r, ok := ctx.Value(requestKey{}).(*Request); ok {
		return r
	}
	return &Request{}
}

// Monitor reports the requests of a server. It is safe for concurrent use.
type Monitor struct {
	*Metrics
	Log    *zerolog.Logger
	Access float64      // part of the requests in the access log, from 0 to 1; failures are always there
	Tracer trace.Tracer // nil: no spans

	InService func(name string) bool // tells whether the server has an index or table
}

var traceparent propagation.TraceContext

// Exchange is a request whose report End writes.
type Exchange struct {
	Recorder
	m       *Monitor
	request *http.Request
	began   time.Time
	span    trace.Span
}

// Begin returns the exchange of a request, to which the reply goes. The context of the request
// gets the trace of the header traceparent, and a span.
func (m *Monitor) Begin(w http.ResponseWriter, r *http.Request) *Exchange {
	x := &Exchange{Recorder: Recorder{ResponseWriter: w}, m: m, request: r, began: time.Now()}
	ctx := r.Context()
	if r.Header.Get("Traceparent") != "" {
		ctx = traceparent.Extract(ctx, propagation.HeaderCarrier(r.Header))
	}
	if m.Tracer != nil {
		ctx, x.span = m.Tracer.Start(ctx, r.Method, trace.WithSpanKind(trace.SpanKindServer))
	}
	if ctx != r.Context() {
		x.request = r.WithContext(ctx)
	}
	m.inFlight.Inc()
	return x
}

// Request returns the request with its context.
func (x *Exchange) Request() *http.Request { return x.request }

// End reports the exchange. Served is the request that the router has seen.
func (x *Exchange) End(served *http.Request) {
	took := time.Since(x.began)
	route := served.Pattern
	if route == "" || route == "/" {
		route = "other"
	}
	status := x.Status()
	x.m.inFlight.Dec()
	x.m.http(route, status, took, x.bytes)
	about := Of(served.Context())
	if about.Name != "" {
		about.Failed = about.Failed || status >= http.StatusInternalServerError
		x.m.asked(about, took, x.m.InService)
	}
	if x.span != nil {
		x.span.SetName(route)
		x.span.SetAttributes(attribute.String("http.request.method", served.Method), attribute.String("http.route", route), attribute.Int("http.response.status_code", status))
		if status >= http.StatusInternalServerError {
			x.span.SetStatus(codes.Error, http.StatusText(status))
		}
		x.span.End()
	}
	level := zerolog.InfoLevel
	if status >= http.StatusInternalServerError && status != http.StatusServiceUnavailable {
		level = zerolog.WarnLevel
	} else if rand.Float64() >= x.m.Access {
		return
	}
	line := x.m.Log.WithLevel(level).Str("request_id", about.ID).Str("caller", about.Caller).Str("remote", served.RemoteAddr).
		Str("protocol", served.Proto).Str("method", served.Method).Str("path", served.URL.Path).
		Int("status", status).Int64("bytes", x.bytes).Float64("took_ms", float64(took.Microseconds())/1000)
	if id := trace.SpanContextFromContext(served.Context()).TraceID(); id.IsValid() {
		line.Stringer("trace_id", id)
	}
	line.Msg("request")
}

// Recorder notes the status and the size of a reply.
type Recorder struct {
	http.ResponseWriter
	status int
	bytes  int64
}

// Status returns the status of the reply.
func (r *Recorder) Status() int {
	if r.status == 0 {
		return http.StatusOK
	}
	return r.status
}

// Failed notes that the reply ends in the middle.
func (r *Recorder) Failed() { r.status = http.StatusInternalServerError }

// WriteHeader implements http.ResponseWriter.
func (r *Recorder) WriteHeader(status int) {
	if status >= http.StatusOK { // a status below 200 precedes the last one
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *Recorder) Write(p []byte) (int, error) {
	n, err := r.ResponseWriter.Write(p)
	r.bytes += int64(n)
	return n, err
}

// Flush implements http.Flusher.
func (r *Recorder) Flush() { http.NewResponseController(r.ResponseWriter).Flush() }

// Unwrap serves http.ResponseController.
func (r *Recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
