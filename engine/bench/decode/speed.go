package decode

import (
	"context"
	"fmt"
	"slices"

	"heddle/codec"
	"heddle/engine/bench/chart"
	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
	"heddle/engine/bench/workload"
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
		Says:   "The shortest lists of all queries. LRC, LRCSeg and SegLRC are best; PFD and NewPFD slow down with the exceptions; ParaPFD and the line codecs hardly do.",
		Ours:   "The shortest lists of the first 4,000 queries, each once. A device by its own clock, pure Go on all threads. Each segment of pfd, newpfd and parapfor has the share of exceptions, also where fewer would be smaller. Line codecs have no exceptions: level lines.",
		Orders: harness.GovOrder, Rows: "exceptions",
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

// paperDecode is Table 1 of Ding et al., in millions of integers per second.
var paperDecode = map[codec.ID]map[string]float64{
	codec.Rice: {"host": 310.63, "opencl": 305.27},
	codec.RPFD: {"host": 1165.13, "opencl": 1237.57},
}

func (s *bench) dingTable1() harness.Exhibit {
	return harness.Exhibit{
		Name: "ding-table1", Title: "Decompression speed of Rice and PForDelta", Source: "Ding et al. 2009, Table 1",
		Says:   "Millions of integers a second on one core of 2.66 GHz, which gives gaps only, and a GeForce 8800 GTS, which gives docIDs.",
		Ours:   "All lists of the first queries, each once, to docIDs on both. PForDelta with one level of recursion is rpfd here.",
		Orders: harness.FirstOrder, Rows: "codec",
		Run: func(ctx context.Context) error {
			seen := make(map[plan.Handle]bool)
			var lists [][]uint32
			for _, q := range s.W.Queries[:harness.Pick(&s.Opt, 100, 10)] {
				for _, h := range q {
					if !seen[h] {
						seen[h] = true
						lists = append(lists, s.W.List(h))
					}
				}
			}
			for _, id := range []codec.ID{codec.Rice, codec.RPFD, codec.ParaPFor} {
				for _, who := range s.Contestants {
					if !decodes(who, id) {
						continue
					}
					threads := []int{1, s.Opt.Threads}
					if who.Name != "host" || s.Opt.Threads == 1 {
						threads = threads[:1]
					}
					for _, n := range threads {
						d, err := s.decode(ctx, who, n, id, codec.DefaultOptions(), lists)
						if err != nil {
							return err
						}
						r := harness.Reading{Panel: "decompression speed", Series: who.String(), At: id.String(), Row: d.millions(measure.Row{})}
						if who.Name == "host" {
							r.Series = fmt.Sprintf("pure Go, threads: %d", n)
						}
						if n == 1 {
							r.Paper = paperDecode[id][who.Name]
						}
						s.Put(who.On(r))
					}
				}
			}
			return nil
		},
	}
}

// millions is into with the unit of Ding et al.
func (d decoding) millions(r measure.Row) measure.Row {
	r = d.into(r)
	r.Unit = "M ints/s"
	r.Median, r.Min, r.Max = r.Median*1e3, r.Min*1e3, r.Max*1e3
	return r
}

func (s *bench) dingFigure4() harness.Exhibit {
	return harness.Exhibit{
		Name: "ding-fig4", Title: "Decompression speed by length of list", Source: "Ding et al. 2009, Figure 4",
		Says:  "Up to 2.5 billion gaps a second on long lists; GPUs are much worse than the CPU on short lists, and better on long ones.",
		Ours:  "Lists of gaps of 8 bits, to docIDs. Alone: one list a launch, as in the paper; together: as many as make 64 M docIDs in a launch.",
		Rows:  "docIDs in the list",
		Chart: chart.Chart{Kind: chart.Lines, X: "docIDs in the list", LogX: true, LogY: true},
		Run: func(ctx context.Context) error {
			lengths := harness.Pick(&s.Opt, []int{1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24}, []int{1 << 10, 1 << 14, 1 << 18})
			together := harness.Pick(&s.Opt, 64<<20, 1<<18)
			for _, id := range []codec.ID{codec.RPFD, codec.ParaPFor, codec.Rice} {
				for _, length := range lengths {
					for _, who := range s.Contestants {
						if !decodes(who, id) {
							continue
						}
						counts := []int{1}
						if who.Name != "host" && together > length { // the host decodes one list at a time, on one thread
							counts = append(counts, together/length)
						}
						for _, count := range counts {
							lists, err := workload.EvenLists{Count: count, Length: length}.Draw(ctx, s.Opt.Seed)
							if err != nil {
								return err
							}
							d, err := s.decode(ctx, who, 1, id, codec.DefaultOptions(), lists)
							if err != nil {
								return err
							}
							series := who.String() + ", alone"
							if who.Name == "host" {
								series = "pure Go, 1 thread"
							} else if count > 1 {
								series = who.String() + ", together"
							}
							s.Put(who.On(harness.Reading{Panel: id.String(), Series: series, At: measure.Binary(float64(length)), X: float64(length), Row: d.millions(measure.Row{})}))
						}
					}
				}
			}
			return nil
		},
	}
}
