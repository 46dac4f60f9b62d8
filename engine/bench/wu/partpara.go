package wu

import (
	"context"
	"fmt"

	"heddle/engine/bench/chart"
	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
	"heddle/engine/bench/querylog"
	"heddle/engine/plan"
)

// methods are PART and PARA with a mean number of queries per batch.
func methods(who harness.Contestant, queries int) []querylog.Method {
	m := querylog.Method{Backend: who.Name, Algorithm: plan.BS, Queries: queries}
	part := m
	part.Part = true
	return []querylog.Method{part, m}
}

// meanBatches is the x axis of Figures 5 and 6. 513 is the mean batch of PARA on
// Baidu's queries with B = 256.
func meanBatches(o *harness.Options) []int {
	return harness.Pick(o, []int{64, 128, 256, 513, 1024, 2048, 4096}, []int{16, 32})
}

const aboutBatches = "Clustered GOV-like lists and queries in place of Baidu's. Binary search on plain lists, one batch after the other. PART takes a fixed number of queries a batch, PARA as many as reach the same mean load. Pure Go as PART gives a query to one thread."

func (s *Bench) figure5() harness.Exhibit {
	e := s.batchFigure("wu-fig5", "Response time of PART and PARA by batch size", "Wu et al. 2010, Figure 5", func(b *querylog.Batching) measure.Row {
		return measure.Summarize(append([]float64(nil), b.Responses...)).Into(measure.Row{Metric: "response", Unit: "ms"})
	})
	e.Chart.Y = "median response time of a batch, ms"
	e.Says = "A dramatic gap between PART and PARA, for the imbalance of load in PART."
	return e
}

func (s *Bench) figure6() harness.Exhibit {
	e := s.batchFigure("wu-fig6", "Throughput of PART and PARA by batch size", "Wu et al. 2010, Figure 6", func(b *querylog.Batching) measure.Row {
		return b.Rate.Into(measure.Row{Metric: "throughput", Unit: "queries/s"})
	})
	e.Says = "PARA is well ahead; beyond 513 queries a batch PART still rises and PARA slows down."
	return e
}

func (s *Bench) batchFigure(name, title, source string, value func(b *querylog.Batching) measure.Row) harness.Exhibit {
	return harness.Exhibit{
		Name: name, Title: title, Source: source, Ours: aboutBatches,
		Orders: harness.GovOrder, Rows: "queries a batch",
		Chart: chart.Chart{Kind: chart.Lines, X: "mean queries a batch", LogX: true},
		Run: func(ctx context.Context) error {
			for _, who := range s.Contestants {
				for _, q := range meanBatches(&s.Opt) {
					if q > s.BatchQueries(who)/2 {
						break
					}
					for _, m := range methods(who, q) {
						b, err := s.Batches(ctx, who, m, s.BatchQueries(who), harness.Alone)
						if err != nil {
							return err
						}
						if err := s.Put(who.On(harness.Reading{Panel: s.Panel(who), Series: m.String(), At: fmt.Sprint(q), X: float64(q), Row: value(b)})); err != nil {
							return err
						}
					}
				}
			}
			return nil
		},
	}
}

// shownBatches is the number of batches in Figure 7.
const shownBatches = 60

func (s *Bench) figure7() harness.Exhibit {
	return harness.Exhibit{
		Name: "wu-fig7", Title: "Response time from batch to batch", Source: "Wu et al. 2010, Figure 7",
		Says:   "Steady in PARA, whose batches have the same load; PART fluctuates violently.",
		Ours:   aboutBatches + " 513 queries a batch, 64 on a CPU, fewer in a short run.",
		Orders: harness.GovOrder, Rows: "batch",
		Chart: chart.Chart{Kind: chart.Lines, X: "number of the batch", Y: "response time, ms"},
		Run: func(ctx context.Context) error {
			for _, who := range s.Contestants {
				q := 513
				if who.Info.Type != "gpu" {
					q = harness.Pick[int](&s.Opt, 64, 16)
				}
				for _, m := range methods(who, q) {
					b, err := s.Batches(ctx, who, m, s.BatchQueries(who), harness.Alone)
					if err != nil {
						return err
					}
					for i, ms := range b.Responses[:min(shownBatches, len(b.Responses))] {
						if err := s.Put(who.On(harness.Reading{Panel: s.Panel(who), Series: m.String(), At: fmt.Sprint(i + 1), X: float64(i + 1),
							Row: measure.Single(ms).Into(measure.Row{Metric: "response", Unit: "ms"})})); err != nil {
							return err
						}
					}
				}
			}
			return nil
		},
	}
}

func (s *Bench) figure8() harness.Exhibit {
	return harness.Exhibit{
		Name: "wu-fig8", Title: "Shares of transfers, kernels and CPU in the time of a batch", Source: "Wu et al. 2010, Figure 8",
		Says:   "Kernels have a larger share in PARA than in PART, whose transfers take more.",
		Ours:   aboutBatches + " 256 queries a batch. Device times by the device's clock; the rest is CPU. Pure Go has no such parts.",
		Orders: harness.GovOrder, Rows: "method",
		Chart: chart.Chart{Kind: chart.Stacks, Y: "% of the time"},
		Run: func(ctx context.Context) error {
			for _, who := range s.Contestants {
				if who.Name == "host" {
					continue
				}
				for _, m := range methods(who, 256) {
					b, err := s.Batches(ctx, who, m, s.BatchQueries(who), harness.Profiled)
					if err != nil {
						return err
					}
					wall := b.Times.Wall.Seconds()
					transfer := 100 * (b.Times.Upload + b.Times.Download).Seconds() / wall
					kernel := 100 * b.Times.Kernel().Seconds() / wall
					for _, part := range []struct {
						name  string
						share float64
					}{{"transfers", transfer}, {"kernels", kernel}, {"CPU", max(0, 100-transfer-kernel)}} {
						if err := s.Put(who.On(harness.Reading{Panel: s.Panel(who), Series: part.name, At: m.String(),
							Row: measure.Single(part.share).Into(measure.Row{Metric: "share of " + part.name, Unit: "%"})})); err != nil {
							return err
						}
					}
				}
			}
			return nil
		},
	}
}
