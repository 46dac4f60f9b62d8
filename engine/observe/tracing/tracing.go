// Package tracing creates a span for each query, through the OpenTelemetry API. It depends on
// the API alone: the TracerProvider decides which spans are kept and where they go.
//
// The span of a query is a child of the span in the caller's context. It has the children
// "queue" and "run" if the query reached these stages. A call with many queries is one span
// without children. Spans are created when a query has ended, with its actual times.
package tracing

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"heddle/engine/observe"
)

// Name is the name of the tracer.
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
	Estimates  = attribute.Key("heddle.estimates")  // estimated run time of the query alone on each processor; negative if it cannot run

	// Attributes of "run", the last attempt. A call with many queries has no child spans; its
	// stages are attributes of its own span.
	Processor = attribute.Key("heddle.processor")
	Batch     = attribute.Key("heddle.batch.jobs")
	Estimate  = attribute.Key("heddle.batch.estimate")
	Missing   = attribute.Key("heddle.list_cache.missing_bytes")
	Stage     = "heddle.stage." // before the name of a stage (observe.Stages)
)

// Observer is an observe.Observer. It is safe for concurrent use.
type Observer struct{ tracer trace.Tracer }

// New returns an observer that creates spans with p.
func New(p trace.TracerProvider) *Observer { return &Observer{p.Tracer(Name)} }

// Answered implements observe.Observer.
func (o *Observer) Answered(ctx context.Context, q *observe.Explanation) {
	// Elapsed time is exact, because it comes from the monotonic clock. The wall clock may have
	// been set since the query arrived, so the arrival is computed from the present time.
	arrived := time.Now()
	if q.Arrived.IsZero() {
		arrived = arrived.Add(-q.Took)
	} else {
		arrived = arrived.Add(-arrived.Sub(q.Arrived))
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
		Outcome.String(q.Outcome.String()),
		Cached.Bool(q.Cached),
	)
	if q.Err != nil {
		span.RecordError(q.Err, ended)
		span.SetStatus(codes.Error, q.Err.Error())
	}
	if !q.Cached {
		span.SetAttributes(
			Mode.String(q.Mode),
			Class.String(q.Class),
			Attempts.Int(q.Attempts),
			Processors.StringSlice(q.Processors),
			Estimates.Float64Slice(seconds(q.Estimates)),
		)
		if q.Attempts == 0 && (q.Err == nil || q.Queries > 1) {
			span.SetAttributes(stages(q)...) // stages of many batches
		} else {
			o.parts(ctx, q, arrived)
		}
	}
	span.End(ended)
}

// parts creates the child spans of q.
func (o *Observer) parts(ctx context.Context, q *observe.Explanation, arrived time.Time) {
	started := arrived.Add(q.Queued)
	if q.Attempts == 0 { // it never left the queue
		started = arrived.Add(q.Took)
	}
	_, queue := o.tracer.Start(ctx, "queue", trace.WithTimestamp(arrived))
	queue.End(trace.WithTimestamp(started))
	if q.Attempts == 0 {
		return
	}
	_, run := o.tracer.Start(ctx, "run", trace.WithTimestamp(started), trace.WithAttributes(
		Processor.String(q.Processor),
		Batch.Int(q.Batch),
		Estimate.Float64(q.Estimate.Seconds()),
		Missing.Int64(int64(q.Missing)),
	))
	run.SetAttributes(stages(q)...)
	if q.Err != nil {
		run.SetStatus(codes.Error, q.Err.Error())
	}
	ended := started.Add(q.Ran)
	if q.Ran == 0 { // the processor did not answer
		ended = arrived.Add(q.Took)
	}
	run.End(trace.WithTimestamp(ended))
}

func stages(q *observe.Explanation) (all []attribute.KeyValue) {
	for name, took := range observe.Stages(&q.Stats) {
		all = append(all, attribute.Float64(Stage+name, took.Seconds()))
	}
	return all
}

// Happened implements observe.Observer. Events are not part of traces.
func (o *Observer) Happened(observe.Event) {}

func seconds(times []time.Duration) []float64 {
	s := make([]float64, len(times))
	for i, d := range times {
		s[i] = d.Seconds()
	}
	return s
}
