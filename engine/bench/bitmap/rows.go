package bitmap

import (
	"context"
	"errors"
	"fmt"

	"heddle/cl"
	"heddle/engine/bench/chart"
	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
	"heddle/engine/plan"
)

// rowBytes lists the sizes of a row of a tile that nelson-fig-rows measures: the first is the
// paper's, the second ours.
var rowBytes = []int{8, 16, 32, 64}

// tileStrategies are the strategies whose work-groups take tiles of rows.
var tileStrategies = []plan.Strategy{plan.ROA, plan.Hybrid, plan.IdealHybrid}

func (s *bench) nelsonRows() harness.Exhibit {
	return harness.Exhibit{
		Name: "nelson-fig-rows", Title: "Speedup over ROA by bytes of a row", Source: nelson + "Figure 12",
		Says: "A row is a word of 8 bytes: COA is 25.09 %, hybrid 38.47 %, ideal hybrid 45.23 % faster than ROA on average.",
		Ours: "Algorithms 4 to 6 with other rows. The largest query of each set, 64-bit words; the result stays on the device. The key table_row of the tuning row sets the bytes of each column in a row; a work-item loads them at once. " +
			"COA has no rows. Scans anew as in Figure 12; without the scans the reduction is the greater part of the time. A row of 128 bytes and 32 pairs of columns are ideal hybrid with rows of 16 bytes.",
		Found: `With scans anew and rows of 8 bytes COA has {{one "mean, scans anew" "coa" "8"}} times the speed of ROA, hybrid {{one "mean, scans anew" "hybrid" "8"}} and ideal hybrid {{one "mean, scans anew" "ideal" "8"}} times (paper {{to (paper (rows "mean, scans anew" "coa" "8"))}}, {{to (paper (rows "mean, scans anew" "hybrid" "8"))}} and {{to (paper (rows "mean, scans anew" "ideal" "8"))}}); with rows of 16 {{one "mean, scans anew" "coa" "16"}}, {{one "mean, scans anew" "hybrid" "16"}} and {{one "mean, scans anew" "ideal" "16"}} times. ROA itself takes {{to (over (rows "time of roa" "" "16") (rows "time of roa" "" "8"))}} times as long with rows of 16 as with 8.`,
		Rows:  "bytes of a row", Chart: chart.Chart{Kind: chart.Lines, X: "bytes of a row", LogX: true, Y: "speedup"},
		Run: func(ctx context.Context) error {
			sets, err := s.sets()
			if err != nil {
				return err
			}
			for _, draw := range sets {
				set, err := draw(ctx, paperWords[0])
				if err != nil {
					return err
				}
				for _, who := range s.Contestants {
					if who.Device != nil && err == nil {
						err = s.putRows(ctx, who, set)
					}
				}
				if err = errors.Join(err, set.close()); err != nil {
					return fmt.Errorf("%s: %w", set.name, err)
				}
			}
			s.putRowMeans()
			return nil
		},
	}
}

// rowsPanel names the panel of a strategy over ROA.
func rowsPanel(strategy plan.Strategy, rescan bool) string {
	return strategy.String() + " over roa" + measure.When(rescan, ", scans anew")
}

// putRows records the speedups over ROA on a set, for each size of a row.
func (s *bench) putRows(ctx context.Context, who harness.Contestant, set *set) error {
	for _, bytes := range rowBytes {
		times, err := s.rowTimes(ctx, who, set, bytes)
		if err != nil {
			return err
		}
		for _, rescan := range []bool{true, false} {
			roa, ok := times[setup{strategy: plan.ROA, rescan: rescan}]
			for _, strategy := range []plan.Strategy{plan.COA, plan.Hybrid, plan.IdealHybrid} {
				if time, too := times[setup{strategy: strategy, rescan: rescan}]; ok && too {
					s.Put(who.On(harness.Reading{Panel: rowsPanel(strategy, rescan), Series: set.name, At: fmt.Sprint(bytes), X: float64(bytes),
						Row: measure.RatioOf(roa, time).Into(measure.Row{Workload: set.name, Metric: "speedup", Unit: "×"})}))
				}
			}
			if ok {
				s.Put(who.On(harness.Reading{Panel: "time of roa" + measure.When(rescan, ", scans anew"), Series: set.name, At: fmt.Sprint(bytes), X: float64(bytes),
					Row: roa.Into(measure.Row{Workload: set.name, Metric: "time", Unit: "µs"})}))
			}
		}
	}
	return nil
}

// rowTimes measures the strategies that decompress columns with rows of a size. All must
// count the same rows.
func (s *bench) rowTimes(ctx context.Context, who harness.Contestant, set *set, bytes int) (times map[setup]measure.Summary, err error) {
	tuning := who.Device.Tuning()
	tuning.TableRow = bytes
	b, err := cl.Open(ctx, who.Device, cl.Options{Tuning: &tuning, SkipSelfTest: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	st, err := b.LoadTable(ctx, set.table)
	if errors.Is(err, plan.ErrUnsupported) {
		s.Logf("%s on %s left out: %v", set.name, who, err)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	times = make(map[setup]measure.Summary)
	rows, count := new(plan.Rows), uint32(0)
	for i, strategy := range append([]plan.Strategy{plan.COA}, tileStrategies...) {
		for _, rescan := range []bool{true, false} {
			q := set.query(mostBins)
			q.Strategy, q.Rescan, q.Output = strategy, rescan, plan.OutputResident
			if times[setup{strategy: strategy, rescan: rescan}], err = s.Timed(func() error { return st.Select(ctx, q, rows) }); err != nil {
				return nil, fmt.Errorf("%v with rows of %d bytes: %w", strategy, bytes, err)
			}
			if i == 0 {
				count = rows.Counts[0]
			} else if rows.Counts[0] != count {
				return nil, fmt.Errorf("%v with rows of %d bytes counts %d rows, coa %d", strategy, bytes, rows.Counts[0], count)
			}
		}
	}
	return times, nil
}

// putRowMeans records the means over the sets, for each size of a row.
func (s *bench) putRowMeans() {
	paper := map[plan.Strategy]float64{plan.COA: 1.2509, plan.Hybrid: 1.3847, plan.IdealHybrid: 1.4523}
	for _, rescan := range []bool{true, false} {
		for _, bytes := range rowBytes {
			for _, strategy := range []plan.Strategy{plan.COA, plan.Hybrid, plan.IdealHybrid} {
				var values []float64
				for _, r := range s.Measured() {
					if r.Panel == rowsPanel(strategy, rescan) && r.At == fmt.Sprint(bytes) {
						values = append(values, r.Median)
					}
				}
				if len(values) == 0 {
					continue
				}
				r := harness.Reading{Panel: "mean" + measure.When(rescan, ", scans anew"), Series: strategy.String(), At: fmt.Sprint(bytes), X: float64(bytes),
					Row: measure.Single(measure.Mean(values)).Into(measure.Row{Workload: "all", Metric: "mean speedup", Unit: "×"})}
				if rescan && bytes == rowBytes[0] {
					r.Paper = paper[strategy]
				}
				s.Put(r)
			}
		}
	}
}
