package schedule

import (
	"context"
	"fmt"
	"slices"
	"time"

	"heddle/engine/bench/harness"
	"heddle/engine/bench/load"
	"heddle/engine/bench/measure"
	"heddle/engine/bench/workload"
	"heddle/engine/internal/cputime"
)

// halfLoads is the number of loads at half the rate.
const halfLoads = 3

func (s *bench) callersExhibit() harness.Exhibit {
	return harness.Exhibit{
		Name: "callers", Title: "Single queries from many callers",
		Ours: "Each caller sends a query, waits for its answer, and sends the next one, for half a second; all callers are goroutines of this process. CPU: of the process, by query, with the callers and their check of the answers. p50 and p99: from the call to the answer in the memory of the caller. At half: of an open loop with half of the rate, Poisson arrivals and a deadline of 500 ms. All answers are checked completely before; here the number of documents and 32 of them are compared.",
		Rows: "callers", Data: harness.GovOrder,
		Run: func(ctx context.Context) error {
			all, err := s.logs(ctx, workload.And)
			if err != nil {
				return err
			}
			for _, v := range all {
				for _, y := range s.systems() {
					if err := v.with(ctx, y, func(e *machine) error { return v.fromCallers(ctx, y, e) }); err != nil {
						return err
					}
				}
			}
			return nil
		},
	}
}

// mostClosed is the largest number of queries of a closed loop.
const mostClosed = 4_000_000

// fromCallers measures closed loops on a system.
func (v *served) fromCallers(ctx context.Context, y system, e *machine) error {
	const deadline = 500 * time.Millisecond
	answer := v.answer(e, call{})
	length := harness.Pick[time.Duration](&v.s.Opt, 500*time.Millisecond, 30*time.Millisecond)
	all := make([]float64, mostClosed) // delays, ms
	for _, callers := range []int{manyCallers, 4 * manyCallers} {
		var rates, cpu, p50, p99 []float64
		for run := range v.s.Opt.Runs + 1 {
			began := cputime.Total()
			n, rate, err := closed(ctx, func(ctx context.Context, i int) error {
				began := time.Now()
				err := answer(ctx, i)
				all[i] = measure.Milliseconds(time.Since(began))
				return err
			}, callers, mostClosed, length)
			used := cputime.Total() - began
			if err != nil {
				return err
			}
			if run == 0 { // the engine learns
				continue
			}
			took := all[:n]
			slices.Sort(took)
			rates, p50, p99 = append(rates, rate), append(p50, measure.Percentile(took, 50)), append(p99, measure.Percentile(took, 99))
			cpu = append(cpu, used.Seconds()*1e6/float64(n))
		}
		rate := measure.Summarize(rates)
		n := max(int(rate.Median/2*length.Seconds()), 1)
		var half []*load.Delays
		for i := range halfLoads {
			d, err := load.Loop{Rate: rate.Median / 2, Queries: n, Deadline: deadline, Misses: n, Seed: v.s.Opt.Seed + uint64(i)}.RunAll(ctx, answer)
			if err != nil {
				return err
			}
			half = append(half, d)
		}
		at := fmt.Sprintf("%s, %d callers", y, callers)
		put := func(series, metric, unit string, of measure.Summary) {
			v.s.Put(y.on(harness.Reading{Panel: v.name, Series: series, At: at, Row: of.Into(measure.Row{Workload: v.name, Row: at, Metric: metric, Unit: unit})}))
		}
		put("queries/s", "throughput", "queries/s", rate)
		put("CPU, µs", "CPU time", "us", measure.Summarize(cpu))
		put("p50, ms", "p50", "ms", measure.Summarize(p50))
		put("p99, ms", "p99", "ms", measure.Summarize(p99))
		for _, p := range []int{50, 99} {
			if of, ok := load.Middle(half, func(d *load.Delays) (float64, bool) { return d.Percentile(p) }); ok {
				put(fmt.Sprintf("p%d at half, ms", p), fmt.Sprintf("p%d at half load", p), "ms", of)
			}
		}
	}
	return nil
}

// sample is a digest of the number of documents of an answer and of 32 of them. A digest of all
// would take more time than some answers.
func sample(docs []uint32) uint64 {
	var some [32]uint32
	for i := range min(len(some), len(docs)) {
		some[i] = docs[i*len(docs)/min(len(some), len(docs))]
	}
	return workload.Digest(some[:]) ^ workload.Mix(uint64(len(docs)))
}
