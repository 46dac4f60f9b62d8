package lists

import (
	"context"
	"fmt"

	"heddle/cl"
	"heddle/engine/bench/chart"
	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
	"heddle/engine/bench/workload"
	"heddle/engine/plan"
)

// scaledEntries are the two algorithms of Figure 9.
func scaledEntries(o *harness.Options) (all []entry) {
	all = append(all, entry{name: "HS16", encoding: workload.DefaultEncoding(workload.LayoutRaw), algorithm: plan.HS16})
	for _, e := range compressedEntries(o) {
		if e.name == "HS256.LRC" {
			all = append(all, e)
		}
	}
	return all
}

func (s *bench) aoFigure9a() harness.Exhibit {
	return harness.Exhibit{
		Name: "ao-fig9a", Title: "Speedup as the number of cores increases", Source: "Ao et al. 2011, Figure 9 (a)",
		Says:  "The speedup is almost proportional to the number of multiprocessors that are not switched off.",
		Found: `Pure Go is {{to (highest "series" (rows "@host" "" ""))}} times as fast on {{places (highest "series" (rows "@host" "" ""))}} cores as on one, the GPU {{to (rows "*NVIDIA*" "" "132")}} times on 132 compute units as on 4, PoCL {{to (rows "*pthread*" "" "2")}} times on 2 cores, which other work shared.`,
		Ours: "Pure Go runs on the given number of cores, end to end. OpenCL divides no GPU into sub-devices; instead, a launch on a device has at most that number of work-groups, which the device spreads over its compute units, " +
			"and one batch is in flight. PoCL: one of the 16 themes of the lists. The rate is that of the kernels by the device's clock.",
		Data: harness.GovOrder, Rows: "cores",
		Chart: chart.Chart{Kind: chart.Lines, X: "cores, or work-groups of a launch", LogX: true, LogY: true, Y: "times the throughput of the least number"},
		Run: func(ctx context.Context) error {
			for _, who := range s.Contestants {
				run := s.onCores
				if who.Device != nil {
					run = s.onGroups
				}
				for _, e := range scaledEntries(&s.Opt) {
					if err := run(ctx, who, e); err != nil {
						return err
					}
				}
			}
			return nil
		},
	}
}

// doubled are powers of two times the first number, and the last number.
func doubled(first, last int) (all []int) {
	for n := first; n < last; n *= 2 {
		all = append(all, n)
	}
	return append(all, last)
}

// onCores measures pure Go on one core to all of them.
func (s *bench) onCores(ctx context.Context, who harness.Contestant, e entry) error {
	var setups []harness.Setup
	for _, n := range doubled(1, s.Opt.Threads) {
		setups = append(setups, harness.Setup{Backend: who.Name, Threads: n, Encoding: e.encoding, Algorithm: e.algorithm, Threshold: paperThreshold})
	}
	costs, err := s.Measure(ctx, who, setups, harness.Busy)
	if err != nil {
		return err
	}
	for _, c := range costs {
		s.putSpeedup(who, e, c.Threads, c.Rate.Times(1/costs[0].Rate.Median))
	}
	return nil
}

// onGroups measures the kernels of a device with launches of few work-groups, up to one
// for each compute unit.
func (s *bench) onGroups(ctx context.Context, who harness.Contestant, e entry) error {
	if err := s.CloseIndex(); err != nil { // it may take the memory of the device
		return err
	}
	src, err := s.Source(ctx, e.encoding)
	if err != nil {
		return err
	}
	units := who.Info.ComputeUnits
	var least float64 // seconds of the first number
	for _, n := range doubled(max(units/32, 1), units) {
		few := who.Device.With(func(_ *plan.Info, t *cl.Tuning) { t.RoundTiles, t.Slots = n, 1 })
		seconds, err := s.kernelTime(ctx, few, src, harness.MatchOptions{Algorithm: e.algorithm, Candidates: paperThreshold})
		if err != nil {
			return err
		}
		if least == 0 {
			least = seconds
		}
		s.putSpeedup(who, e, n, measure.Single(least/seconds))
	}
	return nil
}

// kernelTime returns the seconds in the kernels of a device for a part of the queries.
func (s *bench) kernelTime(ctx context.Context, d *cl.Device, src *plan.Source, opt harness.MatchOptions) (float64, error) {
	b, err := cl.Open(ctx, d, cl.Options{Profiling: true, SkipSelfTest: true})
	if err != nil {
		return 0, err
	}
	defer b.Close()
	x, err := harness.NewIndexOn(ctx, b, 0, src, s.Dict)
	if err != nil {
		return 0, err
	}
	defer x.Close()
	sum, err := x.Times(ctx, s.Queries[:min(len(s.Queries), harness.Pick(&s.Opt, 2000, 50))], opt)
	return sum.Kernel().Seconds(), err
}

func (s *bench) putSpeedup(who harness.Contestant, e entry, n int, speedup measure.Summary) {
	s.Put(who.On(harness.Reading{Panel: s.Panel(who), Series: e.name, At: fmt.Sprint(n), X: float64(n),
		Row: speedup.Into(measure.Row{Metric: "speedup", Unit: "times the least number"})}))
}
