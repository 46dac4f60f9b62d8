package tracing_test

import (
	"context"
	"fmt"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"heddle/engine/observe"
	"heddle/engine/observe/tracing"
)

func Example() {
	kept := tracetest.NewInMemoryExporter()
	provider := sdk.NewTracerProvider(sdk.WithSyncer(kept))

	// The engine sends explanations to the observer in its options:
	o := tracing.New(provider)
	ctx, request := provider.Tracer("service").Start(context.Background(), "GET /search")
	o.Answered(ctx, &observe.Explanation{
		Kind: "and", Queries: 1, Took: 4 * time.Millisecond,
		Arrived: time.Now(), Mode: "async", Processor: "gpu 0",
		Estimate: 3 * time.Millisecond, Batch: 1, Queued: time.Millisecond, Ran: 3 * time.Millisecond, Attempts: 1,
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
