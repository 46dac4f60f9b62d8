package schedule

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"heddle/engine/bench/harness"
	"heddle/engine/bench/load"
	"heddle/engine/bench/measure"
	"heddle/engine/bench/workload"
	"heddle/engine/internal/schedule"
)

const (
	capacityLoads = 16 // to find the rate of a system
	delayLoads    = 7  // at equal rates
)

func (s *bench) capacityExhibit() harness.Exhibit {
	return harness.Exhibit{
		Name: "capacity", Title: "Rates that are sustained, and delays at equal rates",
		Ours: fmt.Sprintf("Single queries arrive as a Poisson process; a delay counts from the arrival. A load holds if at most one query in a thousand misses its deadline and answers come as fast as queries; it takes 0.2 s. Sustained: the rate at which half of the loads hold, by %d loads for each system, in turns: the rate rises by a step after a load that held and falls after another one; steps become 2 %%. The figure is the median rate of the later half of the loads, the spread is that of these rates. One goroutine sends: with one call it wakes one goroutine for all queries that are due, which wakes the others. Sender late: the share of the failed loads in which one query in a thousand was sent more than 5 ms or a tenth of the deadline late, so that the load says little about the system; such loads are repeated, twice at most. p50 and p99: of loads at one rate for all systems that sustain it, half of the second best rate, the median of %d in turns, also repeated where the sender was late; a query without an answer in time counts as later than all others. Called late: the p99 of the time from the arrival of a query to its call, which delays include.", capacityLoads, delayLoads),
		Rows: "processors", Data: harness.GovOrder,
		Run: func(ctx context.Context) error { return s.compare(ctx, s.systems()) },
	}
}

func (s *bench) policiesExhibit() harness.Exhibit {
	return harness.Exhibit{
		Name: "policies", Title: "Policies of the scheduler: rates that are sustained, and delays at equal rates",
		Ours: "As in the table capacity, for an engine on all processors under each policy, beside engines on one processor.",
		Rows: "processors and policy", Data: harness.GovOrder,
		Run: func(ctx context.Context) error {
			var all []system
			for _, y := range s.systems() {
				if len(y.who) == 1 {
					all = append(all, y)
					continue
				}
				for _, policy := range []string{"cooperative", "device-first", "wu", "ding"} {
					all = append(all, system{name: policy, who: y.who, policy: policy})
				}
			}
			return s.compare(ctx, all)
		},
	}
}

// compare measures the capacity of systems for all logs.
func (s *bench) compare(ctx context.Context, systems []system) error {
	all, err := s.logs(ctx, workload.And)
	if err != nil {
		return err
	}
	for _, v := range all {
		if err := v.together(ctx, systems, nil, v.capacities); err != nil {
			return err
		}
	}
	return nil
}

// underTest is a system in turns with others.
type underTest struct {
	system
	answer func(ctx context.Context, i int) error
	first  float64 // rate of many callers
	stairs *load.Stairs
	rate   measure.Summary
	loads  []*load.Delays // at equal rates
}

// together starts an engine on each system, warms it up, and calls f with all.
func (v *served) together(ctx context.Context, systems []system, all []*underTest, f func(ctx context.Context, all []*underTest) error) error {
	if len(systems) == 0 {
		return f(ctx, all)
	}
	return v.with(ctx, systems[0], func(e *machine) error {
		u := &underTest{system: systems[0], answer: v.answer(e, call{})}
		_, rate, err := closed(ctx, v.answer(e, call{mode: schedule.Auto}), manyCallers, mostClosed, harness.Pick[time.Duration](&v.s.Opt, 300*time.Millisecond, 20*time.Millisecond))
		if err != nil {
			return err
		}
		u.first = rate
		return v.together(ctx, systems[1:], append(all, u), f)
	})
}

// inTurns puts a number of loads on each system; the first system of a turn changes. A load with a
// late sender is repeated, unless it held and that is enough.
func inTurns(ctx context.Context, all []*underTest, turns int, enough bool, loop func(u *underTest, turn int) load.Loop, take func(u *underTest, d *load.Delays)) error {
	for turn := range turns {
		for i := range all {
			u := all[(i+turn)%len(all)]
			var d *load.Delays
			for try := 0; try < load.Tries && (try == 0 || d.Limited() && !(enough && d.Held(load.Mostly))); try++ {
				var err error
				if d, err = loop(u, turn).RunAll(ctx, u.answer); err != nil {
					return fmt.Errorf("%s: %w", u, err)
				}
			}
			take(u, d)
		}
	}
	return nil
}

// capacities measures systems at each deadline.
func (v *served) capacities(ctx context.Context, all []*underTest) error {
	for _, deadline := range deadlines {
		began := time.Now()
		c := load.Climb{Length: harness.Pick[time.Duration](&v.s.Opt, 200*time.Millisecond, 30*time.Millisecond), Deadline: deadline, Seed: v.s.Opt.Seed}
		for _, u := range all {
			u.stairs, u.loads = load.NewStairs(u.first), nil
		}
		if err := inTurns(ctx, all, harness.Pick[int](&v.s.Opt, capacityLoads, 8), true,
			func(u *underTest, turn int) load.Loop { return c.Loop(u.stairs.Rate(), turn) },
			func(u *underTest, d *load.Delays) { u.stairs.Add(d) }); err != nil {
			return err
		}
		var holding []*underTest
		var rates []float64
		for _, u := range all {
			ok := false
			if u.rate, ok = u.stairs.Sustained(); ok {
				holding, rates = append(holding, u), append(rates, u.rate.Median)
			}
		}
		if len(rates) == 0 {
			continue
		}
		slices.Sort(rates)
		half := rates[max(len(rates)-2, 0)] / 2
		holding = slices.DeleteFunc(holding, func(u *underTest) bool { return u.rate.Median < half })
		if err := inTurns(ctx, holding, harness.Pick[int](&v.s.Opt, delayLoads, 1), false,
			func(u *underTest, turn int) load.Loop { return c.Loop(half, turn) },
			func(u *underTest, d *load.Delays) { u.loads = append(u.loads, d) }); err != nil {
			return err
		}
		v.putCapacity(deadline, all, half)
		for _, u := range all {
			v.s.Logf("%s, %s: %s queries/s", v.panel(deadline), u, measure.Number(u.rate.Median))
		}
		v.s.Logf("%s: %.1f s", v.panel(deadline), time.Since(began).Seconds())
	}
	return nil
}

// putCapacity records the results of systems at a deadline.
func (v *served) putCapacity(deadline time.Duration, all []*underTest, half float64) {
	better := make(map[string]measure.Summary) // the better one of the processors alone, by series
	for _, u := range all {
		put := func(series, metric, unit string, value measure.Summary, best func(a, b float64) float64) {
			row := measure.Row{Workload: v.name, Row: fmt.Sprintf("%s, deadline %d ms", u, deadline.Milliseconds()), Metric: metric, Unit: unit}
			if alone, ok := better[series]; len(u.who) == 1 && best != nil && (!ok || best(value.Median, alone.Median) == value.Median) {
				better[series] = value
			} else if ok && len(u.who) > 1 {
				row.Baseline, row.Ratio = "the better one", value.Median/alone.Median
			}
			v.s.Put(u.on(harness.Reading{Panel: v.panel(deadline), Series: series, At: u.name, Row: value.Into(row)}))
		}
		if rate, ok := u.stairs.Sustained(); ok {
			put("queries/s", "sustained", "queries/s", rate, math.Max)
		}
		put("sender late, %", "failed loads with a late sender", "%", measure.Single(100*u.stairs.Limited()), nil)
		if len(u.loads) == 0 {
			continue
		}
		put("at, queries/s", "rate of the delays", "queries/s", measure.Single(half), nil)
		for _, p := range []int{50, 99} {
			if value, ok := load.Middle(u.loads, func(d *load.Delays) (float64, bool) { return d.Percentile(p) }); ok {
				put(fmt.Sprintf("p%d, ms", p), fmt.Sprintf("p%d at equal rates", p), "ms", value, math.Min)
			}
		}
		value, _ := load.Middle(u.loads, func(d *load.Delays) (float64, bool) { return d.Behind, true })
		put("called late, ms", "p99 of calls at equal rates", "ms", value, nil)
	}
}
