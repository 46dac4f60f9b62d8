package observe_test

import (
	"os"
	"time"

	"heddle/engine/observe"
	"heddle/engine/plan"
	"heddle/engine/schedule"
)

func ExampleQuery_Explain() {
	q := observe.Query{
		Kind:       "rank or",
		Queries:    1,
		Took:       512 * time.Microsecond,
		Processors: []string{"gpu 0", "host"},
		Trace: schedule.Trace{
			Mode:      schedule.Async,
			Class:     schedule.Device,
			Processor: "gpu 0",
			Estimates: []time.Duration{440 * time.Microsecond, 3 * time.Millisecond},
			Estimate:  440 * time.Microsecond,
			Batch:     1,
			Queued:    12345 * time.Nanosecond,
			Ran:       400 * time.Microsecond,
			Attempts:  1,
		},
		Stats: plan.Stats{Decode: 120 * time.Microsecond, Score: 180 * time.Microsecond, Select: 40 * time.Microsecond},
	}
	q.Explain(os.Stdout)
	// Output:
	// rank or: answered after 512µs
	//   gpu 0: alone it should take 440µs
	//   host: alone it should take 3ms
	//   scheduled async, class device
	//   ran on gpu 0 alone: queued 12.3µs, estimated 440µs, took 400µs (estimate +10 %)
	//   all lists were resident
	//   stages: decode 120µs, score 180µs, select 40µs
}
