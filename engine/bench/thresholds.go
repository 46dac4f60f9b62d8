package bench

import (
	"context"
	"fmt"
	"slices"

	"heddle/engine/plan"
)

// paperBS is what BS reaches where HS16 reaches paperHS16: Table 3 has both over
// the same baseline.
const paperBS = paperHS16 * 14.59 / 23.29

func aoFigure5() exhibit {
	e := thresholdFigure("ao-fig5", "Throughput against the computational threshold, plain lists", "Ao et al. 2011, Figure 5", busy)
	e.says = "HS16 reaches 91,382 queries/s at 1 M, 60 % more than BS, and still rises at 2 M; LR lies between."
	return e
}

func aoFigure6() exhibit {
	e := thresholdFigure("ao-fig6", "Response time of a batch against the threshold, plain lists", "Ao et al. 2011, Figure 6", alone)
	e.says = "Below 128 K the response times of the algorithms cannot be told apart; then the better algorithms win by more and more."
	return e
}

func wuFigure3() exhibit {
	e := blocksFigure("wu-fig3", "Throughput against B, threshold S·T·B", "Wu et al. 2010, Figure 3", busy)
	e.says = "About 30,000 queries/s at the peak on GOV; the growth slows down when B goes over 128."
	return e
}

func wuFigure4() exhibit {
	e := blocksFigure("wu-fig4", "Response time of a batch against B, threshold S·T·B", "Wu et al. 2010, Figure 4", alone)
	e.says = "No more than 10 ms, and nearly flat, while B is less than 256; sharply up beyond."
	return e
}

// step is a place on the axis of a figure over thresholds.
type step struct {
	threshold uint64
	at        string
	x         float64
}

// thresholdFigure has the thresholds themselves on its axis.
func thresholdFigure(name, title, source string, what access) exhibit {
	e := sweepFigure(name, title, source, what, []plan.Algorithm{plan.IS, plan.BS, plan.LR, plan.HS32, plan.HS16, plan.Auto},
		func(s *session, who contestant) (steps []step) {
			for _, t := range s.opt.thresholds(who.info.Type) {
				steps = append(steps, step{t, binarily(float64(t)), float64(t)})
			}
			return steps
		})
	e.rows, e.chart.x, e.chart.logY = "threshold", "threshold, candidates a batch", true
	e.ours = "Clustered order stands for GOV. Auto is what the backend takes by itself."
	return e
}

// blockThreads is T: work-items a work-group, in the formula of the threshold.
const blockThreads = 256

// blocksFigure has B on its axis, where S*T*B is the threshold.
func blocksFigure(name, title, source string, what access) exhibit {
	e := sweepFigure(name, title, source, what, []plan.Algorithm{plan.BS, plan.Auto},
		func(s *session, who contestant) (steps []step) {
			for _, b := range pick(&s.opt, []int{16, 32, 64, 128, 256, 512, 1024}, []int{64, 256}) {
				steps = append(steps, step{uint64(b) * uint64(max(who.info.ComputeUnits, 1)) * blockThreads, fmt.Sprint(b), float64(b)})
			}
			return steps
		})
	e.rows, e.chart.x = "B", "B, work-groups a compute unit"
	e.ours = fmt.Sprintf("S is the number of compute units of the device, T = %d. Binary search as in the paper, and auto.", blockThreads)
	return e
}

// sweepFigure measures algorithms on plain lists over thresholds: throughput where
// what is busy, else response times.
func sweepFigure(name, title, source string, what access, algorithms []plan.Algorithm, steps func(s *session, who contestant) []step) exhibit {
	e := exhibit{name: name, title: title, source: source, orders: govOrder, chart: chart{kind: lineChart, logX: true}}
	if what == alone {
		e.chart.y = "response time of a batch, ms"
	}
	e.run = func(ctx context.Context, s *session) error {
		algorithms := pick(&s.opt, algorithms, []plan.Algorithm{plan.BS, plan.Auto})
		for _, who := range s.contestants {
			steps := steps(s, who)
			var setups []setup
			for _, a := range algorithms {
				for _, p := range steps {
					setups = append(setups, setup{who.name, s.opt.Threads, plainly(LayoutRaw), a, p.threshold})
				}
			}
			costs, err := s.measure(ctx, who, setups, what)
			if err != nil {
				return err
			}
			for _, c := range costs {
				p := steps[slices.IndexFunc(steps, func(p step) bool { return p.threshold == c.setup.threshold })]
				r := reading{panel: s.panel(who), series: c.algorithm.String(), at: p.at, x: p.x}
				if what == busy {
					r.Row = c.rate.into(Row{Metric: "throughput", Unit: "queries/s"})
					if p.threshold == paperThreshold && s.w.Order == Clustered {
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
	}
	return e
}
