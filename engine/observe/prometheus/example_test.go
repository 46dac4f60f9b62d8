package prometheus_test

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"heddle/engine/observe"
	"heddle/engine/observe/meter"
	heddleprometheus "heddle/engine/observe/prometheus"
)

func Example() {
	memory := meter.NewMemory()
	registry := prometheus.NewRegistry()
	registry.MustRegister(heddleprometheus.New(memory))

	// The engine is given the observer, and tells it of queries:
	o := meter.New(memory)
	o.Answered(context.Background(), &observe.Query{Kind: "and", Queries: 1, Took: time.Millisecond, Cached: true})

	n, err := testutil.GatherAndCount(registry, "heddle_cached_queries_total")
	fmt.Println(n, err)
	// Output: 1 <nil>
}
