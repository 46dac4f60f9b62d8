// Package tracing makes a span of each query, through the OpenTelemetry API. It depends on
// the API alone: which spans are kept, and where they go, is up to the TracerProvider.
//
// The span of a query is a child of the one in the context that its caller gave to the
// engine. It has the children "queue" and "run", if the query got so far. A call with many
// queries is one span without children. Spans are made when a query has ended, with the
// times that it had.
package tracing

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"heddle/engine/observe"
	"heddle/engine/schedule"
)

// Name is that of the tracer.
const Name = "heddle/engine"

// Attributes of spans. Times are in seconds.
const (
	Kind       = attribute.Key("heddle.kind")
	Queries    = attribute.Key("heddle.queries")
	Outcome    = attribute.Key("heddle.outcome")
	Cached     = attribute.Key("heddle.result_cache.hit")
	Mode       = attribute.Key("heddle.mode")
	Class      = attribute.Key("heddle.class")
	Attempts   = attribute.Key("heddle.attempts")
	Processors = attribute.Key("heddle.processors") // in the order of Estimates
	Estimates  = attribute.Key("heddle.estimates")  // of the query alone, negative where it cannot run

	// Of "run", which is the last attempt; stages of a call with many queries stand in its
	// own span, as it has no parts.
	Processor = attribute.Key("heddle.processor")
	Batch     = attribute.Key("heddle.batch.jobs")
	Estimate  = attribute.Key("heddle.batch.estimate")
	Missing   = attribute.Key("heddle.list_cache.missing_bytes")
	Stage     = "heddle.stage." // before the name of a stage (observe.Stages)
)

// Observer is an observe.Observer. It is safe for concurrent use.
type Observer struct{ tracer trace.Tracer }

// New returns an observer whose spans are p's.
func New(p trace.TracerProvider) *Observer { return &Observer{p.Tracer(Name)} }

// Answered implements observe.Observer.
func (o *Observer) Answered(ctx context.Context, q *observe.Query) {
	t := &q.Trace
	// How long ago a query arrived is certain; what the clock showed then may have been
	// reckoned from a time before it was set.
	arrived := time.Now()
	if t.Arrived.IsZero() {
		arrived = arrived.Add(-q.Took)
	} else {
		arrived = arrived.Add(-arrived.Sub(t.Arrived))
	}
	ended := trace.WithTimestamp(arrived.Add(q.Took))
	ctx, span := o.tracer.Start(ctx, "query "+q.Kind, trace.WithTimestamp(arrived), trace.WithSpanKind(trace.SpanKindInternal))
	if !span.IsRecording() {
		span.End(ended)
		return
	}
	span.SetAttributes(
		Kind.String(q.Kind),
		Queries.Int(max(q.Queries, 1)),
		Outcome.String(q.Outcome().String()),
		Cached.Bool(q.Cached),
	)
	if q.Err != nil {
		span.RecordError(q.Err, ended)
		span.SetStatus(codes.Error, q.Err.Error())
	}
	if !q.Cached {
		span.SetAttributes(
			Mode.String(t.Mode.String()),
			Class.String(t.Class.String()),
			Attempts.Int(t.Attempts),
			Processors.StringSlice(q.Processors),
			Estimates.Float64Slice(seconds(t.Estimates)),
		)
		if t.Attempts == 0 && (q.Err == nil || q.Queries > 1) {
			span.SetAttributes(stages(q)...) // of many batches, that nothing else is known of
		} else {
			o.parts(ctx, q, arrived)
		}
	}
	span.End(ended)
}

// parts makes the spans within that of q.
func (o *Observer) parts(ctx context.Context, q *observe.Query, arrived time.Time) {
	t := &q.Trace
	started := arrived.Add(t.Queued)
	if t.Attempts == 0 { // it waited to its end
		started = arrived.Add(q.Took)
	}
	_, queue := o.tracer.Start(ctx, "queue", trace.WithTimestamp(arrived))
	queue.End(trace.WithTimestamp(started))
	if t.Attempts == 0 {
		return
	}
	_, run := o.tracer.Start(ctx, "run", trace.WithTimestamp(started), trace.WithAttributes(
		Processor.String(t.Processor),
		Batch.Int(t.Batch),
		Estimate.Float64(t.Estimate.Seconds()),
		Missing.Int64(int64(q.Missing)),
	))
	run.SetAttributes(stages(q)...)
	if q.Err != nil {
		run.SetStatus(codes.Error, q.Err.Error())
	}
	ended := started.Add(t.Ran)
	if t.Ran == 0 { // it did not come back
		ended = arrived.Add(q.Took)
	}
	run.End(trace.WithTimestamp(ended))
}

func stages(q *observe.Query) (all []attribute.KeyValue) {
	for name, took := range observe.Stages(&q.Stats) {
		all = append(all, attribute.Float64(Stage+name, took.Seconds()))
	}
	return all
}

// Happened implements observe.Observer. What happens beside queries is no part of a trace.
func (o *Observer) Happened(schedule.Event) {}

func seconds(times []time.Duration) []float64 {
	s := make([]float64, len(times))
	for i, d := range times {
		s[i] = d.Seconds()
	}
	return s
}
