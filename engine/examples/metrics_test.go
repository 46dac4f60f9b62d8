package examples

import (
	"context"
	"fmt"
	"os"

	"github.com/prometheus/client_golang/prometheus"

	"heddle/engine"
	heddleprometheus "heddle/engine/observe/prometheus"
)

// Metrics observe the engine, and a registry of Prometheus has them beside the service's own.
func Example_metrics() {
	ctx := context.Background()
	folder, index, _ := files(ctx)
	defer os.RemoveAll(folder)

	metrics := heddleprometheus.New()
	registry := prometheus.NewRegistry()
	registry.MustRegister(metrics)
	e := must(engine.New(ctx, engine.Options{Observer: metrics}))
	defer e.Close()
	metrics.Watch(e.Stats)
	x := must(e.OpenIndex(ctx, index, engine.IndexOptions{}))
	for range 3 {
		must(x.Search(ctx, engine.Query{Text: "sea", K: 1, Fresh: true}))
	}
	for _, family := range must(registry.Gather()) {
		if family.GetName() == "heddle_queries_total" {
			for _, m := range family.GetMetric() {
				if m.GetCounter().GetValue() > 0 {
					fmt.Println(family.GetName(), m.GetCounter().GetValue())
				}
			}
		}
	}
	// Output:
	// heddle_queries_total 3
}
