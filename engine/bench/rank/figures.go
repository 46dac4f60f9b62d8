package rank

import (
	"context"
	"fmt"
	"math"
	"math/bits"

	"heddle/engine/bench/chart"
	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
)

func (s *bench) figureK() harness.Exhibit {
	return harness.Exhibit{
		Name: "rank-fig-k", Title: "Throughput over k",
		Ours: "In batches, on the GOV2-like workload.",
		Rows: "k", Chart: chart.Chart{Kind: chart.Lines, X: "k", LogX: true, Tens: true, LogY: true},
		Run: func(ctx context.Context) error {
			if err := s.gov2Bench(ctx); err != nil {
				return err
			}
			ks := harness.Pick(&s.Opt, []int{1, 10, 100, 1000, 10_000}, []int{1, 10, 100})
			return s.eachCost(ctx, func(who harness.Contestant) []setup { return s.everyMode(who, ks) }, func(who harness.Contestant, c *cost) {
				s.reading(who, harness.Reading{Series: c.mode.String(), At: fmt.Sprint(c.k), X: float64(c.k),
					Row: c.rate.Into(measure.Row{Row: c.name(), Metric: "throughput", Unit: "queries/s"})})
			}, harness.Busy)
		},
	}
}

func (s *bench) figureFootprint() harness.Exhibit {
	return harness.Exhibit{
		Name: "rank-fig-footprint", Title: "Time of a top-10 query over the postings of its lists",
		Ours: "One at a time; the median of the queries whose postings have the same power of two below them. Ding et al. 2009, section 8.4, have it in words: for OR the GPU outperforms the CPU for all but the smallest queries.",
		Rows: "postings", Chart: chart.Chart{Kind: chart.Lines, X: "postings", LogX: true, LogY: true},
		Run: func(ctx context.Context) error {
			if err := s.gov2Bench(ctx); err != nil {
				return err
			}
			return s.eachCost(ctx, func(who harness.Contestant) []setup { return s.everyMode(who, []int{10}) }, func(who harness.Contestant, c *cost) {
				var classes [33][]float64
				for q, t := range c.one.each {
					n := uint64(0)
					for _, h := range s.W.Handles[q] {
						n += uint64(s.W.Source.Lists[h].Len)
					}
					if n > 0 {
						at := bits.Len64(n) - 1
						classes[at] = append(classes[at], t)
					}
				}
				for at, class := range classes {
					if len(class) == 0 {
						continue
					}
					x := math.Exp2(float64(at))
					s.reading(who, harness.Reading{Series: c.mode.String(), At: fmt.Sprintf("%.0f", x), X: x,
						Row: measure.Summarize(class).Into(measure.Row{Row: fmt.Sprintf("%s from %.0f postings", c.name(), x), Metric: "response", Unit: "ms"})})
				}
			}, harness.Alone)
		},
	}
}
