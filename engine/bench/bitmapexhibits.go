package bench

import (
	"context"
	"fmt"
	"strings"

	"heddle/engine/plan"
)

// bitmapExhibits are those of Bitmap.
func bitmapExhibits() []exhibit {
	return []exhibit{orExhibit(), sizesExhibit(), autoExhibit(), batchExhibit(), encodingsExhibit(), buildExhibit(),
		nelsonFigure8(), nelsonFigure9(), nelsonFigure10(), nelsonFigure11(), nelsonFigure12(),
		nelsonFigure13(), nelsonFigure14(), nelsonTable2()}
}

// outputNames are those of tables, by plan.Output.
var outputNames = [...]string{"rows on the host", "counts", "rows on the device"}

// each puts a reading for every cost that view makes one of.
func (s *session) each(ctx context.Context, view func(c *bitmapCost) (reading, bool)) error {
	costs, err := s.bitmapCosts(ctx)
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
			r = c.who.on(r)
		}
		if err := s.put(r); err != nil {
			return err
		}
	}
	return nil
}

// find is the cost of a setup on a kind of backend; nil if it was not measured.
func (s *session) find(kind string, u bitmapSetup) *bitmapCost {
	for _, c := range s.bitmaps {
		if c.peer == "" && c.who.name == kind && c.bitmapSetup == u {
			return c
		}
	}
	return nil
}

// ofPeer is the cost of a peer on a set.
func (s *session) ofPeer(set, peer string) *bitmapCost {
	for _, c := range s.bitmaps {
		if c.set == set && c.peer == peer {
			return c
		}
	}
	return nil
}

// bandwidth is the share of the copy bandwidth at which the compressed words go by.
func (c *bitmapCost) bandwidth() float64 {
	if c.peak == 0 {
		return 0
	}
	return float64(c.bytes) / (c.time.Median / 1e6) / c.peak
}

func orExhibit() exhibit {
	return exhibit{
		name: "or", title: fmt.Sprintf("OR of %d bins", mostBins),
		ours: "Resident vectors; the answer is what the column says. Of peak: the bytes of the compressed vectors in that time, of the measured copy bandwidth. Peers on one data set and the same machine's CPU: github.com/RoaringBitmap/roaring/v2, run-optimized, whose FastOr uses one core and ParOr all, and plain bitsets on all cores, which count.",
		rows: "strategy",
		run: func(ctx context.Context, s *session) error {
			return s.each(ctx, func(c *bitmapCost) (reading, bool) {
				if c.bins != mostBins || c.peer == "" && c.threads != s.opt.Threads {
					return reading{}, false
				}
				r := reading{panel: c.set, at: c.peer, series: outputNames[plan.OutputCounts],
					Row: c.time.into(Row{Metric: "time", Unit: "µs", Bytes: c.bytes})}
				if c.peer == "" {
					r.at, r.series = fmt.Sprintf("%s: %s, wah%d", c.who.name, c.name(), c.word), outputNames[c.output]
					r.PeakFraction = c.bandwidth()
					if p := s.ofPeer(c.set, fastOr); p != nil {
						r.Baseline, r.Ratio = fastOr, p.time.Median/c.time.Median
					}
				}
				r.Row.Row = r.at + ", " + r.series
				return r, true
			})
		},
	}
}

func sizesExhibit() exhibit {
	return exhibit{
		name: "sizes", title: "Size of the vectors", source: "Wu et al. 2006, section 4",
		ours: "Of the vectors of the largest query: bytes a row of all of them together. The paper's figure is what Wu et al. 2006 (TODS 31:1) expect of FastBit's WAH where each row of a vector is one with a probability of its own, as in the Zipf sets.",
		rows: "set",
		run: func(ctx context.Context, s *session) error {
			seen := make(map[string]bool)
			return s.each(ctx, func(c *bitmapCost) (reading, bool) {
				key := fmt.Sprint(c.set, c.word)
				if c.bins != mostBins || c.peer != "" || seen[key] {
					return reading{}, false
				}
				seen[key] = true
				v := float64(c.bytes) / float64(s.rowsOf[c.set])
				r := reading{panel: "sizes", series: fmt.Sprintf("wah%d", c.word), at: c.set,
					Row: Row{Metric: "size", Unit: "bytes/row", Median: v, Min: v, Max: v, Bytes: c.bytes}}
				if strings.HasPrefix(c.set, "zipf") {
					r.paper = c.published
				}
				if old := s.roaringSize[c.set]; old > 0 {
					r.Baseline, r.Ratio = "roaring", float64(c.bytes)/float64(old)
				}
				return r, true
			})
		},
	}
}
