package rank

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"

	"heddle/engine/bench/chart"
	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
)

func (s *bench) figureK() harness.Exhibit {
	return harness.Exhibit{
		Name: "rank-fig-k", Title: "Throughput over k",
		Ours: "In batches, on the GOV2-like workload.",
		Rows: "k", Chart: chart.Chart{Kind: chart.Lines, X: "k", LogX: true, Tens: true, LogY: true},
		Run: func(ctx context.Context) error {
			if err := s.gov2Bench(ctx); err != nil {
				return err
			}
			ks := harness.Pick(&s.Opt, []int{1, 10, 100, 1000, 10_000}, []int{1, 10, 100})
			return s.eachCost(ctx, func(who harness.Contestant) []setup { return s.everyMode(who, ks) }, func(who harness.Contestant, c *cost) {
				s.reading(who, harness.Reading{Series: c.mode.String(), At: fmt.Sprint(c.k), X: float64(c.k),
					Row: c.rate.Into(measure.Row{Row: c.name(), Metric: "throughput", Unit: "queries/s"})})
			}, harness.Busy)
		},
	}
}

// footprint is a way to measure the size of a query.
type footprint struct {
	name   string
	size   func(s *bench, q int) uint64
	octave bool // classes are powers of two
}

var footprints = []footprint{
	{"postings", func(s *bench, q int) (n uint64) {
		for _, h := range s.W.Handles[q] {
			n += uint64(s.W.Source.Lists[h].Len)
		}
		return n
	}, true},
	{"postings of the shortest list", func(s *bench, q int) uint64 {
		n := uint32(math.MaxUint32)
		for _, h := range s.W.Handles[q] {
			n = min(n, s.W.Source.Lists[h].Len)
		}
		return uint64(n)
	}, true},
	{"terms", func(s *bench, q int) uint64 { return uint64(len(s.W.Handles[q])) }, false},
}

func (s *bench) figureFootprint() harness.Exhibit {
	return harness.Exhibit{
		Name: "rank-fig-footprint", Title: "Time of a top-10 query over its size", Source: "Ding et al. 2009, §8.4",
		Found: `For OR pure Go takes {{to (over (rows "@host by terms*" "or" "") (rows "@opencl by terms*" "or" ""))}} times as long as the device by the number of terms, and {{to (over (rows "@host by postings, *" "or" "") (rows "@opencl by postings, *" "or" ""))}} times by postings; for AND {{to (over (rows "@host by terms*" "and" "") (rows "@opencl by terms*" "and" ""))}} and {{to (over (rows "@host by postings, *" "and" "") (rows "@opencl by postings, *" "and" ""))}} times.`,
		Says:  "Costs grow with the number of terms, and the ratio of GPU and CPU stays about the same. By the postings of all lists or of the shortest one, for OR the GPU outperforms the CPU for all but the smallest queries. In words only.",
		Ours:  "One query at a time. Queries are grouped by their number of terms, or by the power of two below their postings, of all lists or of the shortest list; times are medians of a group, their spread that of the medians of five parts of it.",
		Rows:  "size", Chart: chart.Chart{Kind: chart.Lines, X: "size", LogX: true, LogY: true},
		Run: func(ctx context.Context) error {
			if err := s.gov2Bench(ctx); err != nil {
				return err
			}
			return s.eachCost(ctx, func(who harness.Contestant) []setup { return s.everyMode(who, []int{10}) }, func(who harness.Contestant, c *cost) {
				for _, f := range footprints {
					s.putFootprint(who, c, f)
				}
			}, harness.Alone)
		},
	}
}

// putFootprint records the times of single queries by their size.
func (s *bench) putFootprint(who harness.Contestant, c *cost, f footprint) {
	classes := make(map[uint64][]float64)
	for q, t := range c.one.each {
		n := f.size(s, q)
		if n == 0 {
			continue
		}
		if f.octave {
			n = 1 << (bits.Len64(n) - 1)
		}
		classes[n] = append(classes[n], t)
	}
	for _, n := range slices.Sorted(maps.Keys(classes)) {
		s.Put(who.On(harness.Reading{Panel: fmt.Sprintf("by %s, %s, %s", f.name, s.W.Name, who), Series: c.mode.String(), At: fmt.Sprint(n), X: float64(n),
			Row: measure.Parts(classes[n], 5).Into(measure.Row{Workload: s.W.Name, Row: fmt.Sprintf("%s from %d %s", c.name(), n, f.name), Metric: "response", Unit: "ms"})}))
	}
}
