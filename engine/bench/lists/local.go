package lists

import (
	"context"

	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
	"heddle/engine/bench/workload"
	"heddle/engine/plan"
)

// aoLocal compares one safe range a list with local safe ranges.
func (s *bench) aoLocal() harness.Exhibit {
	return harness.Exhibit{
		Name: "ao-local", Title: "Local safe ranges against one safe range a list", Source: "Ao et al. 2011, §4.3",
		Says:  "Local safe range has a narrower range, but is not superior, because of extra floating point operations.",
		Ours:  "Plain lists at a threshold of 1 M. lrsplit is the local safe range of the paper: lists split into segments of 256 docIDs with a line and a safe range each, in exact integers; binary search finds the segment. lrseg has one line for a list, which finds the segment too, and a safe range a segment.",
		Found: `lrsplit has {{to (over (rows "throughput*" "" "lrsplit") (rows "throughput*" "" "lr"))}} times the rate of lr, and lrseg {{to (over (rows "throughput*" "" "lrseg") (rows "throughput*" "" "lr"))}} times.`,
		Data:  byColumn, Rows: "algorithm",
		Run: func(ctx context.Context) error {
			var entries []entry
			for _, a := range []plan.Algorithm{plan.BS, plan.LR, plan.LRSplit, plan.LRSeg} {
				entries = append(entries, entry{name: a.String(), encoding: workload.DefaultEncoding(workload.LayoutRaw), algorithm: a})
			}
			return s.eachEntry(ctx, entries, func(who harness.Contestant, e entry, c *harness.Cost) {
				s.Put(who.On(harness.Reading{Panel: "throughput, " + who.String(), Series: s.W.Set.Name, At: e.name,
					Row: c.Rate.Into(measure.Row{Metric: "throughput", Unit: "queries/s"})}))
				s.putKernels(who, e, c)
			}, harness.Busy, harness.Profiled)
		},
	}
}
