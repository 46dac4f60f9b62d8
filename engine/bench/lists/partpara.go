package lists

import (
	"context"
	"fmt"

	"heddle/engine/bench/chart"
	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
)

// meanBatches is the x axis of Figures 5 and 6. 513 is the mean batch of PARA on
// Baidu's queries with B = 256.
func meanBatches(o *harness.Options) []int {
	return harness.Pick(o, []int{64, 128, 256, 513, 1024, 2048, 4096}, []int{16, 32})
}

// mostBatches is the most batches of one size in Figures 5 and 6.
const mostBatches = 32

func (s *bench) wuFigure5() harness.Exhibit {
	e := s.batchFigure("wu-fig5", "Response time of PART and PARA by batch size", "Wu et al. 2010, Figure 5", func(b *harness.Batching, kernels float64) (row, kernel measure.Row) {
		return b.Response().Into(measure.Row{Metric: "response", Unit: "ms"}),
			measure.Single(kernels * 1e3 / float64(len(b.Responses))).Into(measure.Row{Metric: "kernels", Unit: "ms"})
	})
	e.Chart.Y = "median response time of a batch, ms"
	e.Says = "A dramatic gap between PART and PARA, for the imbalance of load in PART."
	e.Found = `PART takes {{to (over (rows "@opencl" "PART" "") (rows "@opencl" "PARA" ""))}} times as long as PARA on the device, and {{to (over (rows "@host" "PART" "") (rows "@host" "PARA" ""))}} times in pure Go.`
	return e
}

func (s *bench) wuFigure6() harness.Exhibit {
	e := s.batchFigure("wu-fig6", "Throughput of PART and PARA by batch size", "Wu et al. 2010, Figure 6", func(b *harness.Batching, kernels float64) (row, kernel measure.Row) {
		return b.Rate.Into(measure.Row{Metric: "throughput", Unit: "queries/s"}),
			measure.Single(b.Rate.Median * b.Times.Wall.Seconds() / kernels).Into(measure.Row{Metric: "kernel throughput", Unit: "queries/s"})
	})
	e.Says = "PARA is well ahead; beyond 513 queries a batch PART still rises and PARA slows down."
	e.Found = `PARA has {{to (over (rows "@opencl" "PARA" "") (rows "@opencl" "PART" ""))}} times the throughput of PART on the device, where PARA is fastest with {{places (highest "series" (rows "@opencl" "PARA" ""))}} and PART with {{places (highest "series" (rows "@opencl" "PART" ""))}} queries a batch, and {{to (over (rows "@host" "PARA" "") (rows "@host" "PART" ""))}} times in pure Go.`
	return e
}

// batchFigure measures batches of PART and PARA by size. value makes the rows of batches and of
// the seconds of their kernels by the device's clock.
func (s *bench) batchFigure(name, title, source string, value func(b *harness.Batching, kernels float64) (row, kernel measure.Row)) harness.Exhibit {
	return harness.Exhibit{
		Name: name, Title: title, Source: source, Ours: harness.AboutBatches + fmt.Sprintf(" At most %d batches of a size.", mostBatches),
		Data: harness.GovOrder, Rows: "queries a batch",
		Chart: chart.Chart{Kind: chart.Lines, X: "mean queries a batch", LogX: true},
		Run: func(ctx context.Context) error {
			for _, who := range s.Contestants {
				for _, q := range meanBatches(&s.Opt) {
					if q > s.BatchQueries(who)/2 {
						break
					}
					n := min(s.BatchQueries(who), mostBatches*q)
					for _, m := range harness.Methods(who, q) {
						b, err := s.Batches(ctx, who, m, n, harness.Alone)
						if err != nil {
							return err
						}
						kernels, err := s.KernelSeconds(ctx, who, m, n)
						if err != nil {
							return err
						}
						r := harness.Reading{Panel: s.Panel(who), Series: m.String(), At: fmt.Sprint(q), X: float64(q)}
						var kernel measure.Row
						r.Row, kernel = value(b, kernels)
						s.Put(who.On(r))
						if r.Row, r.Series = kernel, r.Series+", kernels"; kernels > 0 {
							s.Put(who.On(r))
						}
					}
				}
			}
			return nil
		},
	}
}

func (s *bench) wuFigure8() harness.Exhibit {
	return harness.Exhibit{
		Name: "wu-fig8", Title: "Shares of transfers, kernels and CPU in the time of a batch", Source: "Wu et al. 2010, Figure 8",
		Says:  "Kernels have a larger share in PARA than in PART, whose transfers take more.",
		Found: `Kernels have {{one "" "kernels" "PARA"}} % of the time of PARA and {{one "" "kernels" "PART"}} % of PART, transfers {{one "" "transfers" "PARA"}} and {{one "" "transfers" "PART"}} %, the CPU {{one "" "CPU" "PARA"}} and {{one "" "CPU" "PART"}} %.`,
		Ours:  harness.AboutBatches + " 260 queries a batch, as in the paper. Device times by the device's clock; the rest is CPU, the semi-sort included. Pure Go has no such parts.",
		Data:  harness.GovOrder, Rows: "method",
		Chart: chart.Chart{Kind: chart.Stacks, Y: "% of the time"},
		Run: func(ctx context.Context) error {
			for _, who := range s.Contestants {
				if who.Name == "host" {
					continue
				}
				for _, m := range harness.Methods(who, 260) {
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
						s.Put(who.On(harness.Reading{Panel: s.Panel(who), Series: part.name, At: m.String(),
							Row: measure.Single(part.share).Into(measure.Row{Metric: "share of " + part.name, Unit: "%"})}))
					}
				}
			}
			return nil
		},
	}
}
