package decode

import (
	"context"
	"fmt"
	"slices"

	"heddle/engine/bench/chart"
	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
	"heddle/engine/plan"
)

// shortest returns the distinct shortest lists of the first queries.
func (s *bench) shortest(queries int) (lists [][]uint32) {
	seen := make(map[plan.Handle]bool)
	for _, q := range s.W.Queries[:min(queries, len(s.W.Queries))] {
		h := slices.MinFunc(q, func(a, b plan.Handle) int { return int(s.W.Source.Lists[a].Len) - int(s.W.Source.Lists[b].Len) })
		if !seen[h] {
			seen[h] = true
			lists = append(lists, s.W.List(h))
		}
	}
	return lists
}

func (s *bench) aoFigure8() harness.Exhibit {
	return harness.Exhibit{
		Name: "ao-fig8", Title: "Decompression speed against the share of exceptions", Source: "Ao et al. 2011, Figure 8",
		Says:  "The shortest lists of all queries. LRC, LRCSeg and SegLRC are best; PFD and NewPFD slow down with the exceptions; ParaPFD and the line codecs hardly do.",
		Ours:  "The shortest lists of the first 4,000 queries, each once. A device by its own clock, pure Go on all threads. Each segment of pfd, newpfd, parapfor and lrcpfor, which is LRC, has the share of exceptions, also where fewer would be smaller. Our other line codecs have no exceptions: level lines.",
		Found: `Fastest by share of exceptions: on the device {{choices (highest "places" (rows "@opencl" "" ""))}}; in pure Go {{choices (highest "places" (rows "@host" "" ""))}}. On the device the share of exceptions leaves PFD {{to (over (rows "@opencl" "pfd" "0.1|0.2|0.4|0.6") (rows "@opencl" "pfd" "0.0"))}}, NewPFD {{to (over (rows "@opencl" "newpfd" "0.1|0.2|0.4|0.6") (rows "@opencl" "newpfd" "0.0"))}} and ParaPFD {{to (over (rows "@opencl" "parapfor" "0.1|0.2|0.4|0.6") (rows "@opencl" "parapfor" "0.0"))}} times its speed without them.`,
		Data:  harness.GovOrder, Rows: "exceptions",
		Chart: chart.Chart{Kind: chart.Lines, X: "share of exceptions"},
		Run: func(ctx context.Context) error {
			lists := s.shortest(harness.Pick(&s.Opt, 4000, 50))
			ratios := harness.Pick(&s.Opt, []float64{0, 0.1, 0.2, 0.4, 0.6}, []float64{0, 0.2, 0.6})
			for _, who := range s.Contestants {
				for _, id := range aoCodecs {
					if !decodes(who, id) || !slices.Contains(s.Opt.Codecs, id) {
						continue
					}
					var d decoding
					for i, e := range ratios {
						if i == 0 || takesExceptions(id) {
							var err error
							if d, err = s.decode(ctx, who, s.Opt.Threads, id, forced(e), lists); err != nil {
								return err
							}
						}
						s.Put(who.On(harness.Reading{Panel: s.Panel(who), Series: id.String(), At: fmt.Sprintf("%.1f", e), X: e, Row: d.into(measure.Row{})}))
					}
				}
			}
			return nil
		},
	}
}
