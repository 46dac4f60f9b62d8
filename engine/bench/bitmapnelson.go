package bench

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"heddle/engine/plan"
)

const nelson = "Nelson et al. 2020, "

// versus puts how much faster the strategies of devices are than one of CPUs.
func (s *session) versus(ctx context.Context, host plan.Strategy, onlyAll bool) error {
	costs, err := s.bitmapCosts(ctx)
	if err != nil {
		return err
	}
	for _, base := range costs {
		u := base.bitmapSetup
		if base.peer != "" || base.who.name != "host" || u.strategy != host || u.bins != mostBins || u.word != 64 ||
			u.output != plan.OutputCounts || onlyAll && u.threads != s.opt.Threads {
			continue
		}
		for _, c := range s.deviceCosts(u.set) {
			r := reading{panel: u.set, series: fmt.Sprintf("%d thread%s", u.threads, known(u.threads > 1, "s")), at: c.name(),
				Row: ratioOf(base.time, c.time).into(Row{Workload: fmt.Sprintf("%s, %d bins", u.set, u.bins), Metric: "speedup", Unit: "×"})}
			if onlyAll {
				r.panel, r.series, r.at = "over "+host.String(), c.name(), u.set
			}
			r.Row.Row = fmt.Sprintf("opencl: %s over host: %s, %d threads", c.name(), host, u.threads)
			if err := s.put(c.who.on(r)); err != nil {
				return err
			}
		}
	}
	return nil
}

// putMeans puts the means of what the exhibit at hand has of the paper's strategies, for
// each key, beside what the paper's text has.
func (s *session) putMeans(key func(r reading) string, paper map[string]float64) error {
	of := slices.DeleteFunc(slices.Clone(s.readings[s.now.name]), func(r reading) bool {
		return r.at == plan.Fused.String() || r.series == plan.Fused.String()
	})
	for _, k := range distinct(of, key) {
		var speedups []float64
		sum := 0.0
		for _, r := range of {
			if key(r) == k {
				speedups, sum = append(speedups, r.Median), sum+r.Median
			}
		}
		of := summarize(speedups)
		of.Median = sum / float64(len(speedups))
		r := reading{panel: "means of the paper's strategies", series: "mean", at: k, paper: paper[k],
			Row: of.into(Row{Workload: "all", Metric: "speedup", Unit: "×"})}
		if err := s.put(r); err != nil {
			return err
		}
	}
	return nil
}

func byPanel(r reading) string { return r.panel }

// deviceCosts are those of the device's strategies on a set as the paper has them, and
// of fused: the largest query, the result on the device.
func (s *session) deviceCosts(set string) (all []*bitmapCost) {
	for _, c := range s.bitmaps {
		u := c.bitmapSetup
		if c.peer == "" && c.who.name == "opencl" && u.set == set && u.bins == mostBins && u.word == 64 &&
			u.output == plan.OutputResident && (u.rescan || u.strategy == plan.Fused) {
			all = append(all, c)
		}
	}
	return all
}

// ratioOf is a over b, of medians and of the extremes that are furthest apart.
func ratioOf(a, b summary) summary {
	return summary{Median: a.Median / b.Median, Min: a.Min / b.Max, Max: a.Max / b.Min, Runs: min(a.Runs, b.Runs)}
}

const paperWay = "64-bit words, the scans of the paper computed with every query, the result on the device; fused beside. "

func nelsonFigure8() exhibit {
	return exhibit{
		name: "nelson-fig8", title: "Speedup over the iterative CPU method", source: nelson + "Figure 8",
		says: "14.50× on average, at most 54.14×; 1.45× for KDD, 17.36×, 18.76× and 17.72× for Zipf of skew 0, 1 and 2.",
		ours: paperWay + "The CPU is this machine's, in pure Go.",
		rows: "strategy", chart: chart{kind: barChart, y: "speedup", logY: true},
		run: func(ctx context.Context, s *session) error {
			if err := s.versus(ctx, plan.Iterative, false); err != nil {
				return err
			}
			return s.putMeans(byPanel, map[string]float64{"kdd": 1.45, "zipf skew 0": 17.36, "zipf skew 1": 18.76, "zipf skew 2": 17.72})
		},
	}
}

func nelsonFigure9() exhibit {
	return exhibit{
		name: "nelson-fig9", title: "Speedup over the reduction on the CPU", source: nelson + "Figure 9",
		says: "8.50× on average, at most 26.01×; 7.03× for KDD, 7.57×, 9.46× and 9.11× for Zipf.",
		ours: paperWay,
		rows: "strategy", chart: chart{kind: barChart, y: "speedup", logY: true},
		run: func(ctx context.Context, s *session) error {
			if err := s.versus(ctx, plan.Reduction, false); err != nil {
				return err
			}
			return s.putMeans(byPanel, map[string]float64{"kdd": 7.03, "zipf skew 0": 7.57, "zipf skew 1": 9.46, "zipf skew 2": 9.11})
		},
	}
}

func nelsonFigure10() exhibit {
	return exhibit{
		name: "nelson-fig10", title: "Reduction over iterative on the CPU, all cores", source: nelson + "Figure 10",
		says: "2.18× on average, at most 3.77×; 0.44× for KDD.",
		rows: "set", chart: chart{kind: barChart, x: "set", y: "speedup", logY: true},
		run: func(ctx context.Context, s *session) error {
			return s.each(ctx, func(c *bitmapCost) (reading, bool) {
				if c.peer != "" || c.who.name != "host" || c.strategy != plan.Reduction || !s.counted(c) {
					return reading{}, false
				}
				u := c.bitmapSetup
				u.strategy = plan.Iterative
				base := s.find("host", u)
				if base == nil {
					return reading{}, false
				}
				return reading{panel: "all sets", series: "reduction", at: c.set, paper: map[string]float64{"kdd": 0.44}[c.set], Row: ratioOf(base.time, c.time).into(Row{Metric: "speedup", Unit: "×"})}, true
			})
		},
	}
}

// counted tells costs of the largest query of 64-bit words on all threads, counts only.
func (s *session) counted(c *bitmapCost) bool {
	return c.bins == mostBins && c.word == 64 && c.output == plan.OutputCounts && c.threads == s.opt.Threads
}

func nelsonFigure11() exhibit {
	return exhibit{
		name: "nelson-fig11", title: "Speedup over the CPU with all cores", source: nelson + "Figure 11",
		says: "Over iterative with 16 cores 4.97× on average, 5.69× for ideal hybrid; over the reduction 2.16×. KDD is not faster on the GPU than iterative.",
		ours: paperWay,
		rows: "set", chart: chart{kind: barChart, y: "speedup", logY: true},
		run: func(ctx context.Context, s *session) error {
			for _, host := range []plan.Strategy{plan.Iterative, plan.Reduction} {
				if err := s.versus(ctx, host, true); err != nil {
					return err
				}
			}
			return s.putMeans(byPanel, map[string]float64{"over iterative": 4.97, "over reduction": 2.16})
		},
	}
}

func nelsonFigure12() exhibit {
	return exhibit{
		name: "nelson-fig12", title: "Speedup over ROA", source: nelson + "Figure 12",
		says: "COA 25.09 %, hybrid 38.47 %, ideal hybrid 45.23 % faster than ROA on average.",
		ours: paperWay,
		rows: "set", chart: chart{kind: barChart, y: "speedup", logY: true},
		run: func(ctx context.Context, s *session) error {
			err := s.each(ctx, func(c *bitmapCost) (reading, bool) {
				if !slices.Contains(s.deviceCosts(c.set), c) || c.strategy == plan.ROA {
					return reading{}, false
				}
				u := c.bitmapSetup
				u.strategy, u.rescan = plan.ROA, true
				base := s.find("opencl", u)
				if base == nil {
					return reading{}, false
				}
				return reading{panel: "all sets", series: c.name(), at: c.set, Row: ratioOf(base.time, c.time).into(Row{Metric: "speedup", Unit: "×"})}, true
			})
			if err != nil {
				return err
			}
			return s.putMeans(bySeries, map[string]float64{"coa, scans anew": 1.2509, "hybrid, scans anew": 1.3847, "ideal, scans anew": 1.4523})
		},
	}
}

func nelsonFigure13() exhibit {
	return exhibit{
		name: "nelson-fig13", title: "Time over the number of bins", source: nelson + "Figure 13",
		says: "Ideal hybrid grows little with the bins, the CPU methods more.",
		ours: "64-bit words, all cores, counts.",
		rows: "bins", chart: chart{kind: lineChart, x: "bins", logX: true, logY: true},
		run: func(ctx context.Context, s *session) error {
			return s.each(ctx, func(c *bitmapCost) (reading, bool) {
				if c.peer != "" || c.word != 64 || c.output != plan.OutputCounts || c.threads != s.opt.Threads || c.strategy == plan.StrategyAuto {
					return reading{}, false
				}
				return reading{panel: c.set, series: c.who.name + ": " + c.name(), at: fmt.Sprint(c.bins), x: float64(c.bins),
					Row: c.time.into(Row{Metric: "time", Unit: "µs", Bytes: c.bytes})}, true
			})
		},
	}
}

func nelsonFigure14() exhibit {
	return exhibit{
		name: "nelson-fig14", title: "Speedup over the CPU by compression", source: nelson + "Figure 14",
		says: "The speedup over iterative grows with the compression ratio; over the reduction it varies less.",
		ours: paperWay + "All cores. The ratio is compressed over plain size.",
		rows: "ratio", chart: chart{kind: lineChart, x: "compressed / plain", logX: true, tens: true, y: "speedup", logY: true},
		run: func(ctx context.Context, s *session) error {
			costs, err := s.bitmapCosts(ctx)
			if err != nil {
				return err
			}
			costs = slices.Clone(costs)
			slices.SortStableFunc(costs, func(a, b *bitmapCost) int { return cmp.Compare(a.ratio, b.ratio) })
			for _, host := range []plan.Strategy{plan.Iterative, plan.Reduction} {
				for _, c := range costs {
					if !slices.Contains(s.deviceCosts(c.set), c) {
						continue
					}
					u := c.bitmapSetup
					u.strategy, u.rescan, u.output, u.threads = host, false, plan.OutputCounts, s.opt.Threads
					base := s.find("host", u)
					if base == nil {
						continue
					}
					r := reading{panel: "over " + host.String(), series: c.name(), at: fmt.Sprintf("%.3g (%s)", c.ratio, c.set), x: c.ratio,
						Row: ratioOf(base.time, c.time).into(Row{Workload: c.set, Metric: "speedup", Unit: "×"})}
					if err := s.put(c.who.on(r)); err != nil {
						return err
					}
				}
			}
			return nil
		},
	}
}

func nelsonTable2() exhibit {
	return exhibit{
		name: "nelson-table2", title: "Which strategy suits which query", source: nelson + "Table 2",
		says: "COA for point queries, ideal hybrid for ranges of at most 1024 columns, ROA for 1025 to 2048, hybrid for more.",
		ours: fmt.Sprintf("Queries of 2 to 4096 columns of %d rows, one bin in a hundred rows each; scans are those of load, the result stays on the device.", wideRows),
		rows: "columns",
		run:  runWide,
	}
}
