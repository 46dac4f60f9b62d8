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

const paperWay = "64-bit words; the scans of the paper are computed with every query; our strategy fused stands beside the paper's. The compressed vectors are on the device before, and the result stays there. " +
	"Tiles have 256 work-items, the paper's 1,024, and a row of a tile has 16 bytes, the paper's a word of 8. Times are medians, the paper's means of five. The data sets linkage and BPA are not available; our data sets flights and runs count in the means, our strategy fused does not. "

func (s *bench) nelsonFigure8() harness.Exhibit {
	return s.over(plan.Iterative, map[string]float64{"kdd": 1.45, "zipf skew 0": 17.36, "zipf skew 1": 18.76, "zipf skew 2": 17.72}, paperSummary{14.50, 54.14, 96.2}, harness.Exhibit{
		Name: "nelson-fig8", Title: "Speedup over the iterative CPU method", Source: nelson + "Figure 8",
		Found: `{{one "summary" "mean" "all"}} times on average, {{to (ours (rows "summary" "mean" "all"))}} times the paper's figure, at most {{one "summary" "maximum" "all"}}, faster in {{one "summary" "faster, %" "all"}} % of the tests; {{one "summary" "mean" "kdd"}} times for KDD.`,
		Says:  "14.50× on average, at most 54.14×, faster in 96.2 % of the tests; 1.45× for KDD, 17.36×, 18.76× and 17.72× for Zipf of skew 0, 1 and 2.",
		Ours:  paperWay + "The CPU is this machine's, in pure Go.",
	})
}

func (s *bench) nelsonFigure9() harness.Exhibit {
	return s.over(plan.Reduction, map[string]float64{"kdd": 7.03, "zipf skew 0": 7.57, "zipf skew 1": 9.46, "zipf skew 2": 9.11}, paperSummary{8.50, 26.01, 100}, harness.Exhibit{
		Name: "nelson-fig9", Title: "Speedup over the reduction on the CPU", Source: nelson + "Figure 9",
		Found: `{{one "summary" "mean" "all"}} times on average, {{to (ours (rows "summary" "mean" "all"))}} times the paper's figure, at most {{one "summary" "maximum" "all"}}, faster in {{one "summary" "faster, %" "all"}} % of the tests; {{one "summary" "mean" "kdd"}} times for KDD. Over both CPU methods {{one "summary" "mean" "over both CPU methods"}} times.`,
		Says:  "8.50× on average, at most 26.01×, faster in all tests; 7.03× for KDD, 7.57×, 9.46× and 9.11× for Zipf. Over both CPU methods, of Figures 8 and 9: 11.5× on average, faster in 98.8 % of the tests.",
		Ours:  paperWay,
	})
}

// over completes an exhibit of the speedups over a CPU strategy with the paper's means, by
// set and of all.
func (s *bench) over(host plan.Strategy, sets map[string]float64, all paperSummary, e harness.Exhibit) harness.Exhibit {
	e.Rows, e.Chart = "strategy", chart.Chart{Kind: chart.Bars, Y: "speedup", LogY: true}
	e.Run = func(ctx context.Context) error {
		if err := s.versus(ctx, host, false); err != nil {
			return err
		}
		s.putMeans(harness.ByPanel, sets)
		s.putSummary("all", s.speedups(host, false), all)
		if host == plan.Reduction {
			both := append(s.speedups(plan.Iterative, false), s.speedups(host, false)...)
			s.putSummary("over both CPU methods", both, paperSummary{11.5, 54.14, 98.8})
		}
		return nil
	}
	return e
}

func (s *bench) nelsonFigure10() harness.Exhibit {
	return harness.Exhibit{
		Name: "nelson-fig10", Title: "Reduction over iterative on the CPU, all cores", Source: nelson + "Figure 10",
		Found: `{{one "summary" "mean" "all"}} times on average, at most {{one "summary" "maximum" "all"}}; {{one "all sets" "" "kdd"}} times for KDD.`,
		Says:  "2.18× on average, at most 3.77×; 0.44× for KDD.",
		Ours:  "Counts, 64-bit words, medians. Flights and runs, which are ours, count in the mean in place of linkage and BPA.",
		Rows:  "set", Chart: chart.Chart{Kind: chart.Bars, X: "set", Y: "speedup", LogY: true},
		Run: func(ctx context.Context) error {
			var values []float64
			err := s.each(ctx, paperWords, func(c *cost) (harness.Reading, bool) {
				if c.peer != "" || c.who.Name != "host" || c.strategy != plan.Reduction || !s.counted(c) {
					return harness.Reading{}, false
				}
				u := c.setup
				u.strategy = plan.Iterative
				base := s.find("host", u)
				if base == nil {
					return harness.Reading{}, false
				}
				ratio := measure.RatioOf(base.time, c.time)
				values = append(values, ratio.Median)
				return harness.Reading{Panel: "all sets", Series: "reduction", At: c.set, Paper: map[string]float64{"kdd": 0.44}[c.set], Row: ratio.Into(measure.Row{Metric: "speedup", Unit: "×"})}, true
			})
			s.putFigures("all", values, 2.18, 3.77)
			return err
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
		Found: `{{one "summary" "" "over iterative"}} times iterative and {{one "summary" "" "over reduction"}} times the reduction, {{to (ours (rows "summary" "" "over iterative"))}} and {{to (ours (rows "summary" "" "over reduction"))}} times the paper's figures; ideal hybrid {{one "summary" "" "ideal hybrid over both"}} times both. Over all CPU methods on all threads fused is {{to (rows "over *" "fused" "")}} times as fast.`,
		Says:  "Over iterative with 16 cores 4.97× on average, 5.69× for ideal hybrid; over the reduction 2.16×; ideal hybrid 4.0× over both. Of the GPU methods only ideal hybrid is not slower than iterative for KDD, 1.002×.",
		Ours:  paperWay,
		Rows:  "set", Chart: chart.Chart{Kind: chart.Bars, Y: "speedup", LogY: true},
		Run: func(ctx context.Context) error {
			for _, host := range []plan.Strategy{plan.Iterative, plan.Reduction} {
				if err := s.versus(ctx, host, true); err != nil {
					return err
				}
			}
			s.putMeans(harness.ByPanel, map[string]float64{"over iterative": 4.97, "over reduction": 2.16})
			var ideal []float64
			for _, host := range []plan.Strategy{plan.Iterative, plan.Reduction} {
				for _, x := range s.speedups(host, true) {
					if x.device.strategy == plan.IdealHybrid {
						ideal = append(ideal, x.ratio().Median)
					}
				}
				if host == plan.Iterative {
					s.putFigures("ideal hybrid over iterative", ideal, 5.69, 0)
				}
			}
			s.putFigures("ideal hybrid over both", ideal, 4.0, 0)
			return nil
		},
	}
}

func (s *bench) nelsonFigure12() harness.Exhibit {
	return harness.Exhibit{
		Name: "nelson-fig12", Title: "Speedup over ROA", Source: nelson + "Figure 12",
		Found: `COA has {{one "summary" "" "coa*"}} times the speed of ROA, hybrid {{one "summary" "" "hybrid*"}} and ideal hybrid {{one "summary" "" "ideal*"}} times.`,
		Says:  "COA 25.09 %, hybrid 38.47 %, ideal hybrid 45.23 % faster than ROA on average.",
		Ours:  paperWay,
		Rows:  "set", Chart: chart.Chart{Kind: chart.Bars, Y: "speedup", LogY: true},
		Run: func(ctx context.Context) error {
			err := s.each(ctx, paperWords, func(c *cost) (harness.Reading, bool) {
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
		Found: `From 4 to 64 bins the time of ideal hybrid with scans anew grows {{to (over (rows "" "opencl: ideal, scans anew" "64") (rows "" "opencl: ideal, scans anew" "4"))}} times, of iterative {{to (over (rows "" "host: iterative" "64") (rows "" "host: iterative" "4"))}} and of the reduction {{to (over (rows "" "host: reduction" "64") (rows "" "host: reduction" "4"))}} times. Ideal hybrid is {{one "summary" "" "*over iterative"}} times as fast as iterative on average, and {{one "summary" "" "*over reduction"}} times as fast as the reduction.`,
		Says:  "Ideal hybrid grows little with the bins, the CPU methods more. It is 6.44× as fast as iterative on average, 3.06× as the reduction.",
		Ours:  "64-bit words, all cores, counts, which devices send to the host; medians. The summary compares ideal hybrid with scans anew, for all sets and numbers of bins.",
		Rows:  "bins", Chart: chart.Chart{Kind: chart.Lines, X: "bins", LogX: true, LogY: true},
		Run: func(ctx context.Context) error {
			err := s.each(ctx, paperWords, func(c *cost) (harness.Reading, bool) {
				if c.peer != "" || c.word != 64 || c.output != plan.OutputCounts || c.threads != s.Opt.Threads || c.strategy == plan.StrategyAuto {
					return harness.Reading{}, false
				}
				return harness.Reading{Panel: c.set, Series: c.who.Name + ": " + c.name(), At: fmt.Sprint(c.bins), X: float64(c.bins),
					Row: c.time.Into(measure.Row{Metric: "time", Unit: "µs", Bytes: c.bytes})}, true
			})
			s.putFigures("ideal hybrid over iterative", s.idealOver(plan.Iterative), 6.44, 0)
			s.putFigures("ideal hybrid over reduction", s.idealOver(plan.Reduction), 3.06, 0)
			return err
		},
	}
}

// idealOver returns the speedups of ideal hybrid over a CPU strategy on all threads, for all
// numbers of bins.
func (s *bench) idealOver(host plan.Strategy) (all []float64) {
	for _, c := range s.costs {
		u := c.setup
		if c.peer != "" || c.who.Name != "opencl" || u.word != 64 || u.output != plan.OutputCounts || u.strategy != plan.IdealHybrid || !u.rescan {
			continue
		}
		u.strategy, u.rescan = host, false
		if base := s.find("host", u); base != nil {
			all = append(all, speedup{base, c}.ratio().Median)
		}
	}
	return all
}

func (s *bench) nelsonFigure14() harness.Exhibit {
	return harness.Exhibit{
		Name: "nelson-fig14", Title: "Speedup over the CPU by compression", Source: nelson + "Figure 14",
		Found: `Ideal hybrid is {{to (rows "over iterative" "ideal*" "")}} times as fast as iterative, most at a ratio of {{places (highest "series" (rows "over iterative" "ideal*" ""))}}, and {{to (rows "over reduction" "ideal*" "")}} times as fast as the reduction, most at {{places (highest "series" (rows "over reduction" "ideal*" ""))}}.`,
		Says:  "The speedup over iterative grows with the compression ratio; over the reduction it varies less.",
		Ours:  paperWay + "All cores. The ratio is compressed over plain size.",
		Rows:  "ratio", Chart: chart.Chart{Kind: chart.Lines, X: "compressed / plain", LogX: true, Tens: true, Y: "speedup", LogY: true},
		Run: func(ctx context.Context) error {
			costs, err := s.allCosts(ctx, paperWords)
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
		Found: `Fastest of the paper's strategies by the number of columns: {{choices (lowest "places" (rows "" "*scans anew" ""))}}; of all, with scans from the load: {{choices (lowest "places" (rows "" "fused|coa|roa|hybrid|ideal" ""))}}.`,
		Says:  "COA for point queries, ideal hybrid for ranges of at most 1024 columns, ROA for 1025 to 2048, hybrid for more.",
		Ours: fmt.Sprintf("Queries of 2 to 4096 columns of %d rows, one bin in a hundred rows each; scans from the load of the table, and anew with every query as in the paper; the result stays on the device. "+
			"A tile of ideal hybrid spans all columns: the paper's work-items have two each, so that it ends at 1,024 columns. Our work-items OR all columns of a tile while they load them, at most 32 pairs of columns, and so go on beyond 1,024.", wideRows),
		Rows: "columns",
		Run:  s.runWide,
	}
}
