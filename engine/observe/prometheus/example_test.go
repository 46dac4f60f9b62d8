package prometheus_test

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"heddle/engine/observe"
	heddleprometheus "heddle/engine/observe/prometheus"
)

func Example() {
	metrics := heddleprometheus.New()
	registry := prometheus.NewRegistry()
	registry.MustRegister(metrics)

	// The engine sends explanations to the observer in its options:
	var o observe.Observer = metrics
	o.Answered(context.Background(), &observe.Explanation{Kind: "and", Queries: 1, Took: time.Millisecond, Cached: true})

	n, err := testutil.GatherAndCount(registry, "heddle_cached_queries_total")
	fmt.Println(n, err)
	// Output: 1 <nil>
}
