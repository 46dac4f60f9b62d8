package schedule

import (
	"context"
	"fmt"
	"slices"

	"heddle/engine/bench/chart"
	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
	"heddle/engine/bench/workload"
	"heddle/engine/plan"
)

// blockThreads is T, the number of work-items per work-group, in the threshold S·T·B.
const blockThreads = 256

// blockCounts are values of B: the powers of two from first to last, or two values if
// short.
func blockCounts(o *harness.Options, first, last uint64) (all []uint64) {
	for b := first; b <= last; b *= 2 {
		all = append(all, b)
	}
	return harness.Pick(o, all, []uint64{64, 512})
}

// blockThreshold is the threshold S·T·B of a contestant in candidates (Wu et al. 2010,
// section V.B.1).
func blockThreshold(who harness.Contestant, b uint64) uint64 {
	return uint64(max(who.Info.ComputeUnits, 1)) * blockThreads * b
}

// mostHostQueries is the most queries of a batch size where no GPU answers them.
const mostHostQueries = 1 << 13

// blockQueries is the number of queries for a batch size on a type of device.
func blockQueries(o *harness.Options, deviceType string, threshold uint64) int {
	n := o.QueryCountAt(deviceType, threshold)
	if o.Short {
		n = min(n, harness.ShortQueries/2)
	}
	if deviceType != "gpu" {
		n = min(n, mostHostQueries)
	}
	return n
}

// blocked is a method of PARA with its place in a figure over B.
type blocked struct {
	harness.Method
	queries int
	harness.Reading
}

// blocks are binary search, as in the paper, and auto, over B.
func (s *wuBench) blocks(who harness.Contestant) (all []blocked) {
	for _, a := range []plan.Algorithm{plan.BS, plan.Auto} {
		for _, b := range blockCounts(&s.Opt, 2, 2048) {
			t := blockThreshold(who, b)
			all = append(all, blocked{harness.Method{Backend: who.Name, Algorithm: a, Threshold: t}, blockQueries(&s.Opt, who.Info.Type, t),
				harness.Reading{Panel: s.Panel(who), Series: a.String(), At: fmt.Sprint(b), X: float64(b)}})
		}
	}
	return all
}

func (s *wuBench) blocksFigure(name, title, source string) harness.Exhibit {
	return harness.Exhibit{
		Name: name, Title: title, Source: source, Data: harness.GovOrder, Rows: "B",
		Ours: fmt.Sprintf("S is the number of compute units of the device, threads in pure Go, T = %d. "+
			"Binary search as in the paper, and auto: the choice of the backend. CPUs answer at most %d queries for a B.", blockThreads, mostHostQueries),
		Chart: chart.Chart{Kind: chart.Lines, X: "B, work-groups a compute unit", LogX: true, LogY: true},
	}
}

func (s *wuBench) figure3() harness.Exhibit {
	e := s.blocksFigure("wu-fig3", "Throughput against B, threshold S·T·B", "Wu et al. 2010, Figure 3")
	e.Found = `A batch at a time, as in the paper, binary search peaks at {{most (rows "@opencl" "bs, a batch at a time" "")}} queries/s with B = {{places (highest "series" (rows "@opencl" "bs, a batch at a time" ""))}}, {{ratio (most (rows "@opencl" "bs, a batch at a time" "")) 30000}} times the paper's peak; with batches that overlap at {{most (rows "@opencl" "bs" "")}} with B = {{places (highest "series" (rows "@opencl" "bs" ""))}}.`
	e.Says = "About 30,000 queries/s at the peak on GOV; the growth slows down when B goes over 128."
	e.Ours += " A batch at a time as in the paper, and as many at a time as keep the backend busy."
	e.Run = func(ctx context.Context) error {
		for _, who := range s.Contestants {
			all := s.blocks(who)
			var setups []harness.Setup
			for _, p := range all {
				setups = append(setups, harness.Setup{Backend: who.Name, Threads: s.Opt.Threads, Encoding: workload.DefaultEncoding(workload.LayoutRaw), Algorithm: p.Algorithm, Threshold: p.Threshold, Queries: p.queries})
			}
			costs, err := s.Measure(ctx, who, setups, harness.Busy)
			if err != nil {
				return err
			}
			for _, p := range all {
				i := slices.IndexFunc(costs, func(c *harness.Cost) bool { return c.Algorithm == p.Algorithm && c.Setup.Threshold == p.Threshold })
				if i < 0 {
					continue // its tables do not fit in memory
				}
				b, err := s.Batches(ctx, who, p.Method, p.queries, harness.Alone)
				if err != nil {
					return err
				}
				seconds, err := s.KernelSeconds(ctx, who, p.Method, p.queries)
				if err != nil {
					return err
				}
				var kernels measure.Summary
				if seconds > 0 {
					kernels = measure.Single(float64(p.queries) / seconds)
				}
				for _, v := range []struct {
					how  string
					rate measure.Summary
				}{{"", costs[i].Rate}, {", a batch at a time", b.Rate}, {", kernels", kernels}} {
					if v.rate.Runs == 0 {
						continue // no device clock
					}
					r := p.Reading
					r.Series += v.how
					r.Row = v.rate.Into(measure.Row{Metric: measure.When(v.how == ", kernels", "kernel ") + "throughput", Unit: "queries/s"})
					s.Put(who.On(r))
				}
			}
		}
		return nil
	}
	return e
}

func (s *wuBench) figure4() harness.Exhibit {
	e := s.blocksFigure("wu-fig4", "Response time of a batch against B, threshold S·T·B", "Wu et al. 2010, Figure 4")
	e.Found = `A batch of binary search takes {{to (rows "@opencl" "bs, average" "")}} ms on average over B, {{one "@opencl" "bs, average" "256"}} at B = 256, and {{to (rows "@opencl" "bs, p99" "")}} at the p99.`
	e.Says = "No more than 10 ms, and nearly flat, while B is less than 256; sharply up beyond."
	e.Ours += " From terms to docIDs on the host with nothing else running: preparation on the CPU, kernels and transfers."
	e.Chart.Y = "response time of a batch, ms"
	e.Run = func(ctx context.Context) error {
		for _, who := range s.Contestants {
			for _, p := range s.blocks(who) {
				b, err := s.Batches(ctx, who, p.Method, p.queries, harness.Alone)
				if err != nil {
					return err
				}
				ordered := slices.Sorted(slices.Values(b.Responses))
				seconds, err := s.KernelSeconds(ctx, who, p.Method, p.queries)
				if err != nil {
					return err
				}
				for _, v := range []struct {
					name string
					ms   float64
				}{{"average", measure.Mean(ordered)}, {"p99", measure.Percentile(ordered, 99)}, {"kernels", seconds * 1e3 / float64(len(ordered))}} {
					if v.ms == 0 {
						continue // no device clock
					}
					r := p.Reading
					r.Series += ", " + v.name
					r.Row = measure.Row{Metric: "response, " + v.name, Unit: "ms", Median: v.ms, Min: v.ms, Max: v.ms, Runs: 1}
					s.Put(who.On(r))
				}
			}
		}
		return nil
	}
	return e
}
