package bench

import (
	"context"
	"fmt"

	"heddle/engine"
	"heddle/engine/plan"
)

// point is a measurement at one threshold.
type point struct {
	threshold uint64
	algorithm plan.Algorithm
	rate      summary // queries a second
	response  summary // milliseconds a batch
}

// sweep measures throughput and response time over thresholds and plots them:
// Ao et al. 2011, Figures 5 and 6.
func (b *listsBench) sweep(ctx context.Context, layout Layout, src *plan.Source, backend string) error {
	var points []point
	var info plan.Info
	for _, threshold := range b.opt.Sweep {
		var cells []cell
		for _, a := range b.opt.Algorithms {
			cells = append(cells, cell{layout: layout, algorithm: a})
		}
		var qs []engine.Query
		err := b.each(ctx, src, backend, engine.Options{BatchCandidates: threshold}, cells, func(x *engine.Index, c *cell) error {
			info = x.Backend()
			qs = b.queries[:b.opt.queries(info.Type)]
			run := func() error {
				return x.SearchBatches(ctx, qs, engine.SearchOptions{Algorithm: c.algorithm}, func(int, *plan.Results) error { return nil })
			}
			if err := run(); err != nil { // warms up
				return err
			}
			rates, err := inTurns([]turn{run}, b.opt.Runs, len(qs))
			if err == nil {
				c.rate = rates[0]
			}
			return err
		})
		if err == nil {
			err = b.each(ctx, src, backend, engine.Options{BatchCandidates: threshold, Workers: 1}, cells, func(x *engine.Index, c *cell) (err error) {
				c.response, err = response(ctx, x, qs, c.algorithm, threshold)
				return err
			})
		}
		if err != nil {
			return err
		}
		b.logf("%s on %s: threshold %d K", layout, info.Device, threshold>>10)
		for _, c := range cells {
			points = append(points, point{threshold, c.algorithm, c.rate, c.response})
		}
	}
	for _, p := range points {
		base := Row{Bench: "lists", Workload: b.w.Name(), Row: thresholdRow(layout.String()+"/"+p.algorithm.String(), p.threshold),
			Backend: info.Kind, Device: info.Device}
		rate, resp := p.rate.into(base), p.response.into(base)
		rate.Metric, rate.Unit = "throughput", "queries/s"
		resp.Metric, resp.Unit = "response", "ms"
		if err := b.rows.write(rate, resp); err != nil {
			return err
		}
	}
	title := fmt.Sprintf("%s, %s lists, %s", b.w.Name(), layout, info.Device)
	name := fmt.Sprintf("lists-%s-%s-%s", b.w.Order, layout, info.Kind)
	return plotSweep(b.opt.Plot, name, title, points)
}
