package observe_test

import (
	"os"
	"time"

	"heddle/engine/observe"
	"heddle/engine/plan"
)

func ExampleExplanation_Explain() {
	q := observe.Explanation{
		Kind:       "rank or",
		Queries:    1,
		Took:       512 * time.Microsecond,
		Mode:       "async",
		Class:      "device",
		Processors: []string{"gpu 0", "host"},
		Estimates:  []time.Duration{440 * time.Microsecond, 3 * time.Millisecond},
		Processor:  "gpu 0",
		Attempts:   1,
		Batch:      1,
		Estimate:   440 * time.Microsecond,
		Queued:     12345 * time.Nanosecond,
		Ran:        400 * time.Microsecond,
		Stats:      plan.Stats{Decode: 120 * time.Microsecond, Score: 180 * time.Microsecond, Select: 40 * time.Microsecond},
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
