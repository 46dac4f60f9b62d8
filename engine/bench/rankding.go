package bench

import (
	"context"
	"errors"

	"heddle/engine"
	"heddle/engine/plan"
)

func dingTable2() exhibit {
	paper := map[string]map[engine.Mode]float64{
		"cpu": {engine.And: 8.71, engine.Or: 212.72, engine.AndOr: 23.85},
		"gpu": {engine.And: 7.66, engine.Or: 29.31, engine.AndOr: 9.98},
	}
	return exhibit{
		name: "ding-table2", title: "Average cost of a top-10 query", source: "Ding et al. 2009, Table 2",
		says: "The GPU is seven times as fast as the CPU on OR, a little faster on AND. GeForce 8800 GTS against a core of a Core 2 Duo E6750, GOV2, lists in memory.",
		ours: "Queries one at a time, and what a query costs in batches. A core: pure Go on one thread.",
		rows: "query",
		run: func(ctx context.Context, s *session) error {
			b, err := s.gov2Bench(ctx)
			if err != nil {
				return err
			}
			for _, who := range s.contestants {
				threads := []int{s.opt.Threads}
				if who.name == "host" && s.opt.Threads > 1 {
					threads = append(threads, 1)
				}
				for _, n := range threads {
					setups := s.everyMode(who, []int{10})
					for i := range setups {
						setups[i].threads = n
					}
					costs, err := b.measure(ctx, who, setups, busy, alone)
					if err != nil {
						return err
					}
					for _, c := range costs {
						core := who.name == "host" && n == 1
						at := c.mode.String() + known(core, ", a core")
						batched := summary{1e3 / c.rate.Median, 1e3 / c.rate.Max, 1e3 / c.rate.Min, c.rate.Runs}
						was := paper[who.info.Type][c.mode]
						if who.info.Type == "cpu" && !core {
							was = 0 // the paper has one core
						}
						if err := errors.Join(
							b.reading(who, reading{series: "one at a time, ms", at: at, paper: was, Row: c.one.mean.into(Row{Metric: "mean", Unit: "ms"})}),
							b.reading(who, reading{series: "in batches, ms", at: at, Row: batched.into(Row{Metric: "mean in batches", Unit: "ms"})}),
						); err != nil {
							return err
						}
					}
				}
			}
			return nil
		},
	}
}

func dingTable3() exhibit {
	type stage struct {
		name  string
		of    func(t *plan.Stats) float64
		paper map[engine.Mode]float64
	}
	stages := []stage{
		{"decompression", func(t *plan.Stats) float64 { return t.Decode.Seconds() }, map[engine.Mode]float64{engine.And: 47, engine.Or: 30}},
		{"intersection", func(t *plan.Stats) float64 { return t.Probe.Seconds() + t.Compact.Seconds() }, map[engine.Mode]float64{engine.And: 45}},
		{"scoring", func(t *plan.Stats) float64 { return t.Score.Seconds() }, map[engine.Mode]float64{engine.Or: 48}},
		{"top-k", func(t *plan.Stats) float64 { return t.Select.Seconds() }, map[engine.Mode]float64{engine.And: 8, engine.Or: 13}},
	}
	return exhibit{
		name: "ding-table3", title: "Share of each stage in the time of kernels, top-10", source: "Ding et al. 2009, Table 3",
		says: "AND: decompression and intersection take most, top-k with scoring 8 %. OR: almost half is scoring, which has the updates of accumulators; 9 % is their initialization.",
		ours: "Accumulators are zeroed by the kernel that scores. Scoring of an AND is part of its intersection where one kernel does both. Transfers are beside the kernels, as shares of the kernels' time.",
		rows: "stage",
		run: func(ctx context.Context, s *session) error {
			b, err := s.gov2Bench(ctx)
			if err != nil {
				return err
			}
			for _, who := range s.contestants {
				var setups []rankSetup
				for _, mode := range []engine.Mode{engine.And, engine.Or} {
					setups = append(setups, rankSetup{backend: who.name, threads: s.opt.Threads, mode: mode, k: 10})
				}
				costs, err := b.measure(ctx, who, setups, profiled)
				if err != nil {
					return err
				}
				for _, c := range costs {
					whole := c.times.Kernel().Seconds()
					if whole == 0 {
						continue // no clock of kernels
					}
					put := func(at string, seconds, paper float64) error {
						return b.reading(who, reading{series: c.mode.String() + ", %", at: at, paper: paper,
							Row: single(100 * seconds / whole).into(Row{Row: c.mode.String() + " " + at, Metric: "share of kernels", Unit: "%"})})
					}
					for _, st := range stages {
						if err := put(st.name, st.of(&c.times), st.paper[c.mode]); err != nil {
							return err
						}
					}
					if err := errors.Join(put("upload", c.times.Upload.Seconds(), 0), put("download", c.times.Download.Seconds(), 0)); err != nil {
						return err
					}
				}
			}
			return nil
		},
	}
}
