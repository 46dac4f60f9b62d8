package bench

import (
	"context"
	"fmt"
	"slices"

	"heddle/codec"
	"heddle/engine/plan"
)

// encoders are the codecs that this build writes, and pure Go reads.
func encoders() (ids []codec.ID) {
	for id := codec.ID(1); ; id++ {
		if _, err := codec.Append(nil, id, nil, codec.DefaultOptions()); err != nil {
			return ids
		}
		ids = append(ids, id)
	}
}

// decodes tells whether a contestant has a decoder for a codec. A device has none
// for raw lists: it reads them where they are.
func (c contestant) decodes(id codec.ID) bool {
	return c.name == "host" || id != codec.Raw && slices.Contains(codec.IDs(), id)
}

// shortest gives the shortest lists of the first queries, each once.
func (s *session) shortest(queries int) (lists [][]uint32) {
	seen := make(map[plan.Handle]bool)
	for _, q := range s.w.Queries[:min(queries, len(s.w.Queries))] {
		h := slices.MinFunc(q, func(a, b plan.Handle) int { return int(s.w.Source.Lists[a].Len) - int(s.w.Source.Lists[b].Len) })
		if !seen[h] {
			seen[h] = true
			lists = append(lists, s.w.List(h))
		}
	}
	return lists
}

func aoFigure8() exhibit {
	return exhibit{
		name: "ao-fig8", title: "Decompression speed against the share of exceptions", source: "Ao et al. 2011, Figure 8",
		says:   "The shortest lists of all queries. LRC, LRCSeg and SegLRC are best; PFD and NewPFD slow down with the exceptions; ParaPFD and the line codecs hardly do.",
		ours:   "The shortest lists of the first 4,000 queries, each once. A device by its own clock, pure Go on all threads.",
		orders: govOrder, rows: "exceptions",
		chart: chart{kind: lineChart, x: "largest share of exceptions"},
		run: func(ctx context.Context, s *session) error {
			queries, ratios := 4000, []float64{0, 0.1, 0.2, 0.4, 0.6}
			if s.opt.Short {
				queries, ratios = 50, []float64{0, 0.2, 0.6}
			}
			lists := s.shortest(queries)
			for _, who := range s.contestants {
				for _, id := range s.opt.Codecs {
					if !who.decodes(id) {
						continue
					}
					var d decoding
					for i, e := range ratios {
						if i == 0 || takesExceptions(id) {
							var err error
							if d, err = s.decode(ctx, who, s.opt.Threads, id, encoding{exceptions: e}.options(), lists); err != nil {
								return err
							}
						}
						if err := s.put(who.on(reading{panel: s.panel(who), series: id.String(), at: fmt.Sprintf("%.1f", e), x: e, Row: d.into(Row{})})); err != nil {
							return err
						}
					}
				}
			}
			return nil
		},
	}
}

// Table 1 of Ding et al., in millions of integers a second.
var paperDecode = map[codec.ID]map[string]float64{
	codec.Rice: {"host": 310.63, "opencl": 305.27},
	codec.RPFD: {"host": 1165.13, "opencl": 1237.57},
}

func dingTable1() exhibit {
	return exhibit{
		name: "ding-table1", title: "Decompression speed of Rice and PForDelta", source: "Ding et al. 2009, Table 1",
		says:   "Millions of integers a second on one core of 2.66 GHz, which gives gaps only, and a GeForce 8800 GTS, which gives docIDs.",
		ours:   "All lists of the first queries, each once, to docIDs on both. PForDelta with one level of recursion is rpfd here.",
		orders: firstOrder, rows: "codec",
		run: func(ctx context.Context, s *session) error {
			queries := 100
			if s.opt.Short {
				queries = 10
			}
			seen := make(map[plan.Handle]bool)
			var lists [][]uint32
			for _, q := range s.w.Queries[:queries] {
				for _, h := range q {
					if !seen[h] {
						seen[h] = true
						lists = append(lists, s.w.List(h))
					}
				}
			}
			for _, id := range []codec.ID{codec.Rice, codec.RPFD, codec.ParaPFor} {
				for _, who := range s.contestants {
					if !who.decodes(id) {
						continue
					}
					threads := []int{1, s.opt.Threads}
					if who.name != "host" || s.opt.Threads == 1 {
						threads = threads[:1]
					}
					for _, n := range threads {
						d, err := s.decode(ctx, who, n, id, codec.DefaultOptions(), lists)
						if err != nil {
							return err
						}
						r := reading{panel: "decompression speed", series: who.String(), at: id.String(), Row: d.millions(Row{})}
						if who.name == "host" {
							r.series = fmt.Sprintf("pure Go, threads: %d", n)
						}
						if n == 1 {
							r.paper = paperDecode[id][who.name]
						}
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

// millions is into with the unit of Ding et al.
func (d decoding) millions(r Row) Row {
	r = d.into(r)
	r.Unit = "M ints/s"
	r.Median, r.Min, r.Max = r.Median*1e3, r.Min*1e3, r.Max*1e3
	return r
}

func dingFigure4() exhibit {
	return exhibit{
		name: "ding-fig4", title: "Decompression speed by length of list", source: "Ding et al. 2009, Figure 4",
		says:  "Up to 2.5 billion gaps a second on long lists; GPUs are much worse than the CPU on short lists, and better on long ones.",
		ours:  "Lists of gaps of 8 bits, to docIDs. Alone: one list a launch, as in the paper; together: as many as make 64 M docIDs in a launch.",
		rows:  "docIDs in the list",
		chart: chart{kind: lineChart, x: "docIDs in the list", logX: true, logY: true},
		run: func(ctx context.Context, s *session) error {
			lengths, together := []int{1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24}, 64<<20
			if s.opt.Short {
				lengths, together = []int{1 << 10, 1 << 14, 1 << 18}, 1<<18
			}
			for _, id := range []codec.ID{codec.RPFD, codec.ParaPFor, codec.Rice} {
				for _, length := range lengths {
					for _, who := range s.contestants {
						if !who.decodes(id) {
							continue
						}
						counts := []int{1}
						if who.name != "host" && together > length { // the host: a list at a time, on one thread
							counts = append(counts, together/length)
						}
						for _, count := range counts {
							lists, err := evenLists{count, length}.draw(ctx, s.opt.Seed)
							if err != nil {
								return err
							}
							d, err := s.decode(ctx, who, 1, id, codec.DefaultOptions(), lists)
							if err != nil {
								return err
							}
							series := who.String() + ", alone"
							if who.name == "host" {
								series = "pure Go, 1 thread"
							} else if count > 1 {
								series = who.String() + ", together"
							}
							if err := s.put(who.on(reading{panel: id.String(), series: series, at: binarily(float64(length)), x: float64(length), Row: d.millions(Row{})})); err != nil {
								return err
							}
						}
					}
				}
			}
			return nil
		},
	}
}
