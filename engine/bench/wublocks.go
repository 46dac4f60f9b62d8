package bench

import (
	"context"
	"fmt"
	"slices"

	"heddle/engine/plan"
)

// blockThreads is T, work-items a work-group, in the formula of the threshold.
const blockThreads = 256

// blockCounts are values of B from the first to the last power of two; two when short.
func (o *Options) blockCounts(first, last uint64) (all []uint64) {
	for b := first; b <= last; b *= 2 {
		all = append(all, b)
	}
	return pick(o, all, []uint64{64, 512})
}

// blockThreshold is the computation threshold S·T·B of a contestant (Wu et al. 2010,
// section V.B.1), in candidates.
func blockThreshold(who contestant, b uint64) uint64 {
	return uint64(max(who.info.ComputeUnits, 1)) * blockThreads * b
}

// blockQueries is how many queries a device of a type gets a batch at a time.
func (o *Options) blockQueries(deviceType string, threshold uint64) int {
	n := o.queriesAt(deviceType, threshold)
	if o.Short {
		n = min(n, shortQueries/2)
	}
	return n
}

// blocked is a method of PARA at its place in a figure over B.
type blocked struct {
	method
	queries int
	reading
}

// blocks are binary search, as in the paper, and auto over B.
func (s *session) blocks(who contestant) (all []blocked) {
	for _, a := range []plan.Algorithm{plan.BS, plan.Auto} {
		for _, b := range s.opt.blockCounts(2, 2048) {
			t := blockThreshold(who, b)
			all = append(all, blocked{method{backend: who.name, algorithm: a, threshold: t}, s.opt.blockQueries(who.info.Type, t),
				reading{panel: s.panel(who), series: a.String(), at: fmt.Sprint(b), x: float64(b)}})
		}
	}
	return all
}

func blocksFigure(name, title, source string) exhibit {
	return exhibit{
		name: name, title: title, source: source, orders: govOrder, rows: "B",
		ours: fmt.Sprintf("S is the number of compute units of the device, threads in pure Go, T = %d. "+
			"Binary search as in the paper, and auto: what the backend takes by itself.", blockThreads),
		chart: chart{kind: lineChart, x: "B, work-groups a compute unit", logX: true, logY: true},
	}
}

func wuFigure3() exhibit {
	e := blocksFigure("wu-fig3", "Throughput against B, threshold S·T·B", "Wu et al. 2010, Figure 3")
	e.says = "About 30,000 queries/s at the peak on GOV; the growth slows down when B goes over 128."
	e.ours += " A batch at a time as in the paper, and as many at a time as keep the backend busy."
	e.run = func(ctx context.Context, s *session) error {
		for _, who := range s.contestants {
			all := s.blocks(who)
			var setups []setup
			for _, p := range all {
				setups = append(setups, setup{who.name, s.opt.Threads, plainly(LayoutRaw), p.algorithm, p.threshold})
			}
			costs, err := s.measure(ctx, who, setups, busy)
			if err != nil {
				return err
			}
			for _, p := range all {
				i := slices.IndexFunc(costs, func(c *cost) bool { return c.algorithm == p.algorithm && c.setup.threshold == p.threshold })
				if i < 0 {
					continue // its tables do not fit
				}
				b, err := s.batches(ctx, who, p.method, p.queries, alone)
				if err != nil {
					return err
				}
				for _, v := range []struct {
					how  string
					rate summary
				}{{"", costs[i].rate}, {", a batch at a time", b.rate}} {
					r := p.reading
					r.series += v.how
					r.Row = v.rate.into(Row{Metric: "throughput", Unit: "queries/s"})
					if err := s.put(who.on(r)); err != nil {
						return err
					}
				}
			}
		}
		return nil
	}
	return e
}

func wuFigure4() exhibit {
	e := blocksFigure("wu-fig4", "Response time of a batch against B, threshold S·T·B", "Wu et al. 2010, Figure 4")
	e.says = "No more than 10 ms, and nearly flat, while B is less than 256; sharply up beyond."
	e.ours += " From terms to docIDs on the host with nothing else running: preparation on the CPU, kernels and transfers."
	e.chart.y = "response time of a batch, ms"
	e.run = func(ctx context.Context, s *session) error {
		for _, who := range s.contestants {
			for _, p := range s.blocks(who) {
				b, err := s.batches(ctx, who, p.method, p.queries, alone)
				if err != nil {
					return err
				}
				ordered := slices.Sorted(slices.Values(b.responses))
				for _, v := range []struct {
					name string
					ms   float64
				}{{"average", mean(ordered)}, {"p99", percentile(ordered, 99)}} {
					r := p.reading
					r.series += ", " + v.name
					r.Row = Row{Metric: "response, " + v.name, Unit: "ms", Median: v.ms, Min: v.ms, Max: v.ms, Runs: 1}
					if err := s.put(who.on(r)); err != nil {
						return err
					}
				}
			}
		}
		return nil
	}
	return e
}

func mean(values []float64) (m float64) {
	for _, v := range values {
		m += v / float64(len(values))
	}
	return m
}
