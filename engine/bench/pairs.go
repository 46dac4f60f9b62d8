package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"heddle/codec"
	"heddle/engine"
	"heddle/engine/index/hdl"
	"heddle/engine/plan"
)

// twoLists are plain lists of random docIDs; the shorter one comes first.
type twoLists struct {
	src  *plan.Source
	a, b []uint32
	want []uint32 // in both
}

// pairGap is the mean distance of docIDs in the longer list.
const pairGap = 16

// pair draws lists of about two lengths. A third of the shorter one is in both, a
// little more by chance.
func pair(ctx context.Context, seed uint64, short, long int) (*twoLists, error) {
	docs := uint32(long * pairGap)
	r := newRandom(seed, streamGaps, uint64(long))
	b := r.sample(make([]uint32, 0, long+long/64+64), 0, docs, 1.0/pairGap)
	common := r.sample(nil, 0, uint32(len(b)), float64(short)/3/float64(len(b)+1))
	for i, at := range common {
		common[i] = b[at]
	}
	a := unite(common, r.sample(nil, 0, docs, float64(short)*2/3/float64(docs)))
	if len(a) > len(b) {
		a, b = b, a
	}
	src, err := encodeAll(ctx, docs, [][]uint32{a, b}, codec.DefaultOptions(), as(codec.Raw))
	return &twoLists{src, a, b, intersect(nil, a, b)}, err
}

// unite merges ascending lists; what is in both comes once.
func unite(a, b []uint32) []uint32 {
	out := make([]uint32, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		x := min(a[0], b[0])
		out = append(out, x)
		if a[0] == x {
			a = a[1:]
		}
		if b[0] == x {
			b = b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// inputs of both lists.
func (p *twoLists) inputs() int { return len(p.a) + len(p.b) }

// pairTimes are those of one intersection, in seconds: end to end, and of the
// kernels, which pure Go has not.
type pairTimes struct {
	whole, kernels summary
	moved          uint64
	peak           float64
}

// pairTimes intersects a pair by algorithms: those that the contestant lacks, and
// those whose tables do not fit, are left out. Every answer is checked once.
func (s *session) pairTimes(ctx context.Context, who contestant, p *twoLists, threads int, algorithms []plan.Algorithm) (map[plan.Algorithm]pairTimes, error) {
	dict, err := hdl.NewDictionary([]string{"a", "b"})
	if err != nil {
		return nil, err
	}
	query := []engine.Query{{Terms: []string{"a", "b"}}}
	times := make(map[plan.Algorithm]pairTimes)
	for _, a := range []access{alone, profiled, counting} {
		if a != alone && who.name == "host" {
			break
		}
		x, err := s.newIndex(ctx, who, threads, a, p.src, dict)
		if err != nil {
			return nil, err
		}
		for _, algorithm := range algorithms {
			if !who.runs(algorithm) {
				continue
			}
			t := times[algorithm]
			if err = s.pairRun(ctx, x, query, p, algorithm, a, &t); err != nil {
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
func (s *session) pairRun(ctx context.Context, x *engine.Index, query []engine.Query, p *twoLists, algorithm plan.Algorithm, a access, t *pairTimes) (err error) {
	once := func(check bool) (stats plan.Stats, err error) {
		err = x.SearchBatches(ctx, query, engine.SearchOptions{Algorithm: algorithm}, func(_ int, r *plan.Results) error {
			if stats = r.Stats; check && !slices.Equal(r.Query(0), p.want) {
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
	if a == counting {
		t.moved = stats.BytesMoved
		return nil
	}
	var whole, kernels []float64
	began := time.Now()
	for run := 0; run < s.opt.Runs || time.Since(began) < leastTime; run++ {
		start := time.Now()
		if stats, err = once(false); err != nil {
			return err
		}
		whole = append(whole, time.Since(start).Seconds())
		kernels = append(kernels, stats.Kernel().Seconds())
	}
	if a == alone {
		t.whole = summarize(whole)
		return nil
	}
	t.kernels = summarize(kernels)
	t.peak, err = s.peak(ctx, x)
	return err
}

// rate turns seconds for a number of things into G things a second; 0 where some
// took no time that a clock could see.
func (t summary) rate(things int) summary {
	if t.Min == 0 {
		return summary{}
	}
	per := func(seconds float64) float64 { return float64(things) / seconds / 1e9 }
	return summary{Median: per(t.Median), Min: per(t.Max), Max: per(t.Min), Runs: t.Runs}
}

// fraction is the share of the copy bandwidth that the kernels use.
func (t pairTimes) fraction() float64 {
	if t.peak == 0 || t.kernels.Median == 0 {
		return 0
	}
	return float64(t.moved) / t.kernels.Median / t.peak
}

// thrust is CUDA's thrust::set_intersection on an H200, in G inputs a second.
var thrust = map[int]float64{1 << 20: 22, 1 << 24: 158, 1 << 26: 262}

// pairsExhibit is two plain lists of a length.
func pairsExhibit() exhibit {
	return exhibit{
		name: "pairs", title: "Two plain lists of one length",
		says: "thrust::set_intersection of CUDA on an H200, kernels alone: the column of the paper.",
		ours: "The lengths of both lists count. The mean gap is 16, a third of the docIDs is in both. Of peak: bytes that the kernels ask for.",
		rows: "docIDs in each list",
		run: func(ctx context.Context, s *session) error {
			algorithms := []plan.Algorithm{plan.MergePath, plan.PMF3, plan.HS16, plan.Bits, plan.Auto}
			for _, n := range pick(&s.opt, []int{1 << 20, 1 << 24, 1 << 26}, []int{1 << 14, 1 << 16}) {
				p, err := pair(ctx, s.opt.Seed, n, n)
				if err != nil {
					return err
				}
				roars, err := s.roaringPair(p)
				if err != nil {
					return err
				}
				for _, who := range s.contestants {
					times, err := s.pairTimes(ctx, who, p, s.opt.Threads, algorithms)
					if err != nil {
						return err
					}
					for _, a := range algorithms {
						t, ok := times[a]
						if !ok {
							continue
						}
						row := Row{Metric: "end to end", Unit: "G inputs/s"}
						if roars.Runs > 0 {
							row.Baseline, row.Ratio = peerName, roars.Median/t.whole.Median
						}
						r := reading{panel: "end to end, " + who.String(), series: a.String(), at: binarily(float64(n)), Row: t.whole.rate(p.inputs()).into(row)}
						if err := s.put(who.on(r)); err != nil {
							return err
						}
						if t.kernels.Median == 0 {
							continue
						}
						r = reading{panel: "kernels, " + who.String(), series: a.String(), at: r.at, paper: thrust[n],
							Row: t.kernels.rate(p.inputs()).into(Row{Metric: "kernels", Unit: "G inputs/s", Bytes: t.moved, PeakFraction: t.fraction()})}
						if err := s.put(who.on(r)); err != nil {
							return err
						}
					}
				}
			}
			return nil
		},
	}
}

// roaringPair times the peer on a pair, in seconds, where peers are asked for:
// bitmaps made before, the answer as an array.
func (s *session) roaringPair(p *twoLists) (summary, error) {
	if !s.opt.Peers {
		return summary{}, nil
	}
	a, b := roaring.BitmapOf(p.a...), roaring.BitmapOf(p.b...)
	a.RunOptimize()
	b.RunOptimize()
	var times []float64
	began := time.Now()
	for run := 0; run < s.opt.Runs || time.Since(began) < leastTime; run++ {
		start := time.Now()
		got := roaring.And(a, b).ToArray()
		times = append(times, time.Since(start).Seconds())
		if run == 0 && !slices.Equal(got, p.want) {
			return summary{}, errors.New("roaring gives other docIDs than a merge")
		}
	}
	return summarize(times), nil
}

// dingFigure6 is the time of an element of two lists of one length, by levels of
// splitters.
func dingFigure6() exhibit {
	return exhibit{
		name: "ding-fig6", title: "Two plain lists of one length by levels of recursion", source: "Ding et al. 2009, Figure 6",
		says:  "Below 4 ns an element of one list for long lists with two or three levels; without recursion much slower.",
		ours:  "Kernels by the device's clock; pure Go end to end on all threads. The mean gap is 16, a third of the docIDs is in both lists.",
		rows:  "docIDs in each list",
		chart: chart{kind: lineChart, x: "docIDs in each list", y: "ns an element of one list", logX: true, tens: true, logY: true},
		run: func(ctx context.Context, s *session) error {
			algorithms := []plan.Algorithm{plan.PMF0, plan.PMF1, plan.PMF2, plan.PMF3, plan.PMF4, plan.MergePath, plan.HS16, plan.Auto}
			for _, n := range pick(&s.opt, []int{5000, 20_000, 100_000, 500_000, 2_000_000, 16_000_000}, []int{5000, 50_000}) {
				p, err := pair(ctx, s.opt.Seed, n, n)
				if err != nil {
					return err
				}
				for _, who := range s.contestants {
					times, err := s.pairTimes(ctx, who, p, s.opt.Threads, algorithms)
					if err != nil {
						return err
					}
					for _, a := range algorithms {
						t, ok := times[a]
						if !ok {
							continue
						}
						v := t.kernels
						if who.name == "host" {
							v = t.whole
						}
						ns := 1e9 / float64(len(p.a))
						v = summary{v.Median * ns, v.Min * ns, v.Max * ns, v.Runs}
						if err := s.put(who.on(reading{panel: who.String(), series: a.String(), at: decimally(float64(n)), x: float64(n),
							Row: v.into(Row{Metric: "time", Unit: "ns an element", Bytes: t.moved, PeakFraction: t.fraction()})})); err != nil {
							return err
						}
					}
				}
			}
			return nil
		},
	}
}
