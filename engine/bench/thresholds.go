package bench

import (
	"context"
	"fmt"

	"heddle/engine/plan"
)

// aoFigures5And6 are throughput and response time over thresholds, by algorithm.
func aoFigure5() exhibit {
	e := thresholdFigure("ao-fig5", "Throughput against the computational threshold, plain lists", "Ao et al. 2011, Figure 5", busy)
	e.says = "HS16 reaches 91,382 queries/s at 1 M, 60 % more than BS, and still rises at 2 M; LR lies between."
	return e
}

func aoFigure6() exhibit {
	e := thresholdFigure("ao-fig6", "Response time of a batch against the threshold, plain lists", "Ao et al. 2011, Figure 6", alone)
	e.chart.y = "response time of a batch, ms"
	e.says = "Below 128 K the response times of the algorithms cannot be told apart; then the better algorithms win by more and more."
	return e
}

// paperBS is what BS reaches where HS16 reaches paperHS16: Table 3 has both over
// the same baseline.
const paperBS = paperHS16 * 14.59 / 23.29

// sweepAlgorithms are those of Figures 5 and 6, and what Auto takes.
var sweepAlgorithms = []plan.Algorithm{plan.IS, plan.BS, plan.LR, plan.HS32, plan.HS16, plan.Auto}

func thresholdFigure(name, title, source string, what access) exhibit {
	return exhibit{
		name: name, title: title, source: source,
		ours:   "Clustered order stands for GOV. Auto is what the backend takes by itself.",
		orders: govOrder, rows: "threshold",
		chart: chart{kind: lineChart, x: "threshold, candidates a batch", logX: true, logY: true},
		run: func(ctx context.Context, s *session) error {
			for _, who := range s.contestants {
				costs, err := s.sweep(ctx, who, sweepAlgorithms, s.opt.thresholds(who.info.Type), what)
				if err != nil {
					return err
				}
				for _, c := range costs {
					r := reading{panel: s.panel(who), series: c.algorithm.String(), at: binarily(float64(c.threshold)), x: float64(c.threshold)}
					if what == busy {
						r.Row = c.rate.into(Row{Metric: "throughput", Unit: "queries/s"})
						if c.threshold == 1<<20 && s.w.Order == Clustered {
							r.paper = map[plan.Algorithm]float64{plan.HS16: paperHS16, plan.BS: paperBS}[c.algorithm]
						}
					} else {
						r.Row = c.response.into(Row{Metric: "response", Unit: "ms"})
					}
					if err := s.put(who.on(r)); err != nil {
						return err
					}
				}
			}
			return nil
		},
	}
}

// sweep measures algorithms on plain lists over thresholds.
func (s *session) sweep(ctx context.Context, who contestant, algorithms []plan.Algorithm, thresholds []uint64, wanted ...access) ([]*cost, error) {
	var setups []setup
	for _, a := range algorithms {
		for _, t := range thresholds {
			u := s.setup(who, plainly(LayoutRaw), a)
			u.threshold = t
			setups = append(setups, u)
		}
	}
	return s.measure(ctx, who, setups, wanted...)
}

// wuFigures3And4 are the same over the blocks that a multiprocessor gets.
func wuFigure3() exhibit {
	e := blocksFigure("wu-fig3", "Throughput against B, threshold S·T·B", "Wu et al. 2010, Figure 3", busy)
	e.says = "About 30,000 queries/s at the peak on GOV; the growth slows down when B goes over 128."
	return e
}

func wuFigure4() exhibit {
	e := blocksFigure("wu-fig4", "Response time of a batch against B, threshold S·T·B", "Wu et al. 2010, Figure 4", alone)
	e.chart.y = "response time of a batch, ms"
	e.says = "No more than 10 ms, and nearly flat, while B is less than 256; sharply up beyond."
	return e
}

// blockThreads is T: work-items a work-group, in the formula of the threshold.
const blockThreads = 256

func blocksFigure(name, title, source string, what access) exhibit {
	return exhibit{
		name: name, title: title, source: source,
		ours:   fmt.Sprintf("S is the number of compute units of the device, T = %d. Binary search as in the paper, and auto.", blockThreads),
		orders: govOrder, rows: "B",
		chart: chart{kind: lineChart, x: "B, work-groups a compute unit", logX: true},
		run: func(ctx context.Context, s *session) error {
			blocks := []uint64{16, 32, 64, 128, 256, 512, 1024}
			if s.opt.Short {
				blocks = []uint64{64, 256}
			}
			for _, who := range s.contestants {
				unit := uint64(max(who.info.ComputeUnits, 1)) * blockThreads
				var thresholds []uint64
				for _, b := range blocks {
					thresholds = append(thresholds, b*unit)
				}
				costs, err := s.sweep(ctx, who, []plan.Algorithm{plan.BS, plan.Auto}, thresholds, what)
				if err != nil {
					return err
				}
				for _, c := range costs {
					b := float64(c.threshold / unit)
					r := reading{panel: fmt.Sprintf("%s, S = %d", s.panel(who), max(who.info.ComputeUnits, 1)), series: c.algorithm.String(), at: number(b), x: b}
					if what == busy {
						r.Row = c.rate.into(Row{Metric: "throughput", Unit: "queries/s"})
					} else {
						r.Row = c.response.into(Row{Metric: "response", Unit: "ms"})
					}
					if err := s.put(who.on(r)); err != nil {
						return err
					}
				}
			}
			return nil
		},
	}
}
