package bitmap

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"heddle/engine/bench/chart"
	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
	"heddle/engine/plan"
)

const nelson = "Nelson et al. 2020, "

// versus records the speedups of the device's strategies over a CPU strategy.
func (s *bench) versus(ctx context.Context, host plan.Strategy, onlyAll bool) error {
	costs, err := s.allCosts(ctx)
	if err != nil {
		return err
	}
	for _, base := range costs {
		u := base.setup
		if base.peer != "" || base.who.Name != "host" || u.strategy != host || u.bins != mostBins || u.word != 64 ||
			u.output != plan.OutputCounts || onlyAll && u.threads != s.Opt.Threads {
			continue
		}
		for _, c := range s.deviceCosts(u.set) {
			r := harness.Reading{Panel: u.set, Series: fmt.Sprintf("%d thread%s", u.threads, measure.When(u.threads > 1, "s")), At: c.name(),
				Row: measure.RatioOf(base.time, c.time).Into(measure.Row{Workload: fmt.Sprintf("%s, %d bins", u.set, u.bins), Metric: "speedup", Unit: "×"})}
			if onlyAll {
				r.Panel, r.Series, r.At = "over "+host.String(), c.name(), u.set
			}
			r.Row.Row = fmt.Sprintf("opencl: %s over host: %s, %d threads", c.name(), host, u.threads)
			s.Put(c.who.On(r))
		}
	}
	return nil
}

// putMeans records the means of the readings of the paper's strategies, for each key,
// beside the paper's means.
func (s *bench) putMeans(key func(r harness.Reading) string, paper map[string]float64) {
	of := slices.DeleteFunc(slices.Clone(s.Measured()), func(r harness.Reading) bool {
		return r.At == plan.Fused.String() || r.Series == plan.Fused.String()
	})
	for _, k := range harness.Distinct(of, key) {
		var speedups []float64
		sum := 0.0
		for _, r := range of {
			if key(r) == k {
				speedups, sum = append(speedups, r.Median), sum+r.Median
			}
		}
		of := measure.Summarize(speedups)
		of.Median = sum / float64(len(speedups))
		r := harness.Reading{Panel: "means of the paper's strategies", Series: "mean", At: k, Paper: paper[k],
			Row: of.Into(measure.Row{Workload: "all", Metric: "speedup", Unit: "×"})}
		s.Put(r)
	}
}

// deviceCosts returns the costs of the device's strategies on a set as in the paper,
// and of fused: the largest query with the result on the device.
func (s *bench) deviceCosts(set string) (all []*cost) {
	for _, c := range s.costs {
		u := c.setup
		if c.peer == "" && c.who.Name == "opencl" && u.set == set && u.bins == mostBins && u.word == 64 &&
			u.output == plan.OutputResident && (u.rescan || u.strategy == plan.Fused) {
			all = append(all, c)
		}
	}
	return all
}

const paperWay = "64-bit words, the scans of the paper computed with every query, the result on the device; fused beside. "

func (s *bench) nelsonFigure8() harness.Exhibit {
	return s.over(plan.Iterative, map[string]float64{"kdd": 1.45, "zipf skew 0": 17.36, "zipf skew 1": 18.76, "zipf skew 2": 17.72}, harness.Exhibit{
		Name: "nelson-fig8", Title: "Speedup over the iterative CPU method", Source: nelson + "Figure 8",
		Says: "14.50× on average, at most 54.14×; 1.45× for KDD, 17.36×, 18.76× and 17.72× for Zipf of skew 0, 1 and 2.",
		Ours: paperWay + "The CPU is this machine's, in pure Go.",
	})
}

func (s *bench) nelsonFigure9() harness.Exhibit {
	return s.over(plan.Reduction, map[string]float64{"kdd": 7.03, "zipf skew 0": 7.57, "zipf skew 1": 9.46, "zipf skew 2": 9.11}, harness.Exhibit{
		Name: "nelson-fig9", Title: "Speedup over the reduction on the CPU", Source: nelson + "Figure 9",
		Says: "8.50× on average, at most 26.01×; 7.03× for KDD, 7.57×, 9.46× and 9.11× for Zipf.",
		Ours: paperWay,
	})
}

// over completes an exhibit of the speedups over a CPU strategy, with the paper's means.
func (s *bench) over(host plan.Strategy, means map[string]float64, e harness.Exhibit) harness.Exhibit {
	e.Rows, e.Chart = "strategy", chart.Chart{Kind: chart.Bars, Y: "speedup", LogY: true}
	e.Run = func(ctx context.Context) error {
		if err := s.versus(ctx, host, false); err != nil {
			return err
		}
		s.putMeans(harness.ByPanel, means)
		return nil
	}
	return e
}

func (s *bench) nelsonFigure10() harness.Exhibit {
	return harness.Exhibit{
		Name: "nelson-fig10", Title: "Reduction over iterative on the CPU, all cores", Source: nelson + "Figure 10",
		Says: "2.18× on average, at most 3.77×; 0.44× for KDD.",
		Rows: "set", Chart: chart.Chart{Kind: chart.Bars, X: "set", Y: "speedup", LogY: true},
		Run: func(ctx context.Context) error {
			return s.each(ctx, func(c *cost) (harness.Reading, bool) {
				if c.peer != "" || c.who.Name != "host" || c.strategy != plan.Reduction || !s.counted(c) {
					return harness.Reading{}, false
				}
				u := c.setup
				u.strategy = plan.Iterative
				base := s.find("host", u)
				if base == nil {
					return harness.Reading{}, false
				}
				return harness.Reading{Panel: "all sets", Series: "reduction", At: c.set, Paper: map[string]float64{"kdd": 0.44}[c.set], Row: measure.RatioOf(base.time, c.time).Into(measure.Row{Metric: "speedup", Unit: "×"})}, true
			})
		},
	}
}

// counted selects costs of the largest query with 64-bit words on all threads, counts
// only.
func (s *bench) counted(c *cost) bool {
	return c.bins == mostBins && c.word == 64 && c.output == plan.OutputCounts && c.threads == s.Opt.Threads
}

func (s *bench) nelsonFigure11() harness.Exhibit {
	return harness.Exhibit{
		Name: "nelson-fig11", Title: "Speedup over the CPU with all cores", Source: nelson + "Figure 11",
		Says: "Over iterative with 16 cores 4.97× on average, 5.69× for ideal hybrid; over the reduction 2.16×. KDD is not faster on the GPU than iterative.",
		Ours: paperWay,
		Rows: "set", Chart: chart.Chart{Kind: chart.Bars, Y: "speedup", LogY: true},
		Run: func(ctx context.Context) error {
			for _, host := range []plan.Strategy{plan.Iterative, plan.Reduction} {
				if err := s.versus(ctx, host, true); err != nil {
					return err
				}
			}
			s.putMeans(harness.ByPanel, map[string]float64{"over iterative": 4.97, "over reduction": 2.16})
			return nil
		},
	}
}

func (s *bench) nelsonFigure12() harness.Exhibit {
	return harness.Exhibit{
		Name: "nelson-fig12", Title: "Speedup over ROA", Source: nelson + "Figure 12",
		Says: "COA 25.09 %, hybrid 38.47 %, ideal hybrid 45.23 % faster than ROA on average.",
		Ours: paperWay,
		Rows: "set", Chart: chart.Chart{Kind: chart.Bars, Y: "speedup", LogY: true},
		Run: func(ctx context.Context) error {
			err := s.each(ctx, func(c *cost) (harness.Reading, bool) {
				if !slices.Contains(s.deviceCosts(c.set), c) || c.strategy == plan.ROA {
					return harness.Reading{}, false
				}
				u := c.setup
				u.strategy, u.rescan = plan.ROA, true
				base := s.find("opencl", u)
				if base == nil {
					return harness.Reading{}, false
				}
				return harness.Reading{Panel: "all sets", Series: c.name(), At: c.set, Row: measure.RatioOf(base.time, c.time).Into(measure.Row{Metric: "speedup", Unit: "×"})}, true
			})
			if err != nil {
				return err
			}
			s.putMeans(harness.BySeries, map[string]float64{"coa, scans anew": 1.2509, "hybrid, scans anew": 1.3847, "ideal, scans anew": 1.4523})
			return nil
		},
	}
}

func (s *bench) nelsonFigure13() harness.Exhibit {
	return harness.Exhibit{
		Name: "nelson-fig13", Title: "Time over the number of bins", Source: nelson + "Figure 13",
		Says: "Ideal hybrid grows little with the bins, the CPU methods more.",
		Ours: "64-bit words, all cores, counts.",
		Rows: "bins", Chart: chart.Chart{Kind: chart.Lines, X: "bins", LogX: true, LogY: true},
		Run: func(ctx context.Context) error {
			return s.each(ctx, func(c *cost) (harness.Reading, bool) {
				if c.peer != "" || c.word != 64 || c.output != plan.OutputCounts || c.threads != s.Opt.Threads || c.strategy == plan.StrategyAuto {
					return harness.Reading{}, false
				}
				return harness.Reading{Panel: c.set, Series: c.who.Name + ": " + c.name(), At: fmt.Sprint(c.bins), X: float64(c.bins),
					Row: c.time.Into(measure.Row{Metric: "time", Unit: "µs", Bytes: c.bytes})}, true
			})
		},
	}
}

func (s *bench) nelsonFigure14() harness.Exhibit {
	return harness.Exhibit{
		Name: "nelson-fig14", Title: "Speedup over the CPU by compression", Source: nelson + "Figure 14",
		Says: "The speedup over iterative grows with the compression ratio; over the reduction it varies less.",
		Ours: paperWay + "All cores. The ratio is compressed over plain size.",
		Rows: "ratio", Chart: chart.Chart{Kind: chart.Lines, X: "compressed / plain", LogX: true, Tens: true, Y: "speedup", LogY: true},
		Run: func(ctx context.Context) error {
			costs, err := s.allCosts(ctx)
			if err != nil {
				return err
			}
			costs = slices.Clone(costs)
			slices.SortStableFunc(costs, func(a, b *cost) int { return cmp.Compare(a.ratio, b.ratio) })
			for _, host := range []plan.Strategy{plan.Iterative, plan.Reduction} {
				for _, c := range costs {
					if !slices.Contains(s.deviceCosts(c.set), c) {
						continue
					}
					u := c.setup
					u.strategy, u.rescan, u.output, u.threads = host, false, plan.OutputCounts, s.Opt.Threads
					base := s.find("host", u)
					if base == nil {
						continue
					}
					r := harness.Reading{Panel: "over " + host.String(), Series: c.name(), At: fmt.Sprintf("%.3g (%s)", c.ratio, c.set), X: c.ratio,
						Row: measure.RatioOf(base.time, c.time).Into(measure.Row{Workload: c.set, Metric: "speedup", Unit: "×"})}
					s.Put(c.who.On(r))
				}
			}
			return nil
		},
	}
}

func (s *bench) nelsonTable2() harness.Exhibit {
	return harness.Exhibit{
		Name: "nelson-table2", Title: "Which strategy suits which query", Source: nelson + "Table 2",
		Says: "COA for point queries, ideal hybrid for ranges of at most 1024 columns, ROA for 1025 to 2048, hybrid for more.",
		Ours: fmt.Sprintf("Queries of 2 to 4096 columns of %d rows, one bin in a hundred rows each; scans come from the load of the table, the result stays on the device.", wideRows),
		Rows: "columns",
		Run:  s.runWide,
	}
}
