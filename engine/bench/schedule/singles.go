package schedule

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"heddle/engine/bench/chart"
	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
	"heddle/engine/bench/workload"
	costs "heddle/engine/internal/cost"
	"heddle/engine/plan"
)

// singleRuns is the number of times that a query is timed alone. The median counts.
const singleRuns = 3

// pair holds the algorithms of the host and the device that an exhibit compares.
type pair struct{ host, device plan.Algorithm }

// paperPair is the pair of Wu et al.: the segment-step algorithm on the host, and binary
// search on the device.
var paperPair = pair{plan.SegStep, plan.BS}

// pairs are the pair of the paper, one algorithm on both, and the choice of each backend.
var pairs = []pair{paperPair, {plan.BS, plan.BS}, {plan.Auto, plan.Auto}}

func (p pair) String() string {
	if p.host == p.device {
		return p.host.String()
	}
	return fmt.Sprintf("host %s and device %s", p.host, p.device)
}

// apart holds the times of queries that ran alone on the host and on a device.
type apart struct {
	pair
	features []costs.Features
	thread   harness.Contestant // pure Go on one thread
	who      harness.Contestant // the device, or the host without one
	// Milliseconds of each query. onDevice is nil without a device.
	onHost, onDevice []float64
}

// difference is the time on the host minus the time on the device, for each query.
func (p *apart) difference() []float64 {
	d := make([]float64, len(p.onDevice))
	for i := range d {
		d[i] = p.onHost[i] - p.onDevice[i]
	}
	return d
}

// apart times queries alone with each pair of algorithms.
func (s *wuBench) apart(ctx context.Context) ([]*apart, error) {
	host, err := harness.PureGo(1)
	if err != nil {
		return nil, err
	}
	who := host
	for _, c := range s.Contestants {
		if c.Device != nil {
			who = c
		}
	}
	n := min(s.Opt.QueryCount(who.Info.Type), 20_000)
	var all []*apart
	features := s.features(n)
	for _, x := range pairs {
		p := &apart{pair: x, features: features, thread: host, who: who}
		if p.onHost, err = s.singles(ctx, host, x.host, n); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	if who.Device == nil {
		return all, nil
	}
	for _, p := range all {
		if p.onDevice, err = s.singles(ctx, who, p.device, n); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// features returns the features of the first n queries.
func (s *wuBench) features(n int) []costs.Features {
	all := make([]costs.Features, n)
	var b plan.MatchBatch
	for i := range all {
		b.Reset()
		b.Add(s.W.Source, s.W.Queries[i%len(s.W.Queries)]...)
		all[i] = costs.Of(s.W.Source, b.Query(0))
	}
	return all
}

// singles times each of the first n queries alone: milliseconds from terms to docIDs on
// the host. Pure Go uses one thread, like a processor of the scheduler. Each setup is
// measured once.
func (s *wuBench) singles(ctx context.Context, who harness.Contestant, a plan.Algorithm, n int) ([]float64, error) {
	key := harness.Setup{Backend: who.Name, Threads: 1, Encoding: workload.DefaultEncoding(workload.LayoutRaw), Algorithm: a}
	if ms := s.single[key]; ms != nil {
		return ms, nil
	}
	x, err := s.Index(ctx, who, 1, key.Encoding, harness.Alone)
	if err != nil {
		return nil, err
	}
	opt := harness.MatchOptions{Algorithm: a}
	got := make([]uint64, n)
	for i := range got { // this also warms up
		answer, err := x.MatchOne(ctx, s.Queries[i], opt)
		if err != nil {
			return nil, err
		}
		got[i] = workload.Digest(answer)
	}
	if err := s.Check.Check(fmt.Sprintf("%s alone on %s", a, who), got); err != nil {
		return nil, err
	}
	runs := make([][singleRuns]float64, n)
	for run := range singleRuns {
		for i := range n {
			began := time.Now()
			if _, err := x.MatchOne(ctx, s.Queries[i], opt); err != nil {
				return nil, err
			}
			runs[i][run] = measure.Milliseconds(time.Since(began))
		}
	}
	ms := make([]float64, n)
	for i := range ms {
		ms[i] = measure.Summarize(runs[i][:]).Median
	}
	s.single[key] = ms
	return ms, nil
}

// differenceEdges separate the classes of Figure 9, in milliseconds.
var differenceEdges = func() (edges []float64) {
	steps := []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10}
	for _, v := range slices.Backward(steps) {
		edges = append(edges, -v)
	}
	return append(append(edges, 0), steps...)
}()

// differenceClass is the class of a difference in milliseconds. Class i ends before
// edge i; the last class is open.
func differenceClass(ms float64) int {
	i, found := slices.BinarySearch(differenceEdges, ms)
	if found {
		i++
	}
	return i
}

func differenceName(class int) string {
	switch class {
	case 0:
		return fmt.Sprint("below ", differenceEdges[0])
	case len(differenceEdges):
		return fmt.Sprint("from ", differenceEdges[class-1])
	}
	return fmt.Sprint(differenceEdges[class-1], " to ", differenceEdges[class])
}

const aboutDifference = "Each query runs alone, from terms to docIDs on the host, on pure Go with one thread and on the device; times are medians of three runs. " +
	"The paper's pair is the segment-step algorithm on the host (section V.B.6) and binary search on the device. Two further pairs are binary search on both, and auto, the choice of each backend. " +
	"A difference is positive where the device is faster."

func (s *wuBench) figure9() harness.Exhibit {
	return harness.Exhibit{
		Name: "wu-fig9", Title: "Distribution of host time less device time of a query", Source: "Wu et al. 2010, Figure 9",
		Found: `The host is faster on {{sum (rows "" "host segstep*" "-*")}} % of the queries with the paper's pair, and on {{sum (rows "" "auto" "-*")}} % with the choice of each backend.`,
		Says:  "The CPU is faster on most queries, but not by much.", Ours: aboutDifference,
		Data: harness.GovOrder, Rows: "host less device, ms",
		Chart: chart.Chart{Kind: chart.Bars, Y: "% of the queries"},
		Run: func(ctx context.Context) error {
			all, err := s.apart(ctx)
			if err != nil {
				return err
			}
			counts := make([][]float64, len(all))
			first, last := len(differenceEdges), 0
			for i, p := range all {
				counts[i] = make([]float64, len(differenceEdges)+1)
				for _, ms := range p.difference() {
					class := differenceClass(ms)
					counts[i][class]++
					first, last = min(first, class), max(last, class)
				}
			}
			for class := first; class <= last; class++ {
				for i, p := range all {
					if p.onDevice == nil {
						continue
					}
					s.Put(p.who.On(harness.Reading{Panel: s.Panel(p.who), Series: p.pair.String(), At: differenceName(class),
						Row: measure.Single(100 * counts[i][class] / float64(len(p.onDevice))).Into(measure.Row{Metric: "share of queries", Unit: "%"})}))
				}
			}
			return nil
		},
	}
}

// Figure 10 shows shownQueries queries in at most shownGroups groups of equal size.
const shownQueries, shownGroups = 3000, 30

func (s *wuBench) figure10() harness.Exhibit {
	return harness.Exhibit{
		Name: "wu-fig10", Title: "Host time less device time of a query, by UBOC", Source: "Wu et al. 2010, Figure 10",
		Found: `With the paper's pair the median of the difference is {{one "*segstep*" "median" "1 to 100"}} ms in the group of least UBOC and at most {{most (rows "*segstep*" "median" "")}} ms; the device is ahead in {{len (above 0 (rows "*segstep*" "median" ""))}} of {{len (rows "*segstep*" "median" "")}} groups, with auto in {{len (above 0 (rows "*auto" "median" ""))}}.`,
		Says:  "The first 3,000 queries: the GPU is far ahead where the computational complexity is high.",
		Ours: aboutDifference + fmt.Sprintf(" The first %d queries ascend by UBOC, and stand in %d groups: the tenth, the median and the ninetieth percentile of each.",
			shownQueries, shownGroups),
		Data: harness.GovOrder, Rows: "queries by UBOC",
		Chart: chart.Chart{Kind: chart.Lines, X: "query, by UBOC", Y: "host less device, ms"},
		Run: func(ctx context.Context) error {
			all, err := s.apart(ctx)
			if err != nil {
				return err
			}
			for _, p := range all {
				if p.onDevice == nil {
					continue
				}
				s.putByUBOC(p)
			}
			return nil
		},
	}
}

// putByUBOC records the groups of Figure 10.
func (s *wuBench) putByUBOC(p *apart) {
	difference := p.difference()
	order := make([]int, min(shownQueries, len(difference)))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p.features[a].UBOC, p.features[b].UBOC) })
	end := 0
	for group := range slices.Chunk(order, (len(order)+shownGroups-1)/shownGroups) {
		var ms []float64
		for _, q := range group {
			ms = append(ms, difference[q])
		}
		slices.Sort(ms)
		first := end + 1
		end += len(group)
		for _, v := range []struct {
			series  string
			percent int
		}{{"p10", 10}, {"median", 50}, {"p90", 90}} {
			s.PutOf(p.pair.String(), p.who.On(harness.Reading{Panel: s.Panel(p.who) + ", " + p.pair.String(), Series: v.series,
				At: fmt.Sprintf("%d to %d", first, end), X: float64(end),
				Row: measure.Single(measure.Percentile(ms, v.percent)).Into(measure.Row{Metric: "host less device", Unit: "ms"})}))
		}
	}
}
