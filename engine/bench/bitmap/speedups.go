package bitmap

import (
	"context"
	"fmt"

	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
	"heddle/engine/plan"
)

// speedup is the time of a CPU strategy over the time of a strategy of a device, for the
// same query.
type speedup struct{ host, device *cost }

func (x speedup) ratio() measure.Summary { return measure.RatioOf(x.host.time, x.device.time) }

// speedups returns the speedups of the device's strategies over a CPU strategy for the
// largest query, on any number of threads or on all only.
func (s *bench) speedups(host plan.Strategy, onlyAll bool) (all []speedup) {
	for _, base := range s.costs {
		u := base.setup
		if base.peer != "" || base.who.Name != "host" || u.strategy != host || u.bins != mostBins || u.word != 64 ||
			u.output != plan.OutputCounts || onlyAll && u.threads != s.Opt.Threads {
			continue
		}
		for _, c := range s.deviceCosts(u.set) {
			all = append(all, speedup{base, c})
		}
	}
	return all
}

// versus records the speedups of the device's strategies over a CPU strategy.
func (s *bench) versus(ctx context.Context, host plan.Strategy, onlyAll bool) error {
	if _, err := s.allCosts(ctx, paperWords); err != nil {
		return err
	}
	for _, x := range s.speedups(host, onlyAll) {
		u, c := x.host.setup, x.device
		r := harness.Reading{Panel: u.set, Series: fmt.Sprintf("%d thread%s", u.threads, measure.When(u.threads > 1, "s")), At: c.name(),
			Row: x.ratio().Into(measure.Row{Workload: fmt.Sprintf("%s, %d bins", u.set, u.bins), Metric: "speedup", Unit: "×"})}
		if onlyAll {
			r.Panel, r.Series, r.At = "over "+host.String(), c.name(), u.set
			if u.set == "kdd" && host == plan.Iterative && c.strategy == plan.IdealHybrid {
				r.Paper = 1.002
			}
		}
		r.Row.Row = fmt.Sprintf("opencl: %s over host: %s, %d threads", c.name(), host, u.threads)
		s.Put(c.who.On(r))
	}
	return nil
}

// paperSummary has the summary figures of some speedups in the paper, 0 for none.
type paperSummary struct{ mean, maximum, faster float64 }

// putSummary records mean, maximum and share of wins of the speedups of the paper's
// strategies.
func (s *bench) putSummary(at string, all []speedup, paper paperSummary) {
	var values []float64
	wins := 0.0
	for _, x := range all {
		if x.device.strategy == plan.Fused {
			continue
		}
		v := x.ratio().Median
		values = append(values, v)
		if v > 1 {
			wins++
		}
	}
	s.putFigures(at, values, paper.mean, paper.maximum)
	if n := float64(len(values)); n > 0 && paper.faster > 0 {
		s.Put(harness.Reading{Panel: "summary", Series: "faster, %", At: at, Paper: paper.faster,
			Row: measure.Single(100 * wins / n).Into(measure.Row{Workload: "all", Metric: "share of tests in which the device is faster", Unit: "%"})})
	}
}

// putFigures records the mean of values, and the maximum if the paper has one.
func (s *bench) putFigures(at string, values []float64, mean, maximum float64) {
	if len(values) == 0 {
		return
	}
	put := func(series string, v, paper float64) {
		s.Put(harness.Reading{Panel: "summary", Series: series, At: at, Paper: paper,
			Row: measure.Single(v).Into(measure.Row{Workload: "all", Metric: series + " speedup", Unit: "×"})})
	}
	put("mean", measure.Mean(values), mean)
	if maximum > 0 {
		put("maximum", measure.Summarize(values).Max, maximum)
	}
}

// putMeans records the means of the readings of the paper's strategies, for each key,
// beside the paper's means.
func (s *bench) putMeans(key func(r harness.Reading) string, paper map[string]float64) {
	var all []harness.Reading
	for _, r := range s.Measured() {
		if r.At != plan.Fused.String() && r.Series != plan.Fused.String() {
			all = append(all, r)
		}
	}
	for _, k := range harness.Distinct(all, key) {
		var values []float64
		for _, r := range all {
			if key(r) == k {
				values = append(values, r.Median)
			}
		}
		s.putFigures(k, values, paper[k], 0)
	}
}
