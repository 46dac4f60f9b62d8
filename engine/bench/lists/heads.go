package lists

import (
	"context"
	"fmt"
	"math"

	"heddle/codec"
	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
	"heddle/engine/bench/workload"
)

// aoHeads measures Algorithm 1 with and without the list H.
func (s *bench) aoHeads() harness.Exhibit {
	return harness.Exhibit{
		Name: "ao-heads", Title: "Search in LRC with and without the list H of first docIDs", Source: "Ao et al. 2011, §5.3",
		Says:  "H saves 33 % of the time of the GPU and costs 0.80 % of the compression ratio.",
		Ours:  "Searches of random docIDs in one list after the other, pure Go, one thread. Formula (2) counts loads, two for a docID in LRC, one in H. The share of H is its part of all words of the lists.",
		Found: `Pure Go with H saves {{to (rows "savings*" "time saved" "")}} % of the time of a search and {{to (rows "savings*" "loads saved*" "")}} % of the loads that formula (2) counts; H is {{to (rows "savings*" "share of H" "")}} % of the words.`,
		Rows:  "GOV-like lists",
		Run: func(ctx context.Context) error {
			if _, ok := s.Host(); !ok {
				return nil
			}
			for _, d := range harness.DataSets(&s.Opt)[:3] {
				h, err := measureHeads(ctx, s, d)
				if err != nil {
					return err
				}
				const timed, shares = "one thread", "savings and cost"
				for _, m := range []struct {
					panel, series, unit string
					sum                 measure.Summary
					paper               float64
				}{
					{timed, "with H", "ns a search", h.with, 0}, {timed, "without H", "ns a search", h.without, 0},
					{shares, "time saved", "%", measure.Single(100 * (1 - h.with.Median/h.without.Median)), 33},
					{shares, "loads saved, formula (2)", "%", measure.Single(100 * (1 - h.loadsWith/h.loadsWithout)), 33},
					{shares, "share of H", "%", measure.Single(100 * h.share), 0.80},
				} {
					s.Put(harness.Reading{Panel: m.panel, Series: m.series, At: d.Name, Paper: m.paper, Row: m.sum.Into(measure.Row{Metric: m.series, Unit: m.unit})})
				}
			}
			return nil
		},
	}
}

// heads are times and loads of searches in LRC.
type heads struct {
	with, without           measure.Summary // ns
	loadsWith, loadsWithout float64
	share                   float64 // fraction of the words of the lists that H takes
}

func measureHeads(ctx context.Context, s *bench, d workload.DataSet) (h heads, err error) {
	lists, err := d.Draw(ctx, s.Opt.Seed, d.Terms(s.scaled(10_000), uint64(d.Docs), harness.Pick(&s.Opt, 32, 4)))
	if err != nil {
		return h, err
	}
	r := workload.NewRandom(s.Opt.Seed, workload.StreamGaps, 0)
	wanted := make([]uint32, harness.Pick(&s.Opt, 4096, 256))
	for i := range wanted {
		wanted[i] = uint32(r.Below(uint64(d.Docs)))
	}
	var views []codec.Lines
	var lines []codec.Line
	words, keys := 0, 0
	for _, docs := range lists {
		encoded, err := codec.Append(nil, codec.LRC, docs, codec.DefaultOptions())
		if err != nil {
			return h, err
		}
		view, err := codec.List{Codec: codec.LRC, Len: uint32(len(docs)), Words: encoded}.Lines()
		if err != nil {
			return h, err
		}
		line := codec.FitLine(docs)
		views, lines, words, keys = append(views, view), append(lines, line), words+len(encoded), keys+view.Blocks()
		width := math.Log2(float64(line.Left + line.Right + 1))
		segment := math.Log2(codec.LineSegment)
		h.loadsWith += math.Ceil(max(width-segment, 0)) + 2*math.Ceil(segment)
		h.loadsWithout += 2 * math.Ceil(width)
	}
	h.share = float64(keys) / float64(words)
	found := [2]int{}
	times := func(which int, search func(k int, x uint32) bool) (measure.Summary, error) {
		sum, err := s.Timed(func() error {
			found[which] = 0
			for k := range views {
				for _, x := range wanted {
					if search(k, x) {
						found[which]++
					}
				}
			}
			return ctx.Err()
		})
		return sum.Times(1e3 / float64(len(views)*len(wanted))), err
	}
	if h.with, err = times(0, func(k int, x uint32) bool { _, ok := views[k].Find(x); return ok }); err != nil {
		return h, err
	}
	if h.without, err = times(1, func(k int, x uint32) bool { return findWithout(&views[k], lines[k], x) }); err != nil {
		return h, err
	}
	if found[0] != found[1] {
		return h, fmt.Errorf("%d docIDs found with H, %d without", found[0], found[1])
	}
	return h, nil
}

// findWithout looks x up by binary search among single docIDs in the safe range.
func findWithout(v *codec.Lines, line codec.Line, x uint32) bool {
	lo, hi := line.Range(x, v.Len)
	for lo < hi {
		mid := (lo + hi) / 2
		switch y := v.At(mid); {
		case y == x:
			return true
		case y < x:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return false
}
