package rank

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"

	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
	"heddle/engine/bench/workload"
	"heddle/engine/index/bm25"
	"heddle/engine/plan"
	"heddle/hostfallback"
)

// pisaAlgorithms are the algorithms of PISA that are measured, by mode.
var pisaAlgorithms = []struct {
	mode  workload.Mode
	names []string
}{{workload.Or, []string{"maxscore", "block_max_maxscore", "block_max_wand"}}, {workload.And, []string{"ranked_and", "block_max_ranked_and"}}}

// pisaExhibit ranks the GOV2-like workload with pure Go and with the programs of PISA.
func (s *bench) pisaExhibit() harness.Exhibit {
	return harness.Exhibit{
		Name: "pisa", Title: "Ranked queries on the GOV2-like workload, pure Go and PISA",
		Ours: "One core, one query at a time, in turns; the mean over the queries of the least time of each one. PISA (block_simdbp, block maxima for every 40 postings) starts behind the analysis of queries; heddle's time includes the calls of the engine. BM25 with PISA's weights; both rank the same documents, except for nearly equal scores. In PISA's memory: lists and tables of heddle take as many bytes as the files of PISA. Ratio: the time of PISA's fastest algorithm over heddle's.",
		Rows: "query",
		Run: func(ctx context.Context) error {
			who, ok := s.Host()
			if !ok || s.Opt.PISA == "" {
				s.Logf("pisa left out: it needs pure Go and --pisa DIR, the folder of PISA's programs")
				return nil
			}
			if err := checkPrograms(s.Opt.PISA); err != nil {
				return err
			}
			if err := s.gov2Bench(ctx); err != nil {
				return err
			}
			folder, err := os.MkdirTemp("", "heddle-pisa-")
			if err != nil {
				return err
			}
			defer os.RemoveAll(folder)
			return s.putPISA(ctx, who, folder)
		},
	}
}

// putPISA measures the current workload with pure Go and with PISA.
func (s *bench) putPISA(ctx context.Context, who harness.Contestant, folder string) error {
	n := min(s.Opt.RankQueryCount(who.Info.Type), len(s.W.Queries))
	c := s.pisaData(n)
	s.Logf("indexing %d documents with PISA", len(c.Lengths))
	peer, err := buildPISA(ctx, s.Opt.PISA, folder, c)
	if err != nil {
		return err
	}
	bytes, err := peer.Bytes()
	if err != nil {
		return err
	}
	x, err := s.index(ctx, who, 1, harness.Alone)
	if err != nil {
		return err
	}
	lists := 4 * int64(len(s.W.Source.Words)+len(s.W.Source.Freqs))
	small := hostfallback.New(hostfallback.Options{Threads: 1, MemoryLimit: uint64(max(bytes-lists, 1<<20))})
	defer small.Close()
	y, err := harness.NewIndexOn(ctx, small, 1, s.W.Source, s.W.Dict)
	if err != nil {
		return err
	}
	defer y.Close()
	s.Logf("PISA: %.1f MB; lists of heddle: %.1f MB", float64(bytes)/1e6, float64(lists)/1e6)
	both := []*harness.Index{x, y}
	scoring := s.W.Params
	scoring.Variant = bm25.PISA
	for _, m := range pisaAlgorithms {
		for _, k := range s.Opt.K {
			opt := harness.RankOptions{Mode: m.mode, K: k, Scoring: &scoring}
			for _, x := range both {
				if err := s.samePISA(ctx, x, peer, n, m.names, opt); err != nil {
					return fmt.Errorf("%v k=%d: %w", m.mode, k, err)
				}
			}
			if err := s.racePISA(ctx, who, both, peer, n, m.names, opt); err != nil {
				return fmt.Errorf("%v k=%d: %w", m.mode, k, err)
			}
		}
	}
	return nil
}

// pisaData returns the first n queries and all lists of the workload for PISA.
func (s *bench) pisaData(n int) *pisaCollection {
	src := s.W.Source
	c := &pisaCollection{Lengths: src.Lengths, Lists: len(src.Lists), Queries: s.W.Handles[:n], Params: s.W.Params}
	var docs, freqs []uint32
	c.List = func(list int) (_, _ []uint32, err error) {
		if docs, err = src.List(plan.Handle(list)).AppendTo(docs[:0]); err != nil {
			return nil, nil, err
		}
		packed, err := src.Freq(plan.Handle(list))
		if err != nil {
			return nil, nil, err
		}
		freqs, err = packed.AppendTo(freqs[:0])
		for i := range freqs {
			freqs[i]++
		}
		return docs, freqs, err
	}
	return c
}

// samePISA compares the answers of x with the answers of each algorithm of PISA.
func (s *bench) samePISA(ctx context.Context, x *harness.Index, peer *pisaIndex, n int, algorithms []string, opt harness.RankOptions) error {
	ours := make([]pisaRanking, n)
	err := x.Rank(ctx, s.W.Queries[:n], opt, func(first int, hits []harness.Hits) error {
		for i, h := range hits {
			ours[first+i] = pisaRanking{Docs: slices.Clone(h.Docs), Scores: slices.Clone(h.Scores)}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, a := range algorithms {
		theirs, err := peer.Rank(ctx, a, opt.K)
		if err != nil {
			return err
		}
		for q := range ours {
			if err := compareRankings(ours[q], theirs[q]); err != nil {
				return fmt.Errorf("%s, query %d: %w", a, q, err)
			}
		}
	}
	return nil
}

// racePISA times both indexes and each algorithm of PISA in turns and records their times.
func (s *bench) racePISA(ctx context.Context, who harness.Contestant, both []*harness.Index, peer *pisaIndex, n int, algorithms []string, opt harness.RankOptions) error {
	least := make([][]float64, len(both)+len(algorithms)) // least time of each query, in microseconds
	for range s.Opt.Runs {
		for i, x := range both {
			own, err := oneAtATime(n, 1, func(i int) error {
				_, err := x.RankOne(ctx, s.W.Queries[i], opt)
				return err
			})
			if err != nil {
				return err
			}
			for i := range own.each {
				own.each[i] *= 1e3
			}
			least[i] = minima(least[i], own.each)
		}
		for i, a := range algorithms {
			times, err := peer.Time(ctx, a, opt.K)
			if err != nil {
				return err
			}
			least[len(both)+i] = minima(least[len(both)+i], times)
		}
	}
	best := math.Inf(1)
	for _, times := range least[len(both):] {
		best = min(best, mean(times))
	}
	at := fmt.Sprintf("%v k=%d", opt.Mode, opt.K)
	names := append([]string{"heddle", "heddle in PISA's memory"}, algorithms...)
	for i, times := range least {
		row := measure.Row{Workload: s.W.Name, Row: names[i] + ", " + at, Metric: "response", Unit: "µs"}
		if i < len(both) {
			row.Backend, row.Device, row.Baseline, row.Ratio = "host", who.Info.Device, "pisa", best/mean(times)
		}
		s.Put(harness.Reading{Panel: s.W.Name + ", one core", Series: names[i] + ", µs", At: at, Row: measure.Single(mean(times)).Into(row)})
	}
	return nil
}

// minima returns the least times of each query; old is nil before the first ones.
func minima(old, times []float64) []float64 {
	for i := range old {
		times[i] = min(times[i], old[i])
	}
	return times
}

func mean(x []float64) (sum float64) {
	for _, v := range x {
		sum += v
	}
	return sum / float64(max(len(x), 1))
}
