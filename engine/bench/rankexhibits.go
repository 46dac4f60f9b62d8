package bench

import (
	"context"
	"errors"
	"fmt"
	"io"

	"heddle/engine"
	"heddle/engine/plan"
)

// Rank measures ranked retrieval, and reproduces what a paper measured of it:
// opt.Figures and opt.Tables, of RankExhibits. Else it is as Lists.
func Rank(ctx context.Context, opt Options, stdout, stderr io.Writer) error {
	return reproduce(ctx, "rank", rankExhibits(), opt, stdout, stderr)
}

// RankExhibits describes what Rank reproduces, as ListsExhibits does.
func RankExhibits() []string { return headings(rankExhibits()) }

// CheckRank reports names in opt.Figures and opt.Tables that are none of Rank.
func CheckRank(opt Options) error { return check(rankExhibits(), opt) }

// rankExhibits are those of Rank, in the order in which they run: those of one
// workload together.
func rankExhibits() []exhibit {
	return []exhibit{gov2Exhibit(), dingTable2(), dingTable3(), accumulatorsExhibit(), residentExhibit(),
		rankFigureK(), rankFigureFootprint(), sparseExhibit(), textExhibit()}
}

// gov2Bench is the GOV2-like workload, made for the first exhibit that wants it.
func (s *session) gov2Bench(ctx context.Context) (*rankBench, error) {
	return s.rankBench(ctx, "gov2", func(n int) (*ranked, error) { return gov2(ctx, s.opt.Seed, n, s.opt.Docs, s.opt.Codec) })
}

// everyMode holds the setups of all modes and k of a contestant.
func (s *session) everyMode(who contestant, ks []int) (setups []rankSetup) {
	for _, mode := range engine.Modes() {
		for _, k := range ks {
			setups = append(setups, rankSetup{backend: who.name, threads: s.opt.Threads, mode: mode, k: k})
		}
	}
	return setups
}

func gov2Exhibit() exhibit {
	return exhibit{
		name: "gov2", title: "Ranked queries on the GOV2-like workload, end to end",
		ours: "Terms in, documents and scores in host memory out; BM25, the default of the engine. Batches are of the engine's usual making; p50, p95 and p99 are of queries one at a time. Postings: of all lists of the queries, also of those that an AND need not read. Of peak: bytes that kernels ask for, in the time they take, of the measured copy bandwidth.",
		rows: "mode",
		run: func(ctx context.Context, s *session) error {
			b, err := s.gov2Bench(ctx)
			if err != nil {
				return err
			}
			for _, who := range s.contestants {
				if err := b.put(ctx, who, s.everyMode(who, s.opt.K)); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// put measures setups on a contestant and records all there is to say.
func (b *rankBench) put(ctx context.Context, who contestant, setups []rankSetup) error {
	costs, err := b.measure(ctx, who, setups, busy, alone, profiled, counting)
	if err != nil {
		return err
	}
	for _, c := range costs {
		readings := []reading{
			{series: "queries/s", Row: c.rate.into(Row{Metric: "throughput", Unit: "queries/s", PeakFraction: c.peakFraction(), Bytes: c.moved})},
			{series: "G postings/s", Row: c.rate.times(float64(c.postings) / float64(c.queries) / 1e9).into(Row{Metric: "postings", Unit: "G postings/s"})},
			{series: "p50, ms", Row: c.one.p50.into(Row{Metric: "p50", Unit: "ms"})},
			{series: "p95, ms", Row: c.one.p95.into(Row{Metric: "p95", Unit: "ms"})},
			{series: "p99, ms", Row: c.one.p99.into(Row{Metric: "p99", Unit: "ms"})},
		}
		if kernels := c.times.Kernel().Seconds(); kernels > 0 {
			readings = append(readings, reading{series: "kernels, queries/s",
				Row: single(float64(c.queries) / kernels).into(Row{Metric: "kernel throughput", Unit: "queries/s"})})
			if c.moved > 0 {
				readings = append(readings, reading{series: "of peak, %", Row: single(100 * c.peakFraction()).into(Row{Metric: "share of peak", Unit: "%"})})
			}
		}
		for _, r := range readings {
			r.at, r.Row.Row = c.name(), c.name()
			if err := b.reading(who, r); err != nil {
				return err
			}
		}
	}
	return nil
}

// reading records a reading of the workload at hand.
func (b *rankBench) reading(who contestant, r reading) error {
	r.panel, r.Workload = fmt.Sprintf("%s, %s", b.w.name, who), b.w.name
	return b.s.put(who.on(r))
}

// times multiplies a summary by a positive factor.
func (v summary) times(f float64) summary { return summary{v.Median * f, v.Min * f, v.Max * f, v.Runs} }

func accumulatorsExhibit() exhibit {
	return exhibit{
		name: "accumulators", title: "OR by ranges of documents against an accumulator for each document",
		says: "Brute force, a list at a time, with an accumulator for every document, was the fastest way to OR (Ding et al. 2009, section 8.3).",
		ours: "Top-10. Ranges: accumulators of a range of documents in fast memory while all lists pass by. Global: one place a document, a list at a time.",
		rows: "accumulators",
		run: func(ctx context.Context, s *session) error {
			b, err := s.gov2Bench(ctx)
			if err != nil {
				return err
			}
			for _, who := range s.contestants {
				u := rankSetup{backend: who.name, threads: s.opt.Threads, mode: engine.Or, k: 10}
				ranges, err := b.measure(ctx, who, []rankSetup{u}, busy)
				if err != nil {
					return err
				}
				u.accumulators = plan.GlobalAccumulators
				global, err := b.measure(ctx, who, []rankSetup{u}, busy)
				if err != nil || len(ranges)+len(global) < 2 {
					return err
				}
				for i, c := range []*rankCost{ranges[0], global[0]} {
					at, row := [...]string{"ranges", "global"}[i], Row{Metric: "throughput", Unit: "queries/s"}
					row.Baseline, row.Ratio = "global", c.rate.Median/global[0].rate.Median
					if err := b.reading(who, reading{series: "queries/s", at: at, Row: c.rate.into(row)}); err != nil {
						return err
					}
				}
			}
			return nil
		},
	}
}

func residentExhibit() exhibit {
	return exhibit{
		name: "resident", title: "What the GOV2-like workload takes",
		ours: "Bytes of encoded lists by docID, of frequencies by posting, of lengths by document; and all that the backend holds by posting, with scratch and tables.",
		rows: "what",
		run: func(ctx context.Context, s *session) error {
			b, err := s.gov2Bench(ctx)
			if err != nil {
				return err
			}
			src, postings := b.w.source, 0.0
			for _, l := range src.Lists {
				postings += float64(l.Len)
			}
			put := func(who contestant, at string, bytes uint64, of float64) error {
				return b.reading(who, reading{series: "bytes", at: at, Row: single(float64(bytes) / of).into(Row{Metric: "bytes a " + at, Unit: "bytes", Bytes: bytes})})
			}
			for _, who := range s.contestants {
				if _, err := b.measure(ctx, who, s.everyMode(who, []int{10}), busy); err != nil {
					return err
				}
				x, err := b.index(ctx, who, s.opt.Threads, busy)
				if err != nil {
					return err
				}
				if err := errors.Join(
					put(who, "docID", 4*uint64(len(src.Words)), postings),
					put(who, "frequency", 4*uint64(len(src.Freqs)), postings),
					put(who, "length", 4*uint64(len(src.Lengths)), float64(src.Docs)),
					put(who, "posting, all told", x.Memory(), postings),
				); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func sparseExhibit() exhibit {
	return exhibit{
		name: "sparse", title: "Learned sparse retrieval: 45 weighted terms, impacts of 8 bits, k = 1000",
		ours: "8.8 M documents, or as many fewer as of the GOV2-like workload. Exact. Of peak: bytes that kernels ask for, in the time they take, of the measured copy bandwidth.",
		rows: "mode",
		run: func(ctx context.Context, s *session) error {
			docs := uint32(uint64(s.opt.Docs) * sparseDocs / gov2Docs)
			b, err := s.rankBench(ctx, "sparse", func(n int) (*ranked, error) {
				return sparse(ctx, s.opt.Seed, n, docs, s.opt.Codec)
			})
			if err != nil {
				return err
			}
			for _, who := range s.contestants {
				if err := b.put(ctx, who, []rankSetup{{backend: who.name, threads: s.opt.Threads, mode: engine.Or, k: 1000}}); err != nil {
					return err
				}
			}
			return nil
		},
	}
}
