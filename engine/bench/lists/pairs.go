package lists

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
	"heddle/engine/bench/workload"
	"heddle/engine/index/hdl"
	"heddle/engine/plan"
)

// pairTimes are the times of one intersection in seconds: end to end, and of the
// kernels alone. Pure Go has no kernels.
type pairTimes struct {
	whole, kernels measure.Summary
	moved          uint64
	peak           float64
}

// pairTimes intersects a pair with algorithms. The result omits algorithms that the
// contestant lacks or whose tables do not fit in memory. Every answer is checked once.
func (s *bench) pairTimes(ctx context.Context, who harness.Contestant, p *workload.Pair, threads int, algorithms []plan.Algorithm) (map[plan.Algorithm]pairTimes, error) {
	dict, err := hdl.NewDictionary([]string{"a", "b"})
	if err != nil {
		return nil, err
	}
	query := []workload.Query{{Terms: []string{"a", "b"}}}
	times := make(map[plan.Algorithm]pairTimes)
	for _, a := range []harness.Access{harness.Alone, harness.Profiled, harness.Counting} {
		if a != harness.Alone && who.Name == "host" {
			break
		}
		x, err := harness.NewIndex(ctx, s.Runner, who, threads, a, p.Source, dict)
		if err != nil {
			return nil, err
		}
		for _, algorithm := range algorithms {
			if !who.Runs(algorithm) {
				continue
			}
			t := times[algorithm]
			if err = s.pairRun(ctx, who, x, query, p, algorithm, a, &t); err != nil {
				if errors.Is(err, plan.ErrOutOfMemory) {
					continue
				}
				break
			}
			times[algorithm] = t
		}
		if err = errors.Join(err, x.Close()); err != nil {
			return nil, err
		}
	}
	return times, nil
}

// pairRun measures one of the times of an algorithm.
func (s *bench) pairRun(ctx context.Context, who harness.Contestant, x *harness.Index, query []workload.Query, p *workload.Pair, algorithm plan.Algorithm, a harness.Access, t *pairTimes) (err error) {
	once := func(check bool) (stats plan.Stats, err error) {
		err = x.Match(ctx, query, harness.MatchOptions{Algorithm: algorithm, Stats: &stats}, func(_ int, hits []harness.Hits) error {
			if check && !slices.Equal(hits[0].Docs, p.Want) {
				return fmt.Errorf("%s gives other docIDs than a merge", algorithm)
			}
			return nil
		})
		return stats, err
	}
	stats, err := once(true)
	if err != nil {
		return err
	}
	if a == harness.Counting {
		t.moved = stats.BytesMoved
		return nil
	}
	var whole, kernels []float64
	began := time.Now()
	for run := 0; run < s.Opt.Runs || time.Since(began) < s.LeastTime(); run++ {
		start := time.Now()
		if stats, err = once(false); err != nil {
			return err
		}
		whole = append(whole, time.Since(start).Seconds())
		kernels = append(kernels, stats.Kernel().Seconds())
	}
	if a == harness.Alone {
		t.whole = measure.Summarize(whole)
		return nil
	}
	t.kernels = measure.Summarize(kernels)
	t.peak = s.Peak(ctx, who)
	return nil
}

// fraction is the fraction of the copy bandwidth that the kernels use.
func (t pairTimes) fraction() float64 {
	if t.peak == 0 || t.kernels.Median == 0 {
		return 0
	}
	return float64(t.moved) / t.kernels.Median / t.peak
}

// eachPair intersects a list of about short(n) docIDs with a list of n, for each n of lengths
// on every contestant, and calls put for each algorithm with times. prepare runs once for
// each pair; it may be nil.
func (s *bench) eachPair(ctx context.Context, lengths []int, short func(n int) int, algorithms []plan.Algorithm, prepare func(p *workload.Pair) error,
	put func(who harness.Contestant, n int, p *workload.Pair, a plan.Algorithm, t pairTimes)) error {
	for _, n := range lengths {
		p, err := workload.NewPair(ctx, s.Opt.Seed, short(n), n)
		if err != nil {
			return err
		}
		if prepare != nil {
			if err := prepare(p); err != nil {
				return err
			}
		}
		for _, who := range s.Contestants {
			times, err := s.pairTimes(ctx, who, p, s.Opt.Threads, algorithms)
			if err != nil {
				return err
			}
			for _, a := range algorithms {
				if t, ok := times[a]; ok {
					put(who, n, p, a, t)
				}
			}
		}
	}
	return nil
}

// same is the length of the shorter list of a pair of one length.
func same(n int) int { return n }

// thrust is the speed of CUDA's thrust::set_intersection on an H200, in G inputs per
// second, by list length.
var thrust = map[int]float64{1 << 20: 22, 1 << 24: 158, 1 << 26: 262}

// pairsExhibit intersects two plain lists of equal length.
func (s *bench) pairsExhibit() harness.Exhibit {
	return harness.Exhibit{
		Name: "pairs", Title: "Two plain lists of one length",
		Says: "thrust::set_intersection of CUDA on an H200, kernels alone: the column of the paper.",
		Ours: "The lengths of both lists count. The mean gap is 16, a third of the docIDs is in both. Of peak: bytes that the kernels ask for.",
		Rows: "docIDs in each list",
		Run: func(ctx context.Context) error {
			algorithms := []plan.Algorithm{plan.MergePath, plan.PMF3, plan.HS16, plan.Bits, plan.Auto}
			lengths := harness.Pick(&s.Opt, []int{1 << 20, 1 << 24, 1 << 26}, []int{1 << 14, 1 << 16})
			var roars measure.Summary
			prepare := func(p *workload.Pair) (err error) {
				roars, err = s.roaringPair(p)
				return err
			}
			return s.eachPair(ctx, lengths, same, algorithms, prepare, func(who harness.Contestant, n int, p *workload.Pair, a plan.Algorithm, t pairTimes) {
				row := measure.Row{Metric: "end to end", Unit: "G inputs/s"}
				if roars.Runs > 0 {
					row.Baseline, row.Ratio = harness.PeerName, roars.Median/t.whole.Median
				}
				at := measure.Binary(float64(n))
				s.Put(who.On(harness.Reading{Panel: "end to end, " + who.String(), Series: a.String(), At: at, Row: t.whole.Rate(p.Inputs()).Into(row)}))
				if t.kernels.Median > 0 {
					s.Put(who.On(harness.Reading{Panel: "kernels, " + who.String(), Series: a.String(), At: at, Paper: thrust[n],
						Row: t.kernels.Rate(p.Inputs()).Into(measure.Row{Metric: "kernels", Unit: "G inputs/s", Bytes: t.moved, PeakFraction: t.fraction()})}))
				}
			})
		},
	}
}

// roaringPair times roaring on a pair, in seconds, if the options ask for peers. The
// bitmaps are made in advance; the answer is an array.
func (s *bench) roaringPair(p *workload.Pair) (measure.Summary, error) {
	if !s.Opt.Peers {
		return measure.Summary{}, nil
	}
	a, b := roaring.BitmapOf(p.A...), roaring.BitmapOf(p.B...)
	a.RunOptimize()
	b.RunOptimize()
	var times []float64
	began := time.Now()
	for run := 0; run < s.Opt.Runs || time.Since(began) < s.LeastTime(); run++ {
		start := time.Now()
		got := roaring.And(a, b).ToArray()
		times = append(times, time.Since(start).Seconds())
		if run == 0 && !slices.Equal(got, p.Want) {
			return measure.Summary{}, errors.New("roaring gives other docIDs than a merge")
		}
	}
	return measure.Summarize(times), nil
}
