package meter_test

import (
	"context"
	"expvar"
	"fmt"
	"strings"
	"time"

	"heddle/engine/observe"
	"heddle/engine/observe/meter"
	"heddle/engine/schedule"
)

func Example() {
	memory := meter.NewMemory()
	var o observe.Observer = meter.New(memory) // given to the engine, which tells it:
	o.Answered(context.Background(), &observe.Query{
		Kind: "and", Queries: 1, Took: 300 * time.Microsecond,
		Trace: schedule.Trace{Mode: schedule.Async, Class: schedule.Host, Processor: "host",
			Estimate: 280 * time.Microsecond, Batch: 1, Ran: 280 * time.Microsecond, Attempts: 1},
	})
	for _, s := range memory.Snapshot() {
		if s.Desc.Kind == meter.KindCounter {
			fmt.Println(s.Desc.Name, s.Labels, s.Value)
		} else {
			fmt.Println(s.Desc.Name, s.Labels, s.Count(), "values, sum", s.Value)
		}
	}
	// Unordered output:
	// cached_queries_total [and] 0
	// queries_total [and async host host answered] 1
	// retries_total [host] 0
	// batch_jobs [and async host] 1 values, sum 1
	// prediction_error_ratio [and async host] 1 values, sum 0
	// query_duration_seconds [and async answered] 1 values, sum 0.0003
	// queue_duration_seconds [and async host] 1 values, sum 0
	// run_duration_seconds [and async host] 1 values, sum 0.00028
}

// sums is a Sink for package expvar, which knows no histograms: it keeps their sums.
type sums struct{ *expvar.Map }

func (s sums) Counter(d *meter.Desc, values ...string) meter.Counter {
	return sum{s.Map, d.Name + "/" + strings.Join(values, "/")}
}

func (s sums) Histogram(d *meter.Desc, values ...string) meter.Histogram {
	return sum{s.Map, d.Name + "/" + strings.Join(values, "/")}
}

type sum struct {
	vars *expvar.Map
	name string
}

func (s sum) Add(n float64)     { s.vars.AddFloat(s.name, n) }
func (s sum) Observe(v float64) { s.vars.AddFloat(s.name, v) }

func ExampleSink() {
	vars := new(expvar.Map).Init()
	m := meter.New(sums{vars})
	m.Answered(context.Background(), &observe.Query{Kind: "and", Queries: 3, Cached: true, Took: time.Second / 2})
	fmt.Println(vars)
	// Output:
	// {"cached_queries_total/and": 3, "queries_total/and/auto/either//answered": 3, "query_duration_seconds/and/auto/answered": 0.5}
}
