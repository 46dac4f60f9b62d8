package schedule

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"time"

	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
	"heddle/engine/bench/workload"
	"heddle/engine/internal/schedule"
	"heddle/engine/observe"
)

// predicted holds the times of single queries on a system with one processor, and the
// errors of their predictions.
type predicted struct {
	took []float64 // ms of each query: the median of all passes
	// |estimate - time| / time in %, by pass: mean, median, and the mean for an
	// estimate that knows the median time of each query.
	mean, middle, noise measure.Summary
}

// mostPredicted is the largest number of predicted queries, as in Ding et al. Engines
// learn from at most three times as many other queries.
const mostPredicted = 1000

// tested is the number of predicted queries, the last ones: at most a quarter.
func (v *served) tested() int { return min(mostPredicted, (len(v.queries)+3)/4) }

// learnt is the number of queries, the first ones, from which engines learn.
func (v *served) learnt() int { return min(3*mostPredicted, max(len(v.queries)-v.tested(), 1)) }

// predict compares the engine's predictions for single queries with their times.
func (v *served) predict(ctx context.Context, y system) (*predicted, error) {
	if p := v.alone[y.name]; p != nil {
		return p, nil
	}
	p := &predicted{took: make([]float64, v.tested())}
	err := v.with(ctx, y, func(e *machine) error {
		first := len(v.queries) - len(p.took)
		ask := func(i int) (q observe.Explanation, err error) {
			got, err := v.ask(ctx, e, i, call{mode: schedule.Async, explain: &q})
			if err == nil && got != v.right[i] {
				err = fmt.Errorf("the answer to query %d is not that of before", i)
			}
			return q, err
		}
		passes := make([][]float64, v.s.Opt.Runs) // ms of each query
		var mean, middle, noise []float64
		for pass := range passes {
			var estimates []float64
			for i := range p.took {
				t, err := ask(first + i)
				if err != nil {
					return err
				}
				took := t.Ran.Seconds() * 1e3
				passes[pass] = append(passes[pass], took)
				estimates = append(estimates, t.Estimate.Seconds()*1e3)
			}
			average, median := relativeErrors(estimates, passes[pass])
			mean, middle = append(mean, average), append(middle, median)
		}
		p.took = medians(passes)
		for _, took := range passes {
			average, _ := relativeErrors(p.took, took)
			noise = append(noise, average)
		}
		p.mean, p.middle, p.noise = measure.Summarize(mean), measure.Summarize(middle), measure.Summarize(noise)
		return nil
	})
	v.alone[y.name] = p
	return p, err
}

// medians returns the median time of each query over all passes.
func medians(passes [][]float64) []float64 {
	all := make([]float64, len(passes[0]))
	for i := range all {
		var times []float64
		for _, took := range passes {
			times = append(times, took[i])
		}
		all[i] = measure.Summarize(times).Median
	}
	return all
}

// spaced returns the times of the predicted queries on a system in ms, each after a pause.
func (v *served) spaced(ctx context.Context, y system, pauses []float64) (took []float64, err error) {
	err = v.with(ctx, y, func(e *machine) error {
		first, passes := len(v.queries)-len(pauses), make([][]float64, v.s.Opt.Runs)
		for pass := range passes {
			for i, ms := range pauses {
				for began := time.Now(); measure.Milliseconds(time.Since(began)) < ms; {
					runtime.Gosched() // a sleep would take longer
				}
				var q observe.Explanation
				if _, err := v.ask(ctx, e, first+i, call{mode: schedule.Async, explain: &q}); err != nil {
					return err
				}
				passes[pass] = append(passes[pass], measure.Milliseconds(q.Ran))
			}
		}
		took = medians(passes)
		return nil
	})
	return took, err
}

// relativeErrors returns the mean and the median of |estimate - time| / time, in %.
func relativeErrors(estimates, times []float64) (mean, median float64) {
	var all []float64
	for i, t := range times {
		e := 100 * math.Abs(estimates[i]-t) / t
		mean += e / float64(len(times))
		all = append(all, e)
	}
	return mean, measure.Summarize(all).Median
}

func (s *bench) predictionExhibit() harness.Exhibit {
	return harness.Exhibit{
		Name: "prediction", Title: "Predicted times of single queries", Source: "Ding et al. 2009, §9",
		Says:  "The mean relative error is 22 % of GPU times and 20 % of CPU times, by M5 rules on the lengths of the shortest and second shortest list, their sum and the number of terms, learnt from 3,000 queries.",
		Ours:  "In place of M5 rules, which are trees of linear models: a linear regression of the time on LOS, UBOC, UBOCT (Wu et al. 2010, section V.B.6) or Ding et al.'s features, whichever fits best. Factors for each power of two of the lengths and counts of a query multiply its result. The model is fitted to at most 3,000 other queries of the same log, alone and in batches, and goes on learning. The estimates are the scheduler's own. Times are from the start of a query on its processor to its answer. Of medians: the mean error of a model that knows the median time of each query, which is the variation of times from run to run.",
		Found: `The mean error is {{to (rows "@opencl" "mean error, %" "")}} % on the device, of which {{to (rows "@opencl" "of medians, %" "")}} % would remain if the median time of each query were known; in pure Go {{to (rows "@host" "mean error, %" "gov-*")}} % for lists and {{to (rows "@host" "mean error, %" "gov2-*")}} % for ranked queries (paper {{to (paper (rows "@opencl" "mean error, %" ""))}} and {{to (paper (rows "@host" "mean error, %" ""))}} %).`,
		Rows:  "queries", Data: harness.GovOrder,
		Run: func(ctx context.Context) error {
			all, err := s.logs(ctx, workload.Modes()...)
			if err != nil {
				return err
			}
			for _, v := range all {
				for _, y := range s.systems() {
					if len(y.who) > 1 {
						continue
					}
					p, err := v.predict(ctx, y)
					if err != nil {
						return err
					}
					paper := 20.0
					if y.who[0].Info.Type == "gpu" {
						paper = 22
					}
					for _, c := range []struct {
						series string
						paper  float64
						value  measure.Summary
					}{{"mean error, %", paper, p.mean}, {"median error, %", 0, p.middle}, {"of medians, %", 0, p.noise}} {
						r := harness.Reading{Panel: "predictions on " + y.who[0].String(), Series: c.series, At: v.name, Paper: c.paper,
							Row: c.value.Into(measure.Row{Workload: v.name, Row: y.name, Metric: c.series, Unit: "%"})}
						s.Put(y.on(r))
					}
				}
			}
			return nil
		},
	}
}

func (s *bench) choiceExhibit() harness.Exhibit {
	return harness.Exhibit{
		Name: "choice", Title: "Choices of a processor for single queries",
		Ours: "An engine on both processors, with nothing else to do, against the times of the same queries on each processor alone, the median of several runs. Before, each processor answers the queries, because tables of lists that the host makes at their first use would make it slower than alone. On the device, each query comes after the pause that the device had before it in the whole system, because devices take longer after a pause. The host alone has all cores, together one in eight less. Right: queries given to the processor that is faster, of all, and weighted by the difference of the times. Lost: the additional time of wrong choices, as a share of the time of the best choices.",
		Rows: "queries", Data: harness.GovOrder,
		Run: func(ctx context.Context) error {
			systems := s.systems()
			if len(systems) != 3 {
				return nil
			}
			all, err := s.logs(ctx, workload.Modes()...)
			if err != nil {
				return err
			}
			for _, v := range all {
				if err := v.choose(ctx, systems[0], systems[1], systems[2]); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// settle brings each processor of an engine to the state that it has alone: it has answered the
// predicted queries, so that tables of their lists exist, and then twice the queries from which
// it learns.
func (v *served) settle(ctx context.Context, e *machine) error {
	tested, learnt := v.tested(), v.learnt()
	for _, p := range e.e.Processors() {
		for i := range tested + 2*learnt {
			q := len(v.queries) - 1 - i
			if i >= tested {
				q = (i - tested) % learnt
			}
			if _, err := v.ask(ctx, e, q, call{mode: schedule.Async, on: p.Name}); err != nil {
				return err
			}
		}
	}
	return nil
}

// choose compares the times of a query on both processors with the choice of an engine
// on both.
func (v *served) choose(ctx context.Context, a, b, both system) error {
	onA, err := v.predict(ctx, a)
	if err != nil {
		return err
	}
	var choices [][]bool                     // choices of A, by run
	pauses := make([]float64, len(onA.took)) // pause of B before each query in the last run, in ms
	err = v.with(ctx, both, func(e *machine) error {
		if err := v.settle(ctx, e); err != nil {
			return err
		}
		first := len(v.queries) - v.tested()
		for range v.s.Opt.Runs {
			var run []bool
			pause := 0.0
			for i := range onA.took {
				var q observe.Explanation
				if _, err := v.ask(ctx, e, first+i, call{mode: schedule.Async, explain: &q}); err != nil {
					return err
				}
				run, pauses[i] = append(run, q.Processor != b.who[0].Info.Device), pause
				if pause += measure.Milliseconds(q.Ran); !run[i] {
					pause = 0
				}
			}
			choices = append(choices, run)
		}
		return nil
	})
	if err != nil {
		return err
	}
	onB, err := v.spaced(ctx, b, pauses)
	if err != nil {
		return err
	}
	var right, weighted, lost, share []float64
	for _, run := range choices {
		var n, stake, wrong, best, toA float64
		for i, choseA := range run {
			difference := onB[i] - onA.took[i]
			best += min(onA.took[i], onB[i])
			stake += math.Abs(difference)
			if choseA {
				toA++
			}
			if choseA == (difference > 0) {
				n++
			} else {
				wrong += math.Abs(difference)
			}
		}
		count := float64(len(run))
		right, weighted = append(right, 100*n/count), append(weighted, 100*(1-wrong/stake))
		lost, share = append(lost, 100*wrong/best), append(share, 100*toA/count)
	}
	for _, c := range []struct {
		series string
		values []float64
	}{{"right, %", right}, {"right, weighted, %", weighted}, {"lost, %", lost}, {"to the host, %", share}} {
		r := harness.Reading{Panel: both.who[0].String() + " or " + both.who[1].String(), Series: c.series, At: v.name,
			Row: measure.Summarize(c.values).Into(measure.Row{Workload: v.name, Row: "both", Metric: c.series, Unit: "%"})}
		v.s.Put(r)
	}
	return nil
}
