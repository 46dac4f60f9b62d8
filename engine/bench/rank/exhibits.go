package rank

import (
	"context"
	"fmt"

	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
	"heddle/engine/bench/workload"
	"heddle/engine/plan"
)

// gov2Bench makes the GOV2-like workload for the first exhibit that needs it.
func (s *bench) gov2Bench(ctx context.Context) error {
	return s.Want(ctx, "gov2", func(n int) (*Workload, error) { return s.gov2(ctx, n, workload.Clustered) })
}

func (s *bench) gov2(ctx context.Context, n int, order workload.Order) (*Workload, error) {
	return GOV2(ctx, s.Opt.Seed, n, s.Opt.Docs, s.Opt.Codec, order)
}

// everyMode returns the setups of all modes and result sizes on a contestant.
func (s *bench) everyMode(who harness.Contestant, ks []int) (setups []setup) {
	for _, mode := range workload.Modes() {
		for _, k := range ks {
			setups = append(setups, setup{backend: who.Name, threads: s.Opt.Threads, mode: mode, k: k})
		}
	}
	return setups
}

func (s *bench) gov2Exhibit() harness.Exhibit {
	return harness.Exhibit{
		Name: "gov2", Title: "Ranked queries on the GOV2-like workload, end to end",
		Ours: "Terms in, documents and scores in host memory out; BM25, the default of the engine. Batches are of the engine's usual making; p50, p95 and p99 are of queries one at a time. Postings: of all lists of the queries, including lists that an AND need not read. Of peak: bytes that kernels ask for, in the time they take, of the measured copy bandwidth.",
		Rows: "mode",
		Run: func(ctx context.Context) error {
			if err := s.gov2Bench(ctx); err != nil {
				return err
			}
			return s.putCosts(ctx, func(who harness.Contestant) []setup { return s.everyMode(who, s.Opt.K) })
		},
	}
}

func (s *bench) reorderedExhibit() harness.Exhibit {
	return harness.Exhibit{
		Name: "gov2-reordered", Title: "Ranked queries on the GOV2-like workload, reordered",
		Ours: "As gov2, but the sites of a topic are neighbours, as after a reordering of the documents.",
		Rows: "mode",
		Run: func(ctx context.Context) error {
			if err := s.Want(ctx, "gov2-reordered", func(n int) (*Workload, error) { return s.gov2(ctx, n, workload.Reordered) }); err != nil {
				return err
			}
			return s.putCosts(ctx, func(who harness.Contestant) []setup { return s.everyMode(who, s.Opt.K) })
		},
	}
}

// eachCost measures the setups of every contestant and calls put with their costs.
func (s *bench) eachCost(ctx context.Context, setups func(who harness.Contestant) []setup, put func(who harness.Contestant, c *cost), wanted ...harness.Access) error {
	for _, who := range s.Contestants {
		costs, err := s.measure(ctx, who, setups(who), wanted...)
		if err != nil {
			return err
		}
		for _, c := range costs {
			put(who, c)
		}
	}
	return nil
}

// putCosts measures setups on every contestant and records all their figures.
func (s *bench) putCosts(ctx context.Context, setups func(who harness.Contestant) []setup) error {
	return s.eachCost(ctx, setups, func(who harness.Contestant, c *cost) {
		readings := []harness.Reading{
			{Series: "queries/s", Row: c.rate.Into(measure.Row{Metric: "throughput", Unit: "queries/s", PeakFraction: c.peakFraction(), Bytes: c.moved})},
			{Series: "G postings/s", Row: c.rate.Times(float64(c.postings) / float64(c.queries) / 1e9).Into(measure.Row{Metric: "postings", Unit: "G postings/s"})},
			{Series: "p50, ms", Row: c.one.p50.Into(measure.Row{Metric: "p50", Unit: "ms"})},
			{Series: "p95, ms", Row: c.one.p95.Into(measure.Row{Metric: "p95", Unit: "ms"})},
			{Series: "p99, ms", Row: c.one.p99.Into(measure.Row{Metric: "p99", Unit: "ms"})},
		}
		if kernels := c.times.Kernel().Seconds(); kernels > 0 {
			readings = append(readings, harness.Reading{Series: "kernels, queries/s",
				Row: measure.Single(float64(c.queries) / kernels).Into(measure.Row{Metric: "kernel throughput", Unit: "queries/s"})})
			if c.moved > 0 {
				readings = append(readings, harness.Reading{Series: "of peak, %", Row: measure.Single(100 * c.peakFraction()).Into(measure.Row{Metric: "share of peak", Unit: "%"})})
			}
		}
		for _, r := range readings {
			r.At, r.Row.Row = c.name(), c.name()
			s.reading(who, r)
		}
	}, harness.Busy, harness.Alone, harness.Profiled, harness.Counting)
}

// reading records a reading of the current workload.
func (s *bench) reading(who harness.Contestant, r harness.Reading) {
	r.Panel, r.Workload = fmt.Sprintf("%s, %s", s.W.Name, who), s.W.Name
	s.Put(who.On(r))
}

func (s *bench) accumulatorsExhibit() harness.Exhibit {
	return harness.Exhibit{
		Name: "accumulators", Title: "OR by ranges against an accumulator for each document", Source: "Ding et al. 2009, §8.3",
		Found: `By ranges OR has {{to (over (rows "@opencl" "" "ranges") (rows "@opencl" "" "global"))}} times the rate of global accumulators on the device, and {{to (over (rows "@host" "" "ranges") (rows "@host" "" "global"))}} times in pure Go.`,
		Says:  "Brute force, a list at a time, with an accumulator for every document, was the fastest way to OR.",
		Ours:  "Best 10. Ranges: the accumulators of a range of documents lie in fast memory while all lists pass. Global: one accumulator for each document, one list at a time.",
		Rows:  "accumulators",
		Run: func(ctx context.Context) error {
			if err := s.gov2Bench(ctx); err != nil {
				return err
			}
			for _, who := range s.Contestants {
				u := setup{backend: who.Name, threads: s.Opt.Threads, mode: workload.Or, k: 10}
				ranges, err := s.measure(ctx, who, []setup{u}, harness.Busy)
				if err != nil {
					return err
				}
				u.accumulators = plan.GlobalAccumulators
				global, err := s.measure(ctx, who, []setup{u}, harness.Busy)
				if err != nil || len(ranges)+len(global) < 2 {
					return err
				}
				for i, c := range []*cost{ranges[0], global[0]} {
					at, row := [...]string{"ranges", "global"}[i], measure.Row{Metric: "throughput", Unit: "queries/s"}
					row.Baseline, row.Ratio = "global", c.rate.Median/global[0].rate.Median
					s.reading(who, harness.Reading{Series: "queries/s", At: at, Row: c.rate.Into(row)})
				}
			}
			return nil
		},
	}
}

func (s *bench) residentExhibit() harness.Exhibit {
	return harness.Exhibit{
		Name: "resident", Title: "What the GOV2-like workload takes",
		Ours: "Bytes of encoded lists by docID, of frequencies by posting, of lengths by document; and all that the backend holds by posting, with scratch and tables.",
		Rows: "what",
		Run: func(ctx context.Context) error {
			if err := s.gov2Bench(ctx); err != nil {
				return err
			}
			src, postings := s.W.Source, 0.0
			for _, l := range src.Lists {
				postings += float64(l.Len)
			}
			put := func(who harness.Contestant, at string, bytes uint64, of float64) {
				s.reading(who, harness.Reading{Series: "bytes", At: at, Row: measure.Single(float64(bytes) / of).Into(measure.Row{Metric: "bytes a " + at, Unit: "bytes", Bytes: bytes})})
			}
			for _, who := range s.Contestants {
				if _, err := s.measure(ctx, who, s.everyMode(who, []int{10}), harness.Busy); err != nil {
					return err
				}
				x, err := s.index(ctx, who, s.Opt.Threads, harness.Busy)
				if err != nil {
					return err
				}
				put(who, "docID", 4*uint64(len(src.Words)), postings)
				put(who, "frequency", 4*uint64(len(src.Freqs)), postings)
				put(who, "length", 4*uint64(len(src.Lengths)), float64(src.Docs))
				put(who, "posting, all told", x.Memory(), postings)
			}
			return nil
		},
	}
}

func (s *bench) sparseExhibit() harness.Exhibit {
	return harness.Exhibit{
		Name: "sparse", Title: "Learned sparse retrieval: 43 weighted terms, impacts of 8 bits",
		Ours: "8.8 M documents, or as many fewer as of the GOV2-like workload. Exact. Of peak: bytes that kernels ask for, in the time they take, of the measured copy bandwidth.",
		Rows: "mode",
		Run: func(ctx context.Context) error {
			docs := uint32(uint64(s.Opt.Docs) * SparseDocs / harness.GOV2Docs)
			err := s.Want(ctx, "sparse", func(n int) (*Workload, error) {
				return Sparse(ctx, s.Opt.Seed, n, docs, s.Opt.Codec, workload.Reordered)
			})
			if err != nil {
				return err
			}
			return s.putCosts(ctx, func(who harness.Contestant) []setup {
				return []setup{
					{backend: who.Name, threads: s.Opt.Threads, mode: workload.Or, k: 10},
					{backend: who.Name, threads: s.Opt.Threads, mode: workload.Or, k: 1000},
				}
			})
		},
	}
}
