package schedule

import (
	"context"
	"fmt"

	"heddle/engine/bench/chart"
	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
)

// shownBatches is the number of batches in Figure 7.
const shownBatches = 60

func (s *wuBench) figure7() harness.Exhibit {
	return harness.Exhibit{
		Name: "wu-fig7", Title: "Response time from batch to batch", Source: "Wu et al. 2010, Figure 7",
		Found: `Batches of PARA take {{to (rows "" "PARA" "")}} ms, of PART {{to (rows "" "PART" "")}}, semi-sorted {{to (rows "" "PART, semi-sorted" "")}}.`,
		Says:  "Steady in PARA, whose batches have the same load; PART fluctuates violently.",
		Ours:  harness.AboutBatches + " 513 queries a batch, 64 on a CPU, fewer in a short run.",
		Data:  harness.GovOrder, Rows: "batch",
		Chart: chart.Chart{Kind: chart.Lines, X: "number of the batch", Y: "response time, ms"},
		Run: func(ctx context.Context) error {
			for _, who := range s.Contestants {
				q := 513
				if who.Info.Type != "gpu" {
					q = harness.Pick[int](&s.Opt, 64, 16)
				}
				for _, m := range harness.Methods(who, q) {
					b, err := s.Batches(ctx, who, m, s.BatchQueries(who), harness.Alone)
					if err != nil {
						return err
					}
					for i, ms := range b.Responses[:min(shownBatches, len(b.Responses))] {
						s.Put(who.On(harness.Reading{Panel: s.Panel(who), Series: m.String(), At: fmt.Sprint(i + 1), X: float64(i + 1),
							Row: measure.Single(ms).Into(measure.Row{Metric: "response", Unit: "ms"})}))
					}
				}
			}
			return nil
		},
	}
}
