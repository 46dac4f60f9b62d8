package lists

import (
	"context"
	"fmt"

	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
	"heddle/engine/bench/workload"
	"heddle/engine/plan"
)

// skewExhibit intersects lists of different lengths on one core.
func (s *bench) skewExhibit() harness.Exhibit {
	return harness.Exhibit{
		Name: "skew", Title: "Two plain lists on one core of pure Go, by the ratio of their lengths",
		Ours: "The longer list has 4 M docIDs, a mean gap of 16; a third of the shorter one is in both. The lengths of both lists count; per GHz of the clock that was measured. End to end, docIDs copied out. Tables are made at load.",
		Rows: "algorithm",
		Run: func(ctx context.Context) error {
			who, ok := s.Host()
			if !ok {
				return nil
			}
			long := harness.Pick[int](&s.Opt, 4<<20, 256<<10)
			ghz := measure.Clock()
			s.Logf("a core runs at %.2f GHz", ghz)
			algorithms := append([]plan.Algorithm{plan.Auto}, who.Info.Algorithms...)
			for _, ratio := range []int{1, 100, 1000} {
				p, err := workload.NewPair(ctx, s.Opt.Seed, long/ratio, long)
				if err != nil {
					return err
				}
				roars, err := s.roaringPair(p)
				if err != nil {
					return err
				}
				times, err := s.pairTimes(ctx, who, p, 1, algorithms)
				if err != nil {
					return err
				}
				put := func(at string, t measure.Summary, row measure.Row) {
					row.Metric, row.Unit = "intersection", "G inputs/s per GHz"
					s.Put(harness.Reading{Panel: "one core", Series: fmt.Sprintf("1:%d", ratio), At: at, Row: t.Rate(p.Inputs()).Times(1 / ghz).Into(row)})
				}
				if roars.Runs > 0 {
					put(harness.PeerName, roars, measure.Row{})
				}
				for _, a := range algorithms {
					t, ok := times[a]
					if !ok {
						continue
					}
					row := measure.Row{Backend: who.Info.Kind, Device: who.Info.Device}
					if roars.Runs > 0 {
						row.Baseline, row.Ratio = harness.PeerName, roars.Median/t.whole.Median
					}
					put(a.String(), t.whole, row)
				}
			}
			return nil
		},
	}
}
