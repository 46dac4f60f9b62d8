package monitor

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"go.opentelemetry.io/otel/trace"

	"heddle/engine/observe"
)

// SlowQueries logs queries that take long, with the explanation of the engine. It is an
// observe.Observer, safe for concurrent use.
type SlowQueries struct {
	log  zerolog.Logger
	from atomic.Int64 // time.Duration; 0 is never
}

// NewSlowQueries returns a log of queries from some time on. It writes at most ten lines a second.
func NewSlowQueries(log zerolog.Logger, from time.Duration) *SlowQueries {
	s := &SlowQueries{log: log.Sample(&zerolog.BurstSampler{Burst: 10, Period: time.Second})}
	s.Set(from)
	return s
}

// Set changes the time from which a query is slow; 0 is never.
func (s *SlowQueries) Set(from time.Duration) { s.from.Store(int64(from)) }

// mostText is the number of bytes of a query in a line.
const mostText = 1024

// Answered implements observe.Observer.
func (s *SlowQueries) Answered(ctx context.Context, q *observe.Explanation) {
	from := time.Duration(s.from.Load())
	if from == 0 || q.Took < from {
		return
	}
	r := Of(ctx)
	line := s.log.Warn().Str("request_id", r.ID).Str("caller", r.Caller).Str("name", r.Name).Float64("took_ms", float64(q.Took.Microseconds())/1000)
	if q.Queries <= 1 {
		line.Str("query", r.Query[:min(len(r.Query), mostText)])
	}
	if id := trace.SpanContextFromContext(ctx).TraceID(); id.IsValid() {
		line.Stringer("trace_id", id)
	}
	line.Str("explanation", q.String()).Msg("slow query")
}

// Happened implements observe.Observer.
func (s *SlowQueries) Happened(observe.Event) {}
