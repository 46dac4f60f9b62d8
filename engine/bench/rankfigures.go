package bench

import (
	"context"
	"fmt"
	"math"
	"slices"
)

func rankFigureK() exhibit {
	return exhibit{
		name: "rank-fig-k", title: "Throughput over k",
		ours: "In batches, on the GOV2-like workload.",
		rows: "k", chart: chart{kind: lineChart, x: "k", logX: true, tens: true, logY: true},
		run: func(ctx context.Context, s *session) error {
			b, err := s.gov2Bench(ctx)
			if err != nil {
				return err
			}
			for _, who := range s.contestants {
				costs, err := b.measure(ctx, who, s.everyMode(who, pick(&s.opt, []int{1, 10, 100, 1000, 10_000}, []int{1, 10, 100})), busy)
				if err != nil {
					return err
				}
				for _, c := range costs {
					if err := b.reading(who, reading{series: c.mode.String(), at: fmt.Sprint(c.k), x: float64(c.k),
						Row: c.rate.into(Row{Row: c.name(), Metric: "throughput", Unit: "queries/s"})}); err != nil {
						return err
					}
				}
			}
			return nil
		},
	}
}

func rankFigureFootprint() exhibit {
	return exhibit{
		name: "rank-fig-footprint", title: "Time of a top-10 query over the postings of its lists",
		ours: "One at a time; the median of the queries whose postings have the same power of two below them. Ding et al. 2009, section 8.4, have it in words: for OR the GPU outperforms the CPU for all but the smallest queries.",
		rows: "postings", chart: chart{kind: lineChart, x: "postings", logX: true, logY: true},
		run: func(ctx context.Context, s *session) error {
			b, err := s.gov2Bench(ctx)
			if err != nil {
				return err
			}
			for _, who := range s.contestants {
				costs, err := b.measure(ctx, who, s.everyMode(who, []int{10}), alone)
				if err != nil {
					return err
				}
				for _, c := range costs {
					classes := make(map[int][]float64)
					for q, t := range c.one.each {
						n := uint64(0)
						for _, h := range b.w.handles[q] {
							n += uint64(b.w.source.Lists[h].Len)
						}
						at := int(math.Log2(float64(n)))
						classes[at] = append(classes[at], t)
					}
					for at := range 33 {
						if len(classes[at]) == 0 {
							continue
						}
						x := math.Exp2(float64(at))
						v := summarize(slices.Clone(classes[at]))
						if err := b.reading(who, reading{series: c.mode.String(), at: fmt.Sprintf("%.0f", x), x: x,
							Row: v.into(Row{Row: fmt.Sprintf("%s from %.0f postings", c.name(), x), Metric: "response", Unit: "ms"})}); err != nil {
							return err
						}
					}
				}
			}
			return nil
		},
	}
}
