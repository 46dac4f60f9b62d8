package tracing

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"heddle/engine/observe"
	"heddle/engine/plan"
)

const ms = time.Millisecond

var arrived = time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)

// spans returns the spans of q by name, and the span of the caller.
func spans(t *testing.T, q *observe.Explanation) (map[string]tracetest.SpanStub, trace.SpanContext) {
	t.Helper()
	kept := tracetest.NewInMemoryExporter()
	p := sdk.NewTracerProvider(sdk.WithSyncer(kept))
	ctx, caller := p.Tracer("test").Start(context.Background(), "caller")
	New(p).Answered(ctx, q)
	byName := make(map[string]tracetest.SpanStub)
	for _, s := range kept.GetSpans() {
		if _, twice := byName[s.Name]; twice {
			t.Errorf("two spans are named %q", s.Name)
		}
		byName[s.Name] = s
	}
	if err := p.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	return byName, caller.SpanContext()
}

// times checks when a span began and ended, after the query arrived.
func times(t *testing.T, s tracetest.SpanStub, from, to time.Duration) {
	t.Helper()
	if a, b := s.StartTime.Sub(arrived), s.EndTime.Sub(arrived); a != from || b != to {
		t.Errorf("%s lasts from %v to %v, want %v to %v", s.Name, a, b, from, to)
	}
}

func attributes(t *testing.T, s tracetest.SpanStub, want ...attribute.KeyValue) {
	t.Helper()
	for _, w := range want {
		if !slices.Contains(s.Attributes, w) {
			t.Errorf("%s has no %s = %s: %v", s.Name, w.Key, w.Value.String(), s.Attributes)
		}
	}
}

func TestAnswered(t *testing.T) {
	all, caller := spans(t, &observe.Explanation{
		Kind: "rank or", Queries: 1, Took: 9 * ms, Missing: 4096, Processors: []string{"gpu", "host"},
		Arrived: arrived, Mode: "sync", Class: "device", Processor: "gpu",
		Estimates: []time.Duration{2 * ms, -1}, Estimate: 4 * ms, Batch: 32, Queued: 3 * ms, Ran: 5 * ms, Attempts: 2,
		Stats: plan.Stats{Upload: ms, Score: 2 * ms},
	})
	if len(all) != 3 {
		t.Fatalf("%d spans: %v", len(all), all)
	}
	query, queue, run := all["query rank or"], all["queue"], all["run"]
	if query.Parent.SpanID() != caller.SpanID() || query.SpanContext.TraceID() != caller.TraceID() {
		t.Error("the query is not a child of the caller's span")
	}
	for _, s := range []tracetest.SpanStub{queue, run} {
		if s.Parent.SpanID() != query.SpanContext.SpanID() {
			t.Errorf("%s is not a child of the query", s.Name)
		}
	}
	times(t, query, 0, 9*ms)
	times(t, queue, 0, 3*ms)
	times(t, run, 3*ms, 8*ms)
	attributes(t, query, Kind.String("rank or"), Queries.Int(1), Outcome.String("answered"), Cached.Bool(false), Mode.String("sync"), Class.String("device"), Attempts.Int(2))
	attributes(t, run, Processor.String("gpu"), Batch.Int(32), Estimate.Float64(0.004), Missing.Int64(4096),
		attribute.Float64("heddle.stage.upload", 0.001), attribute.Float64("heddle.stage.score", 0.002))
	set := attribute.NewSet(query.Attributes...)
	if v, _ := set.Value(Estimates); !slices.Equal(v.AsFloat64Slice(), []float64{0.002, -1e-9}) {
		t.Errorf("estimates %v", v.AsFloat64Slice())
	}
	if v, _ := set.Value(Processors); !slices.Equal(v.AsStringSlice(), []string{"gpu", "host"}) {
		t.Errorf("processors %v", v.AsStringSlice())
	}
	if query.Status.Code != codes.Unset || len(query.Events) != 0 {
		t.Errorf("a query that was answered has status %v, events %v", query.Status, query.Events)
	}
}

func TestCached(t *testing.T) {
	all, _ := spans(t, &observe.Explanation{Kind: "and", Cached: true, Took: ms, Arrived: arrived})
	if len(all) != 1 {
		t.Fatalf("%d spans: %v", len(all), all)
	}
	times(t, all["query and"], 0, ms)
	attributes(t, all["query and"], Cached.Bool(true), Queries.Int(1))
}

// TestStream: many queries of one call are one span.
func TestStream(t *testing.T) {
	for _, err := range []error{nil, plan.ErrClosed} {
		all, _ := spans(t, &observe.Explanation{Kind: "and", Queries: 1000, Took: ms, Err: err,
			Arrived: arrived, Mode: "sync", Stats: plan.Stats{Probe: ms}})
		if len(all) != 1 {
			t.Fatalf("%d spans: %v", len(all), all)
		}
		times(t, all["query and"], 0, ms)
		attributes(t, all["query and"], Queries.Int(1000), attribute.Float64("heddle.stage.probe", 0.001))
	}
}

// TestExpired: a query that never ran was in the queue until its end.
func TestExpired(t *testing.T) {
	err := context.DeadlineExceeded
	all, _ := spans(t, &observe.Explanation{Kind: "and", Took: 7 * ms, Err: err, Outcome: observe.Expired, Arrived: arrived})
	query, queue := all["query and"], all["queue"]
	if len(all) != 2 {
		t.Fatalf("%d spans: %v", len(all), all)
	}
	times(t, query, 0, 7*ms)
	times(t, queue, 0, 7*ms)
	attributes(t, query, Outcome.String("expired"))
	if query.Status.Code != codes.Error || query.Status.Description != err.Error() {
		t.Errorf("status %v", query.Status)
	}
	if len(query.Events) != 1 || query.Events[0].Name != "exception" || !query.Events[0].Time.Equal(arrived.Add(7*ms)) {
		t.Errorf("events %v", query.Events)
	}
}

func TestFailed(t *testing.T) {
	fault := errors.New("a fault")
	all, _ := spans(t, &observe.Explanation{Kind: "and", Took: 2 * ms, Err: fault,
		Arrived: arrived, Ran: ms, Attempts: 1})
	for _, name := range []string{"query and", "run"} {
		if s := all[name].Status; s.Code != codes.Error || s.Description != "a fault" {
			t.Errorf("%s has status %v", name, s)
		}
	}
}

// TestNotBack: a failed attempt of unknown length lasts to the end of the query.
func TestNotBack(t *testing.T) {
	all, _ := spans(t, &observe.Explanation{Kind: "and", Took: 9 * ms, Err: plan.ErrDeviceLost,
		Arrived: arrived, Queued: 2 * ms, Attempts: 1})
	times(t, all["queue"], 0, 2*ms)
	times(t, all["run"], 2*ms, 9*ms)
}

// TestNoArrival: a query without a time of arrival ends now.
func TestNoArrival(t *testing.T) {
	before := time.Now()
	all, _ := spans(t, &observe.Explanation{Kind: "and", Took: time.Second, Err: plan.ErrClosed})
	s := all["query and"]
	if s.EndTime.Sub(s.StartTime) != time.Second || s.EndTime.Before(before) || s.EndTime.After(time.Now()) {
		t.Errorf("from %v to %v", s.StartTime, s.EndTime)
	}
}

// TestNotSampled: a trace that is not sampled has no spans.
func TestNotSampled(t *testing.T) {
	kept := tracetest.NewInMemoryExporter()
	p := sdk.NewTracerProvider(sdk.WithSyncer(kept), sdk.WithSampler(sdk.NeverSample()))
	q := &observe.Explanation{Kind: "and", Arrived: arrived, Attempts: 1}
	New(p).Answered(t.Context(), q)
	New(noop.NewTracerProvider()).Answered(t.Context(), q)
	if n := len(kept.GetSpans()); n != 0 {
		t.Errorf("%d spans", n)
	}
	New(p).Happened(observe.Event{Mode: "sync"})
}

func BenchmarkNoTracing(b *testing.B) {
	o := New(noop.NewTracerProvider())
	q := &observe.Explanation{Kind: "and", Arrived: arrived, Attempts: 1}
	b.ReportAllocs()
	for b.Loop() {
		o.Answered(context.Background(), q)
	}
}
