package lists

import (
	"context"

	"heddle/engine/bench/chart"
	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
	"heddle/engine/bench/workload"
	"heddle/engine/plan"
)

// paperBS is the throughput of BS in the paper: Table 3 has BS and HS16 over the same
// baseline.
const paperBS = paperHS16 * 14.59 / 23.29

func (s *bench) aoFigure5() harness.Exhibit {
	e := s.thresholdFigure("ao-fig5", "Throughput against the computational threshold, plain lists", "Ao et al. 2011, Figure 5", harness.Busy)
	e.Says = "HS16 reaches 91,382 queries/s at 1 M, 60 % more than BS, and still rises at 2 M; LR lies between."
	e.Found = `At 1 M the device has {{to (ours (rows "@opencl" "hs16" "1 M"))}} times the paper's rate with HS16 and {{to (ours (rows "@opencl" "bs" "1 M"))}} times with BS. HS16 has {{to (over (rows "@opencl" "hs16" "") (rows "@opencl" "bs" ""))}} times the rate of BS over the thresholds there, and {{to (over (rows "@host" "hs16" "") (rows "@host" "bs" ""))}} times in pure Go; it is fastest at {{places (highest "series" (rows "@opencl" "hs16" ""))}} and {{places (highest "series" (rows "@host" "hs16" ""))}}.`
	return e
}

func (s *bench) aoFigure6() harness.Exhibit {
	e := s.thresholdFigure("ao-fig6", "Response time of a batch against the threshold, plain lists", "Ao et al. 2011, Figure 6", harness.Alone)
	e.Says = "Below 128 K the response times of the algorithms cannot be told apart; then the better algorithms win by more and more."
	e.Found = `HS16 takes {{to (over (rows "@opencl" "hs16" "") (rows "@opencl" "bs" ""))}} times as long as BS over the thresholds on the device, and {{to (over (rows "@host" "hs16" "") (rows "@host" "bs" ""))}} times in pure Go.`
	return e
}

// mostQueries is the most queries of a threshold: a hundred batches of 8 M candidates.
const mostQueries = 100_000

// thresholdFigure measures algorithms on plain lists over thresholds: throughput for
// access Busy, response times for Alone.
func (s *bench) thresholdFigure(name, title, source string, what harness.Access) harness.Exhibit {
	e := harness.Exhibit{
		Name: name, Title: title, Source: source, Data: harness.GovOrder, Rows: "threshold",
		Ours:  "Clustered order stands for GOV. Auto is the choice of the backend.",
		Chart: chart.Chart{Kind: chart.Lines, X: "threshold, candidates a batch", LogX: true, LogY: true},
	}
	if what == harness.Alone {
		e.Chart.Y = "response time of a batch, ms"
	}
	e.Run = func(ctx context.Context) error {
		algorithms := harness.Pick(&s.Opt, []plan.Algorithm{plan.IS, plan.BS, plan.LR, plan.HS32, plan.HS16, plan.Auto}, []plan.Algorithm{plan.BS, plan.Auto})
		for _, who := range s.Contestants {
			var setups []harness.Setup
			for _, a := range algorithms {
				for _, t := range s.Opt.Thresholds(who.Info.Type) {
					setups = append(setups, harness.Setup{Backend: who.Name, Threads: s.Opt.Threads, Encoding: workload.DefaultEncoding(workload.LayoutRaw), Algorithm: a, Threshold: t,
						Queries: min(s.Opt.QueryCountAt(who.Info.Type, t), mostQueries)})
				}
			}
			costs, err := s.Measure(ctx, who, setups, what, harness.Profiled)
			if err != nil {
				return err
			}
			for _, c := range costs {
				t := c.Setup.Threshold
				r := harness.Reading{Panel: s.Panel(who), Series: c.Algorithm.String(), At: measure.Binary(float64(t)), X: float64(t)}
				if what == harness.Busy {
					r.Row = c.Rate.Into(measure.Row{Metric: "throughput", Unit: "queries/s"})
					if t == paperThreshold && s.W.Set.Order == workload.Clustered {
						r.Paper = map[plan.Algorithm]float64{plan.HS16: paperHS16, plan.BS: paperBS}[c.Algorithm]
					}
				} else {
					r.Row = c.Response.Into(measure.Row{Metric: "response", Unit: "ms"})
				}
				s.Put(who.On(r))
				if c.KernelRate() == 0 {
					continue
				}
				r.Series, r.Paper = r.Series+", kernels", 0
				if r.Row = measure.Single(c.KernelRate()).Into(measure.Row{Metric: "kernel throughput", Unit: "queries/s"}); what == harness.Alone {
					r.Row = measure.Single(c.KernelTime()).Into(measure.Row{Metric: "kernels", Unit: "ms"})
				}
				s.Put(who.On(r))
			}
		}
		return nil
	}
	return e
}
