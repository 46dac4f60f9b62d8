package bench

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"heddle/engine"
	"heddle/engine/schedule"
)

// The configurations of Ding et al., Figure 7, beside the systems.
const theBetter = "the better one, one query at a time"

// deadlines of queries: that of Ding et al., and one that leaves no room for large batches.
var deadlines = []time.Duration{500 * time.Millisecond, 10 * time.Millisecond}

// halfLoads is how many loads of half the rate there are.
const halfLoads = 3

type curveKey struct {
	system   string
	deadline time.Duration
}

// underLoad is what was measured of a system under load.
type underLoad struct {
	curve
	half []*delays // of loads of half the rate that is mostly sustained
}

// workloads are those that engines are put under load with: the workload of lists at
// hand, and top-10 queries by AND, which the figures of Ding et al. fit.
func (s *session) workloads(ctx context.Context) ([]*served, error) {
	lists, err := s.servedLists(ctx)
	if err != nil {
		return nil, err
	}
	ranked, err := s.servedRanked(ctx, engine.And)
	return []*served{lists, ranked}, err
}

// configurations are the names of what underLoad measures.
func (s *session) configurations() (names []string) {
	for _, y := range s.systems() {
		names = append(names, y.name)
		if len(y.who) > 1 {
			names = append(names, theBetter)
		}
	}
	return names
}

// underLoad measures all systems at all deadlines, once.
func (v *served) underLoad(ctx context.Context) error {
	if len(v.curves) > 0 {
		return nil
	}
	for _, y := range v.s.systems() {
		err := v.with(ctx, y, func(e *engine.Engine) error {
			rate, err := v.closed(ctx, e, schedule.Async, 1, 50, time.Second)
			if err != nil {
				return err
			}
			from := math.Exp2(math.Floor(math.Log2(rate / 4)))
			for _, deadline := range deadlines {
				if err := v.measureLoads(ctx, curveKey{y.name, deadline}, from, v.answer(e, schedule.Auto)); err != nil {
					return err
				}
				if len(y.who) > 1 {
					if err := v.measureLoads(ctx, curveKey{theBetter, deadline}, from, oneByOne(v.answer(e, schedule.Async))); err != nil {
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

// measureLoads puts rising loads to answer, then half of what it sustains.
func (v *served) measureLoads(ctx context.Context, key curveKey, from float64, answer func(ctx context.Context, i int) error) error {
	began, loads := time.Now(), 0
	c := climb{from: from, factor: pick(&v.s.opt, []float64{2}, []float64{4})[0], halvings: pick(&v.s.opt, []int{4}, []int{1})[0],
		downs:  pick(&v.s.opt, []int{3}, []int{1})[0],
		length: pick(&v.s.opt, []time.Duration{500 * time.Millisecond}, []time.Duration{30 * time.Millisecond})[0], deadline: key.deadline, seed: v.s.opt.Seed,
		report: func(d *delays) { loads++ }}
	found, err := c.run(ctx, answer)
	if err != nil {
		return err
	}
	u := &underLoad{curve: *found}
	for i := 0; i < halfLoads && u.mostly > 0; i++ {
		d, err := c.load(u.mostly/2, tries+i).run(ctx, answer)
		if err == nil {
			err = d.err
		}
		if err != nil {
			return err
		}
		u.half = append(u.half, d)
	}
	v.s.logf("%s, %s: sustains %s queries/s, mostly %s; %d loads, %.1f s", v.panel(key.deadline), key.system, number(u.sustained), number(u.mostly), loads, time.Since(began).Seconds())
	v.curves[key] = u
	return nil
}

// system finds one by its name, what runs on all of them being all of them.
func (s *session) system(name string) system {
	all := s.systems()
	for _, y := range all {
		if y.name == name {
			return y
		}
	}
	return all[len(all)-1]
}

// panel names a workload at a deadline.
func (v *served) panel(deadline time.Duration) string {
	return fmt.Sprintf("%s, deadline %d ms", v.name, deadline.Milliseconds())
}

// eachLoad measures every workload under load, and calls put for each deadline.
func (s *session) eachLoad(ctx context.Context, put func(v *served, deadline time.Duration) error) error {
	all, err := s.workloads(ctx)
	if err != nil {
		return err
	}
	for _, v := range all {
		if err := v.underLoad(ctx); err != nil {
			return err
		}
		for _, deadline := range deadlines {
			if err := put(v, deadline); err != nil {
				return err
			}
		}
	}
	return nil
}

func dingFigure7() exhibit {
	return exhibit{
		name: "ding-fig7", title: "Delay against the rate of arrivals", source: "Ding et al. 2009, Figure 7",
		says: "Using both processors in parallel is much better than everything else: it sustains beyond 300 queries/s, the CPU alone less than 100. A run has failed when a query misses its deadline of 500 ms. Simulated, from predicted and measured times of single queries on GOV2; GeForce 8800 GTS, a core of a Core 2 Duo E6750.",
		ours: "Measured, not simulated: an engine answers queries that arrive as a Poisson process, and a delay counts from the moment at which a query should have arrived to its answer in host memory. Host only and device only are engines with that processor alone, which make batches under load, as both do; the better one answers one query at a time in the whole system, on the processor that should be faster. A load also fails when answers come more slowly than queries. 65,536 queries may wait. A line ends where more than one query in a thousand misses its deadline, in each of three loads; capacity has the rates at which none does, too. Host: all cores, of which one or more also send queries; in both, from eight on, one in eight less.",
		rows: "queries/s", orders: govOrder,
		chart: chart{kind: lineChart, x: "arrivals, queries/s", y: "delay, ms", logX: true, tens: true, logY: true},
		run: func(ctx context.Context, s *session) error {
			return s.eachLoad(ctx, func(v *served, deadline time.Duration) error {
				if err := v.putDelays(deadline, "average"); err != nil {
					return err
				}
				return v.putDelays(deadline, "p99")
			})
		},
	}
}

// putDelays records one metric of the delays at a deadline, by rate.
func (v *served) putDelays(deadline time.Duration, metric string) error {
	var all []reading
	for _, name := range v.s.configurations() {
		for _, d := range v.curves[curveKey{name, deadline}].held {
			value, ok := d.mean(), true
			if metric != "average" {
				value, ok = d.percentile(99)
			}
			if !ok {
				continue
			}
			r := reading{panel: v.panel(deadline) + ", " + metric, series: name, at: number(d.rate), x: d.rate,
				Row: single(value).into(Row{Workload: v.name, Metric: metric + " delay", Unit: "ms"})}
			r.Row.Row = fmt.Sprintf("%s, deadline %d ms, %s queries/s", name, deadline.Milliseconds(), number(d.rate))
			all = append(all, v.s.system(name).on(r))
		}
	}
	slices.SortStableFunc(all, func(a, b reading) int { return cmp.Compare(a.x, b.x) })
	for _, r := range all {
		if err := v.s.put(r); err != nil {
			return err
		}
	}
	return nil
}

func capacityExhibit() exhibit {
	return exhibit{
		name: "capacity", title: "Rates that are sustained, and delays at half of them",
		ours: "Loads as in ding-fig7. All in time: the highest rate at which no query of half a second misses its deadline, in one of three loads. Mostly: one query in a thousand may. × the sum: of the rates of the processors alone. No figure: not even the least rate held, a thirty-second of what one caller gets or less. p50 and p99 are of loads of half the latter rate, the median of three; a query without an answer in time counts as later than all others. Sent late: what the p99 of the time from the arrival of a query to its call is, which delays include; it says how short of cores the senders are.",
		rows: "processors", orders: govOrder,
		run: func(ctx context.Context, s *session) error { return s.eachLoad(ctx, (*served).putCapacity) },
	}
}

// putCapacity records what is sustained at a deadline.
func (v *served) putCapacity(deadline time.Duration) error {
	type rate struct {
		series, metric string
		of             func(u *underLoad) float64
	}
	for _, name := range v.s.configurations() {
		u, y := v.curves[curveKey{name, deadline}], v.s.system(name)
		put := func(series string, row Row, value summary) error {
			r := reading{panel: v.panel(deadline), series: series, at: name, Row: value.into(row)}
			r.Workload, r.Row.Row = v.name, fmt.Sprintf("%s, deadline %d ms", name, deadline.Milliseconds())
			return v.s.put(y.on(r))
		}
		for _, rate := range []rate{
			{"all in time, queries/s", "sustained", func(u *underLoad) float64 { return u.sustained }},
			{"mostly, queries/s", "mostly sustained", func(u *underLoad) float64 { return u.mostly }},
		} {
			row, sum := Row{Metric: rate.metric, Unit: "queries/s"}, 0.0
			for _, one := range v.s.systems() {
				if len(one.who) > 1 {
					continue
				}
				alone := rate.of(v.curves[curveKey{one.name, deadline}])
				if sum += alone; alone == 0 {
					sum = math.NaN()
				}
			}
			if rate.of(u) == 0 {
				continue
			}
			if len(y.who) > 1 && !math.IsNaN(sum) {
				row.Baseline, row.Ratio = "the sum", rate.of(u)/sum
			}
			if err := put(rate.series, row, single(rate.of(u))); err != nil {
				return err
			}
		}
		for _, half := range []struct {
			series, metric string
			of             func(d *delays) (float64, bool)
		}{
			{"p50 at half, ms", "p50 at half load", func(d *delays) (float64, bool) { return d.percentile(50) }},
			{"p99 at half, ms", "p99 at half load", func(d *delays) (float64, bool) { return d.percentile(99) }},
			{"sent late, ms", "p99 of sending at half load", func(d *delays) (float64, bool) { return d.behind, true }},
		} {
			value, ok := middle(u.half, half.of)
			if !ok {
				continue
			}
			if err := put(half.series, Row{Metric: half.metric, Unit: "ms"}, value); err != nil {
				return err
			}
		}
	}
	return nil
}

// middle sums up a figure of an odd number of loads, of which those that have none are
// greater than all others; false where the median is one of them.
func middle(loads []*delays, of func(d *delays) (float64, bool)) (summary, bool) {
	var values []float64
	for _, d := range loads {
		if value, ok := of(d); ok {
			values = append(values, value)
		}
	}
	s := summarize(values)
	if len(values) <= len(loads)/2 {
		return s, false
	}
	s.Median = values[len(loads)/2]
	return s, true
}
