package bench

import (
	"context"
	"fmt"
)

// aoTable4 is how the workload was fitted to the paper's queries.
func aoTable4() exhibit {
	return exhibit{
		name: "ao-table4", title: "Length ratios as the intersection proceeds", source: "Ao et al. 2011, Table 4",
		says:   "Most queries have a short shortest list, and the ratio falls as the stages go on.",
		ours:   "The workload was fitted to this table: it says how well, not how fast. The first 10,000 queries, 2,000 of a short run.",
		orders: firstOrder, rows: "terms, stage",
		run: func(ctx context.Context, s *session) error {
			stages, err := s.w.Stages(ctx, pick(&s.opt, []int{10_000}, []int{2000})[0])
			if err != nil {
				return err
			}
			for k := range stages {
				for x, got := range stages[k] {
					at := fmt.Sprintf("%d, %d", k+2, x+1)
					want := PaperStages[k][x]
					for _, m := range []struct {
						series, unit string
						got, paper   float64
					}{{"R, %", "%", got.Ratio, want.Ratio}, {"candidates, thousands", "thousands", got.Candidates, want.Candidates}} {
						if err := s.put(reading{panel: s.w.Order.String(), series: m.series, at: at, paper: m.paper,
							Row: single(m.got).into(Row{Metric: m.series, Unit: m.unit})}); err != nil {
							return err
						}
					}
				}
			}
			return nil
		},
	}
}
