package tracing_test

import (
	"context"
	"fmt"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"heddle/engine/observe"
	"heddle/engine/observe/tracing"
	"heddle/engine/schedule"
)

func Example() {
	kept := tracetest.NewInMemoryExporter()
	provider := sdk.NewTracerProvider(sdk.WithSyncer(kept))

	// The engine is given the observer, and tells it of queries:
	o := tracing.New(provider)
	ctx, request := provider.Tracer("service").Start(context.Background(), "GET /search")
	o.Answered(ctx, &observe.Query{
		Kind: "and", Queries: 1, Took: 4 * time.Millisecond,
		Trace: schedule.Trace{Arrived: time.Now(), Mode: schedule.Async, Processor: "gpu 0",
			Estimate: 3 * time.Millisecond, Batch: 1, Queued: time.Millisecond, Ran: 3 * time.Millisecond, Attempts: 1},
	})
	request.End()

	for _, s := range kept.GetSpans() {
		fmt.Println(s.Name)
	}
	// Output:
	// queue
	// run
	// query and
	// GET /search
}
