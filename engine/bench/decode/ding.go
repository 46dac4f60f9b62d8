package decode

import (
	"context"
	"fmt"
	"math/bits"

	"heddle/codec"
	"heddle/engine/bench/chart"
	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
	"heddle/engine/bench/workload"
	"heddle/engine/plan"
)

func (s *bench) dingFigure3() harness.Exhibit {
	return harness.Exhibit{
		Name: "ding-fig3", Title: "Bytes a docID by method and levels of recursion", Source: "Ding et al. 2009, Figure 3",
		Found: `Rice takes {{one "" "" "rice"}} bytes a docID, pfd {{one "" "" "pfd"}}, rpfd {{one "" "" "rpfd 0"}} without recursion, {{one "" "" "rpfd 1"}} with one level and {{to (rows "" "" "rpfd 2|rpfd 3|rpfd 4")}} with more.`,
		Says:  "Rice is smallest. One width for a whole list without recursion is much worse than a width for each block; one level is slightly smaller than that, more levels give slight further benefits.",
		Ours: "A sample of the GOV-like lists, at regular distances in the order of their lengths, with all tables and headers. Blocks have 128 values in all our codecs; the paper's PForDelta for GPUs has 512, " +
			"so our tables of blocks take four times as much. pfd has a width for each block.",
		Data: harness.AllOrders, Rows: "method",
		Chart: chart.Chart{Kind: chart.Bars, Y: "bytes a docID"},
		Run: func(ctx context.Context) error {
			c := s.sample(ratioSample(&s.Opt))
			type method struct {
				name string
				id   codec.ID
				opt  codec.Options
			}
			methods := []method{{"rice", codec.Rice, codec.DefaultOptions()}, {"pfd", codec.PFD, codec.DefaultOptions()}}
			for level := range codec.MaxRPFDLevels + 1 {
				opt := codec.DefaultOptions()
				opt.RPFDLevels = level
				methods = append(methods, method{fmt.Sprintf("rpfd %d", level), codec.RPFD, opt})
			}
			for _, m := range methods {
				size, err := words(ctx, c, m.id, m.opt)
				if err != nil {
					return err
				}
				s.Put(harness.Reading{Panel: "GOV-like lists", Series: c.Name, At: m.name,
					Row: measure.Single(4 * float64(size) / float64(c.Postings())).Into(measure.Row{Metric: "size", Unit: "bytes a docID"})})
			}
			return nil
		},
	}
}

// paperDecode is Table 1 of Ding et al., in millions of integers per second.
var paperDecode = map[codec.ID]map[string]float64{
	codec.Rice: {"host": 310.63, "opencl": 305.27},
	codec.PFD:  {"host": 1165.13},
	codec.RPFD: {"opencl": 1237.57},
}

// listsOf returns the distinct lists of the first queries.
func (s *bench) listsOf(queries int) (lists [][]uint32) {
	seen := make(map[plan.Handle]bool)
	for _, q := range s.W.Queries[:min(queries, len(s.W.Queries))] {
		for _, h := range q {
			if !seen[h] {
				seen[h] = true
				lists = append(lists, s.W.List(h))
			}
		}
	}
	return lists
}

func (s *bench) dingTable1() harness.Exhibit {
	return harness.Exhibit{
		Name: "ding-table1", Title: "Decompression speed of Rice and PForDelta", Source: "Ding et al. 2009, Table 1",
		Found: `The device decodes {{to (ours (rows "@opencl" "" "rice"))}} times as many integers a second as the paper's GPU with Rice and {{to (ours (rows "@opencl" "" "rpfd"))}} times with recursive PForDelta, a thread of pure Go {{to (ours (rows "@host" "" "rice"))}} and {{to (ours (rows "@host" "" "pfd"))}} times as many as the paper's CPU.`,
		Says:  "Millions of integers a second on one core of 2.66 GHz, which gives gaps only, and a GeForce 8800 GTS, which gives docIDs.",
		Ours:  "All lists of the first queries, each once, decoded to docIDs on both processors. PForDelta of the paper's CPU, with a width for each block, is pfd here; PForDelta of its GPU, with one level of recursion, is rpfd.",
		Data:  harness.FirstOrder, Rows: "codec",
		Run: func(ctx context.Context) error {
			lists := s.listsOf(harness.Pick(&s.Opt, 100, 10))
			for _, id := range []codec.ID{codec.Rice, codec.PFD, codec.RPFD, codec.ParaPFor} {
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
		Found: `A launch for one list of queries is faster than a thread from {{first (above 1 (over (rows "@opencl rpfd, lists*" "*alone" "") (rows "@host rpfd, lists*" "" "")))}} docIDs on with RPFD, {{first (above 1 (over (rows "@opencl parapfor, lists*" "*alone" "") (rows "@host parapfor, lists*" "" "")))}} with ParaPFor and {{first (above 1 (over (rows "@opencl rice, lists*" "*alone" "") (rows "@host rice, lists*" "" "")))}} with Rice. Kernels without the prefix sum have {{to (over (rows "@opencl *even gaps" "*alone, gaps" "16 M") (rows "@opencl *even gaps" "*alone" "16 M"))}} times the speed on a list of 16 M even gaps. RPFD decodes {{one "@opencl rpfd, lists*" "*together" "1 M"}} M integers/s of lists of queries of 1 M, and {{one "@opencl rpfd, even*" "*together" "1 M"}} of even gaps.`,
		Says:  "Up to 2.5 billion gaps a second on long lists; GPUs are much worse than the CPU on short lists, and better on long ones.",
		Ours: "To docIDs. Lists of queries: the lists of the GOV-like queries, in bins of powers of two as in the paper, with exceptions. Even gaps: lists of gaps of 8 bits, without exceptions, longer than the paper's. " +
			"Alone: one list in a launch, as in the paper. Together: all lists in a launch, up to 16 M docIDs. Gaps: kernels without the prefix sum, the paper's GPU. The other series of devices are the paper's GPU+LPS, which adds the gaps up while it writes them. One launch follows the other; with a search that read the docIDs between them, ParaPFor was 17 % faster on even gaps.",
		Data: harness.GovOrder, Rows: "docIDs in the list, at most",
		Chart: chart.Chart{Kind: chart.Lines, X: "docIDs in the list", LogX: true, LogY: true},
		Run: func(ctx context.Context) error {
			if err := s.binnedSpeeds(ctx); err != nil {
				return err
			}
			return s.evenSpeeds(ctx)
		},
	}
}

// figure4Codecs are the codecs of Figure 4: the paper's first.
var figure4Codecs = []codec.ID{codec.RPFD, codec.ParaPFor, codec.Rice}

// together returns the largest number of docIDs that Figure 4 decodes in a launch.
func together(o *harness.Options) int { return harness.Pick(o, 16<<20, 1<<18) }

// binnedSpeeds decodes the lists of the queries, by bins of lengths.
func (s *bench) binnedSpeeds(ctx context.Context) error {
	bins := binned(s.listsOf(harness.Pick(&s.Opt, 4000, 100)), together(&s.Opt))
	for bin, lists := range bins {
		if len(lists) == 0 || bin < 10 {
			continue // the figure starts at 1 K
		}
		if err := s.putSpeeds(ctx, "lists of queries", 1<<bin, lists); err != nil {
			return err
		}
	}
	return nil
}

// binned groups lists by the power of two that their length does not exceed. A bin takes
// lists while they have most docIDs in all, at least one.
func binned(lists [][]uint32, most int) (bins [33][][]uint32) {
	var sums [33]int
	for _, l := range lists {
		if len(l) == 0 {
			continue
		}
		bin := bits.Len(uint(len(l) - 1))
		if len(bins[bin]) == 0 || sums[bin]+len(l) <= most {
			bins[bin], sums[bin] = append(bins[bin], l), sums[bin]+len(l)
		}
	}
	return bins
}

// evenSpeeds decodes lists of even gaps.
func (s *bench) evenSpeeds(ctx context.Context) error {
	for _, length := range harness.Pick(&s.Opt, []int{1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24}, []int{1 << 10, 1 << 14, 1 << 18}) {
		lists, err := workload.EvenLists{Count: max(1, together(&s.Opt)/length), Length: length}.Draw(ctx, s.Opt.Seed)
		if err != nil {
			return err
		}
		if err := s.putSpeeds(ctx, "even gaps", length, lists); err != nil {
			return err
		}
	}
	return nil
}

// putSpeeds records the speeds on lists of at most a length: of the first list alone, and of
// all in a launch. The host decodes one list at a time, on one thread.
func (s *bench) putSpeeds(ctx context.Context, kind string, length int, lists [][]uint32) error {
	for _, id := range figure4Codecs {
		for _, who := range s.Contestants {
			if !decodes(who, id) {
				continue
			}
			type part struct {
				how   string
				lists [][]uint32
				gaps  bool
			}
			parts := []part{{", 1 thread", lists[:min(len(lists), 64)], false}}
			if who.Name != "host" {
				parts = []part{{", alone", lists[:1], false}, {", alone, gaps", lists[:1], true}}
				if len(lists) > 1 {
					parts = append(parts, part{", together", lists, false}, part{", together, gaps", lists, true})
				}
			}
			for _, p := range parts {
				var d decoding
				var err error
				if who.Name == "host" {
					d, err = s.decode(ctx, who, 1, id, codec.DefaultOptions(), p.lists)
				} else {
					d, err = s.launch(ctx, who, id, p.lists, p.gaps)
				}
				if err != nil {
					return err
				}
				s.PutOf(id.String()+", "+kind, who.On(harness.Reading{Panel: id.String() + ", " + kind, Series: who.String() + p.how, At: measure.Binary(float64(length)), X: float64(length), Row: d.millions(measure.Row{})}))
			}
		}
	}
	return nil
}
