package bench

import (
	"context"

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

// thresholdFigure measures algorithms on plain lists over thresholds: throughput where
// what is busy, else response times.
func thresholdFigure(name, title, source string, what access) exhibit {
	e := exhibit{
		name: name, title: title, source: source, orders: govOrder, rows: "threshold",
		ours:  "Clustered order stands for GOV. Auto is what the backend takes by itself.",
		chart: chart{kind: lineChart, x: "threshold, candidates a batch", logX: true, logY: true},
	}
	if what == alone {
		e.chart.y = "response time of a batch, ms"
	}
	e.run = func(ctx context.Context, s *session) error {
		algorithms := pick(&s.opt, []plan.Algorithm{plan.IS, plan.BS, plan.LR, plan.HS32, plan.HS16, plan.Auto}, []plan.Algorithm{plan.BS, plan.Auto})
		for _, who := range s.contestants {
			var setups []setup
			for _, a := range algorithms {
				for _, t := range s.opt.thresholds(who.info.Type) {
					setups = append(setups, setup{who.name, s.opt.Threads, plainly(LayoutRaw), a, t})
				}
			}
			costs, err := s.measure(ctx, who, setups, what)
			if err != nil {
				return err
			}
			for _, c := range costs {
				t := c.setup.threshold
				r := reading{panel: s.panel(who), series: c.algorithm.String(), at: binarily(float64(t)), x: float64(t)}
				if what == busy {
					r.Row = c.rate.into(Row{Metric: "throughput", Unit: "queries/s"})
					if t == paperThreshold && s.w.Order == Clustered {
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
