package lists

import (
	"context"
	"fmt"

	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
	"heddle/engine/bench/workload"
)

// aoTable4 shows how well the workload fits the paper's queries.
func (s *bench) aoTable4() harness.Exhibit {
	return harness.Exhibit{
		Name: "ao-table4", Title: "Length ratios as the intersection proceeds", Source: "Ao et al. 2011, Table 4",
		Says:  "Most queries have a short shortest list, and the ratio falls as the stages go on.",
		Ours:  "The workload was fitted to this table, so the table shows how well it fits, and no speed. It has the first 10,000 queries, 2,000 in a short run.",
		Found: `R is {{to (ours (rows "" "R, %" ""))}} times the paper's, the number of candidates {{to (ours (rows "" "candidates*" ""))}} times.`,
		Data:  harness.FirstOrder, Rows: "terms, stage",
		Run: func(ctx context.Context) error {
			stages, err := s.W.Stages(ctx, harness.Pick[int](&s.Opt, 10_000, 2000))
			if err != nil {
				return err
			}
			for k := range stages {
				for x, got := range stages[k] {
					at := fmt.Sprintf("%d, %d", k+2, x+1)
					want := workload.PaperStages[k][x]
					for _, m := range []struct {
						series, unit string
						got, paper   float64
					}{{"R, %", "%", got.Ratio, want.Ratio}, {"candidates, thousands", "thousands", got.Candidates, want.Candidates}} {
						s.Put(harness.Reading{Panel: s.W.Set.Order.String(), Series: m.series, At: at, Paper: m.paper,
							Row: measure.Single(m.got).Into(measure.Row{Metric: m.series, Unit: m.unit})})
					}
				}
			}
			return nil
		},
	}
}
