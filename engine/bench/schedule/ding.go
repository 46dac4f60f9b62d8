package schedule

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"heddle/engine/bench/chart"
	"heddle/engine/bench/harness"
	"heddle/engine/bench/load"
	"heddle/engine/bench/measure"
	"heddle/engine/bench/workload"
	"heddle/engine/internal/schedule"
)

// theBetter names a configuration of Ding et al., Figure 7: single queries on the
// faster processor.
const theBetter = "the better one, one query at a time"

// deadlines of queries: the deadline of Ding et al., and one that excludes large
// batches.
var deadlines = []time.Duration{500 * time.Millisecond, 10 * time.Millisecond}

type curveKey struct {
	system   string
	deadline time.Duration
}

// logs returns the wanted workloads: ranked queries in each mode, and the lists.
func (s *bench) logs(ctx context.Context, modes ...workload.Mode) (all []*served, err error) {
	wants := func(log string) bool { return len(s.Opt.Logs) == 0 || slices.Contains(s.Opt.Logs, log) }
	if wants("ranked") {
		for _, mode := range modes {
			v, err := s.servedRanked(ctx, mode)
			if err != nil {
				return nil, err
			}
			all = append(all, v)
		}
	}
	if wants("lists") {
		v, err := s.servedLists(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

// configurations returns the names of the configurations that underLoad measures.
func (s *bench) configurations() (names []string) {
	for _, y := range s.systems() {
		names = append(names, y.name)
		if len(y.who) > 1 {
			names = append(names, theBetter)
		}
	}
	return names
}

// underLoad measures all systems at all deadlines.
func (v *served) underLoad(ctx context.Context) error {
	for _, y := range v.s.systems() {
		err := v.with(ctx, y, func(e *machine) error {
			_, rate, err := closed(ctx, v.answer(e, call{mode: schedule.Async}), 1, 50, time.Second)
			if err != nil {
				return err
			}
			from := math.Exp2(math.Floor(math.Log2(rate / 4)))
			for _, deadline := range deadlines {
				if err := v.measureLoads(ctx, curveKey{y.name, deadline}, from, v.answer(e, call{})); err != nil {
					return err
				}
				if len(y.who) > 1 {
					if err := v.measureLoads(ctx, curveKey{theBetter, deadline}, from, oneByOne(v.answer(e, call{mode: schedule.Async}))); err != nil {
						return err
					}
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// measureLoads puts loads at rising rates. A load takes 25 deadlines, at most half a second.
func (v *served) measureLoads(ctx context.Context, key curveKey, from float64, answer func(ctx context.Context, i int) error) error {
	began, loads := time.Now(), 0
	c := load.Climb{From: from, Factor: harness.Pick[float64](&v.s.Opt, 2, 4), Halvings: harness.Pick[int](&v.s.Opt, 4, 1),
		Downs:  harness.Pick[int](&v.s.Opt, 3, 1),
		Length: harness.Pick[time.Duration](&v.s.Opt, min(500*time.Millisecond, 25*key.deadline), 30*time.Millisecond), Deadline: key.deadline, Seed: v.s.Opt.Seed,
		Report: func(d *load.Delays) { loads++ }}
	held, err := c.Run(ctx, answer)
	if err != nil {
		return err
	}
	v.s.Logf("%s, %s: %d loads, %d held, %.1f s", v.panel(key.deadline), key.system, loads, len(held), time.Since(began).Seconds())
	v.curves[key] = held
	return nil
}

// system returns the system of a configuration. Other names run on all processors.
func (s *bench) system(name string) system {
	all := s.systems()
	for _, y := range all {
		if y.name == name {
			return y
		}
	}
	return all[len(all)-1]
}

// panel names the workload and a deadline.
func (v *served) panel(deadline time.Duration) string {
	return fmt.Sprintf("%s, deadline %d ms", v.name, deadline.Milliseconds())
}

func (s *bench) dingFigure7() harness.Exhibit {
	return harness.Exhibit{
		Name: "ding-fig7", Title: "Delay against the rate of arrivals", Source: "Ding et al. 2009, Figure 7",
		Says:  "Using both processors in parallel is much better than everything else: it sustains beyond 300 queries/s, the CPU alone less than 100. A run has failed when a query misses its deadline of 500 ms. Simulated, from predicted and measured times of single queries on GOV2; GeForce 8800 GTS, a core of a Core 2 Duo E6750.",
		Ours:  "Measured, not simulated: an engine answers queries that arrive as a Poisson process, and a delay counts from the moment at which a query should have arrived to its answer in host memory. Host only and device only are engines with one processor; like the engine with both, they make batches under load. The better one: the system answers one query at a time, on the processor that should be faster. A load also fails when answers come more slowly than queries. 65,536 queries may wait. A load takes 25 deadlines, at most half a second. Since the recorded loads, each processor first answers all queries once, the garbage of earlier loads is collected before a load, and answers reuse the memory of earlier answers. A line ends at the rate where more than one query in a thousand misses its deadline in each of three loads. The threshold of 20 % between the classes of queries is fixed; the paper could adapt it. The host has all cores, and some of them also send queries; beside a device it has one in eight fewer if it has eight or more.",
		Found: `With a deadline of 500 ms both processors sustain {{most (x (rows "gov2-*500 ms, p99" "both" ""))}} ranked queries/s on GOV2, the device alone {{most (x (rows "gov2-*500 ms, p99" "device only" ""))}}, the host alone {{most (x (rows "gov2-*500 ms, p99" "host only" ""))}}, and one query at a time {{most (x (rows "gov2-*500 ms, p99" "*at a time" ""))}}; on GOV {{most (x (rows "gov-*500 ms, p99" "both" ""))}}, {{most (x (rows "gov-*500 ms, p99" "device only" ""))}}, {{most (x (rows "gov-*500 ms, p99" "host only" ""))}} and {{most (x (rows "gov-*500 ms, p99" "*at a time" ""))}}. With 10 ms both sustain {{ratio (most (x (rows "gov2-*10 ms, p99" "both" ""))) (most (x (rows "gov2-*10 ms, p99" "device only" "")))}} times the rate of the device alone on GOV2 and {{ratio (most (x (rows "gov-*10 ms, p99" "both" ""))) (most (x (rows "gov-*10 ms, p99" "device only" "")))}} times on GOV.`,
		Rows:  "queries/s", Data: harness.GovOrder,
		Chart: chart.Chart{Kind: chart.Lines, X: "arrivals, queries/s", Y: "delay, ms", LogX: true, Tens: true, LogY: true},
		Run: func(ctx context.Context) error {
			all, err := s.logs(ctx, workload.And) // AND matches the figures of Ding et al.
			if err != nil {
				return err
			}
			for _, v := range all {
				if err := v.underLoad(ctx); err != nil {
					return err
				}
				for _, deadline := range deadlines {
					v.putDelays(deadline, "average")
					v.putDelays(deadline, "p99")
				}
			}
			return nil
		},
	}
}

// putDelays records one metric of the delays at a deadline, by rate.
func (v *served) putDelays(deadline time.Duration, metric string) {
	var all []harness.Reading
	for _, name := range v.s.configurations() {
		for _, d := range v.curves[curveKey{name, deadline}] {
			value, ok := d.Mean(), true
			if metric != "average" {
				value, ok = d.Percentile(99)
			}
			if !ok {
				continue
			}
			r := harness.Reading{Panel: v.panel(deadline) + ", " + metric, Series: name, At: measure.Number(d.Rate), X: d.Rate,
				Row: measure.Single(value).Into(measure.Row{Workload: v.name, Metric: metric + " delay", Unit: "ms"})}
			r.Row.Row = fmt.Sprintf("%s, deadline %d ms, %s queries/s", name, deadline.Milliseconds(), measure.Number(d.Rate))
			all = append(all, v.s.system(name).on(r))
		}
	}
	slices.SortStableFunc(all, func(a, b harness.Reading) int { return cmp.Compare(a.X, b.X) })
	for _, r := range all {
		v.s.Put(r)
	}
}
