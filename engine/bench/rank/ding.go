package rank

import (
	"context"

	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
	"heddle/engine/bench/workload"
	"heddle/engine/plan"
)

func (s *bench) dingTable2() harness.Exhibit {
	paper := map[string]map[workload.Mode]float64{
		"cpu": {workload.And: 8.71, workload.Or: 212.72, workload.AndOr: 23.85},
		"gpu": {workload.And: 7.66, workload.Or: 29.31, workload.AndOr: 9.98},
	}
	return harness.Exhibit{
		Name: "ding-table2", Title: "Average cost of a top-10 query", Source: "Ding et al. 2009, Table 2",
		Found: `One at a time, the paper's GPU takes {{to (over (paper (rows "@opencl" "one at*" "or")) (rows "@opencl" "one at*" "or"))}} times the device's time for OR and {{to (over (paper (rows "@opencl" "one at*" "and")) (rows "@opencl" "one at*" "and"))}} for AND, the paper's CPU {{to (over (paper (rows "@host" "one at*" "or, a core")) (rows "@host" "one at*" "or, a core"))}} and {{to (over (paper (rows "@host" "one at*" "and, a core")) (rows "@host" "one at*" "and, a core"))}} times that of a core of pure Go. A core takes {{to (over (rows "@host" "one at*" "or, a core") (rows "@opencl" "one at*" "or"))}} times the device's time for OR (paper {{to (over (paper (rows "@host" "one at*" "or, a core")) (paper (rows "@opencl" "one at*" "or")))}}) and {{to (over (rows "@host" "one at*" "and, a core") (rows "@opencl" "one at*" "and"))}} for AND ({{to (over (paper (rows "@host" "one at*" "and, a core")) (paper (rows "@opencl" "one at*" "and")))}}), all cores {{to (over (rows "@host" "one at*" "or") (rows "@opencl" "one at*" "or"))}} and {{to (over (rows "@host" "one at*" "and") (rows "@opencl" "one at*" "and"))}} times.`,
		Says:  "The GPU is seven times as fast as the CPU on OR, a little faster on AND. GeForce 8800 GTS against a core of a Core 2 Duo E6750, GOV2, lists in memory.",
		Ours:  "Queries one at a time, and the time of a query in batches. A core: pure Go on one thread.",
		Rows:  "query",
		Run: func(ctx context.Context) error {
			if err := s.gov2Bench(ctx); err != nil {
				return err
			}
			for _, who := range s.Contestants {
				threads := []int{s.Opt.Threads}
				if who.Name == "host" && s.Opt.Threads > 1 {
					threads = append(threads, 1)
				}
				for _, n := range threads {
					setups := s.everyMode(who, []int{10})
					for i := range setups {
						setups[i].threads = n
					}
					costs, err := s.measure(ctx, who, setups, harness.Busy, harness.Alone)
					if err != nil {
						return err
					}
					for _, c := range costs {
						core := who.Name == "host" && n == 1
						at := c.mode.String() + measure.When(core, ", a core")
						batched := c.rate.Per(1e3)
						was := paper[who.Info.Type][c.mode]
						if who.Info.Type == "cpu" && !core {
							was = 0 // the paper measured one core
						}
						s.reading(who, harness.Reading{Series: "one at a time, ms", At: at, Paper: was, Row: c.one.mean.Into(measure.Row{Metric: "mean", Unit: "ms"})})
						s.reading(who, harness.Reading{Series: "in batches, ms", At: at, Row: batched.Into(measure.Row{Metric: "mean in batches", Unit: "ms"})})
					}
				}
			}
			return nil
		},
	}
}

func (s *bench) dingTable3() harness.Exhibit {
	type stage struct {
		name  string
		of    func(t *plan.Stats) float64
		paper map[workload.Mode]float64
	}
	stages := []stage{
		{"initialization", func(t *plan.Stats) float64 { return t.Clear.Seconds() }, map[workload.Mode]float64{workload.Or: 9}},
		{"decompression", func(t *plan.Stats) float64 { return t.Decode.Seconds() }, map[workload.Mode]float64{workload.And: 47, workload.Or: 30}},
		{"intersection", func(t *plan.Stats) float64 { return t.Probe.Seconds() + t.Compact.Seconds() }, map[workload.Mode]float64{workload.And: 45}},
		{"scoring", func(t *plan.Stats) float64 { return t.Score.Seconds() }, map[workload.Mode]float64{workload.Or: 48}},
		{"top-k", func(t *plan.Stats) float64 { return t.Select.Seconds() }, map[workload.Mode]float64{workload.Or: 13}},
		{"scoring and top-k", func(t *plan.Stats) float64 { return t.Score.Seconds() + t.Select.Seconds() }, map[workload.Mode]float64{workload.And: 8}},
	}
	return harness.Exhibit{
		Name: "ding-table3", Title: "Share of each stage in the time of kernels, top-10", Source: "Ding et al. 2009, Table 3",
		Found: `With global accumulators clearing takes {{one "" "or with global*" "initialization"}} % (paper {{to (paper (rows "" "or with global*" "initialization"))}}) and the choice of the best {{one "" "or with global*" "top-k"}} % ({{to (paper (rows "" "or with global*" "top-k"))}}), decompression {{one "" "or with global*" "decompression"}} % ({{to (paper (rows "" "or with global*" "decompression"))}}). Of AND, scoring and choice together take {{one "" "and, %" "scoring and top-k"}} % ({{to (paper (rows "" "and, %" "scoring and top-k"))}}).`,
		Says:  "AND: decompression and intersection take most, top-k with scoring 8 %. OR: almost half is scoring, which has the updates of accumulators; 9 % is their initialization.",
		Ours:  "OR with global accumulators, one for each document, as in the paper, beside our OR, whose accumulators are of a range of documents and are zeroed by the kernel that scores. Scoring of an AND is part of its intersection where one kernel does both. The paper has one share for the scoring and the choice of an AND. Transfers are beside the kernels, as shares of the kernels' time.",
		Rows:  "stage",
		Run: func(ctx context.Context) error {
			if err := s.gov2Bench(ctx); err != nil {
				return err
			}
			setups := func(who harness.Contestant) (setups []setup) {
				for _, mode := range []workload.Mode{workload.And, workload.Or} {
					setups = append(setups, setup{backend: who.Name, threads: s.Opt.Threads, mode: mode, k: 10})
				}
				return append(setups, setup{backend: who.Name, threads: s.Opt.Threads, mode: workload.Or, k: 10, accumulators: plan.GlobalAccumulators})
			}
			return s.eachCost(ctx, setups, func(who harness.Contestant, c *cost) {
				whole := c.times.Kernel().Seconds()
				if whole == 0 {
					return // no device clock
				}
				global := c.accumulators == plan.GlobalAccumulators
				name := c.mode.String() + measure.When(global, " with global accumulators")
				put := func(at string, seconds, paper float64) {
					s.reading(who, harness.Reading{Series: name + ", %", At: at, Paper: paper,
						Row: measure.Single(100 * seconds / whole).Into(measure.Row{Row: name + " " + at, Metric: "share of kernels", Unit: "%"})})
				}
				for _, st := range stages {
					paper := st.paper[c.mode]
					if c.mode == workload.Or && !global {
						paper = 0 // the paper's accumulators are global
					}
					put(st.name, st.of(&c.times), paper)
				}
				put("upload", c.times.Upload.Seconds(), 0)
				put("download", c.times.Download.Seconds(), 0)
			}, harness.Profiled)
		},
	}
}
