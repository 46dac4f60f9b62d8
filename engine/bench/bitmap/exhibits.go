package bitmap

import (
	"context"
	"fmt"
	"strings"

	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
	"heddle/engine/plan"
)

// outputNames name the outputs in tables, by plan.Output.
var outputNames = [...]string{"rows on the host", "counts", "rows on the device"}

// each records a reading for every cost, with words of some sizes, for which view returns
// one.
func (s *bench) each(ctx context.Context, words []int, view func(c *cost) (harness.Reading, bool)) error {
	costs, err := s.allCosts(ctx, words)
	if err != nil {
		return err
	}
	for _, c := range costs {
		r, ok := view(c)
		if !ok {
			continue
		}
		r.Workload = fmt.Sprintf("%s, %d bins", c.set, c.bins)
		r.Runs = c.time.Runs
		if c.peer == "" {
			r = c.who.On(r)
		}
		s.Put(r)
	}
	return nil
}

// find returns the cost of a setup on a kind of backend, and nil if it was not
// measured.
func (s *bench) find(kind string, u setup) *cost {
	for _, c := range s.costs {
		if c.peer == "" && c.who.Name == kind && c.setup == u {
			return c
		}
	}
	return nil
}

// ofPeer returns the cost of another library on a set.
func (s *bench) ofPeer(set, peer string) *cost {
	for _, c := range s.costs {
		if c.set == set && c.peer == peer {
			return c
		}
	}
	return nil
}

// bandwidth is the rate of compressed bytes as a fraction of the copy bandwidth.
func (c *cost) bandwidth() float64 {
	if c.peak == 0 {
		return 0
	}
	return float64(c.bytes) / (c.time.Median / 1e6) / c.peak
}

func (s *bench) orExhibit() harness.Exhibit {
	return harness.Exhibit{
		Name: "or", Title: fmt.Sprintf("OR of %d bins", mostBins),
		Ours: "Resident vectors; the column names the form of the answer. Of peak: the bytes of the compressed vectors in that time, of the measured copy bandwidth; a device leaves out words of rows that it has found before. Peers on one data set and the same machine's CPU: github.com/RoaringBitmap/roaring/v2, run-optimized, whose FastOr uses one core and ParOr all, and plain bitsets on all cores, which count.",
		Rows: "strategy",
		Run: func(ctx context.Context) error {
			return s.each(ctx, allWords, func(c *cost) (harness.Reading, bool) {
				if c.bins != mostBins || c.peer == "" && c.threads != s.Opt.Threads {
					return harness.Reading{}, false
				}
				r := harness.Reading{Panel: c.set, At: c.peer, Series: outputNames[plan.OutputCounts],
					Row: c.time.Into(measure.Row{Metric: "time", Unit: "µs", Bytes: c.bytes})}
				if c.peer == "" {
					r.At, r.Series = fmt.Sprintf("%s: %s, wah%d", c.who.Name, c.name(), c.word), outputNames[c.output]
					r.PeakFraction = c.bandwidth()
					if p := s.ofPeer(c.set, fastOr); p != nil {
						r.Baseline, r.Ratio = fastOr, p.time.Median/c.time.Median
					}
				}
				r.Row.Row = r.At + ", " + r.Series
				return r, true
			})
		},
	}
}

func (s *bench) sizesExhibit() harness.Exhibit {
	return harness.Exhibit{
		Name: "sizes", Title: "Size of the vectors", Source: "Wu et al. 2006, section 4",
		Ours: "Of the vectors of the largest query: bytes a row of all of them together. The paper's figure is the expectation of Wu et al. 2006 (TODS 31:1) for FastBit's WAH, if each row of a vector is one with a probability of its own, as in the Zipf sets.",
		Rows: "set",
		Run: func(ctx context.Context) error {
			seen := make(map[string]bool)
			return s.each(ctx, allWords, func(c *cost) (harness.Reading, bool) {
				key := fmt.Sprint(c.set, c.word)
				if c.bins != mostBins || c.peer != "" || seen[key] {
					return harness.Reading{}, false
				}
				seen[key] = true
				v := float64(c.bytes) / float64(s.rowsOf[c.set])
				r := harness.Reading{Panel: "sizes", Series: fmt.Sprintf("wah%d", c.word), At: c.set,
					Row: measure.Row{Metric: "size", Unit: "bytes/row", Median: v, Min: v, Max: v, Bytes: c.bytes}}
				if strings.HasPrefix(c.set, "zipf") {
					r.Paper = c.published
				}
				if old := s.roaringSize[c.set]; old > 0 {
					r.Baseline, r.Ratio = "roaring", float64(c.bytes)/float64(old)
				}
				return r, true
			})
		},
	}
}
