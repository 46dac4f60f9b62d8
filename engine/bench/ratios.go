package bench

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"heddle/codec"
	"heddle/engine/plan"
)

// collection is a set of lists.
type collection struct {
	name  string
	lists [][]uint32
}

// sample takes every so manieth list of the workload in the order of their
// lengths, so that about postings docIDs remain: lists of like length are alike.
func (s *session) sample(postings uint64) collection {
	handles := make([]plan.Handle, len(s.w.Source.Lists))
	for h := range handles {
		handles[h] = plan.Handle(h)
	}
	slices.SortFunc(handles, func(a, b plan.Handle) int {
		return cmp.Or(cmp.Compare(s.w.Source.Lists[a].Len, s.w.Source.Lists[b].Len), cmp.Compare(a, b))
	})
	c := collection{name: s.w.Order.String()}
	stride := max(1, int(s.w.Postings()/postings))
	for i := stride / 2; i < len(handles); i += stride {
		c.lists = append(c.lists, s.w.List(handles[i]))
	}
	return c
}

// postings of a collection.
func (c collection) postings() (n uint64) {
	for _, l := range c.lists {
		n += uint64(len(l))
	}
	return n
}

// words that the lists take in a codec, with its tables.
func (c collection) words(ctx context.Context, id codec.ID, opt codec.Options) (uint64, error) {
	var sum atomic.Uint64
	err := parallel(ctx, len(c.lists), func(_ *scratch, h int) error {
		sum.Add(uint64(codec.Size(id, c.lists[h], opt)))
		return nil
	})
	return sum.Load(), err
}

// ratio of plain lists to encoded ones, as Ao et al. define it.
func (c collection) ratio(ctx context.Context, id codec.ID, opt codec.Options) (float64, error) {
	words, err := c.words(ctx, id, opt)
	return float64(c.postings()) / float64(max(words, 1)), err
}

// takesExceptions tells whether the share of exceptions that a codec may use
// changes what it writes; the others choose by themselves, or have none.
func takesExceptions(id codec.ID) bool {
	docs := make([]uint32, 1000)
	for i := range docs { // a fifth of the gaps are large
		docs[i] = uint32(3*i + i/5*1000)
	}
	return codec.Size(id, docs, encoding{exceptions: 0}.options()) != codec.Size(id, docs, encoding{exceptions: codec.MaxExceptionRatio}.options())
}

// exceptionRatios are the x axis of Figures 7 and 8.
var exceptionRatios = []float64{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6}

// packing are the codecs that pack lists.
func (o *Options) packing() []codec.ID {
	return slices.DeleteFunc(slices.Clone(o.Codecs), func(id codec.ID) bool { return id == codec.Raw })
}

// ratioSample is how many postings compression is measured on.
func (o *Options) ratioSample() uint64 {
	if o.Short {
		return 500_000
	}
	return 32_000_000
}

// Table 2: optimal compression ratios on GOVR, GOV and GOVPR.
var paperRatios = map[codec.ID][3]float64{
	codec.PFD:      {Uniform: 3.61, Clustered: 3.62, Reordered: 3.63},
	codec.NewPFD:   {Uniform: 3.64, Clustered: 3.66, Reordered: 3.68},
	codec.ParaPFor: {Uniform: 3.53, Clustered: 3.55, Reordered: 3.57},
	codec.LRC:      {Uniform: 2.62, Clustered: 2.09, Reordered: 2.02},
	codec.LRCSeg:   {Uniform: 3.26, Clustered: 3.00, Reordered: 2.85},
	codec.SegLRC:   {Uniform: 3.23, Clustered: 3.16, Reordered: 3.11},
	codec.HSLRC256: {Uniform: 3.22, Clustered: 3.12, Reordered: 3.00},
}

const aboutSample = "Sizes are those of a sample of the lists, every so manieth in the order of their lengths, with all tables and headers. Our gap codecs have 128 values a segment, the paper's 64. Uniform stands for GOVR, clustered for GOV, reordered for GOVPR."

func aoTable2() exhibit {
	return exhibit{
		name: "ao-table2", title: "Optimal compression ratio", source: "Ao et al. 2011, Table 2",
		says:   "Gap codecs are best everywhere; line codecs are best where documents are numbered at random.",
		ours:   aboutSample + " Each ratio is that of the best share of exceptions.",
		orders: allOrders, rows: "codec",
		run: func(ctx context.Context, s *session) error {
			for _, id := range s.opt.packing() {
				best, err := s.sample(s.opt.ratioSample()).bestRatio(ctx, id)
				if err != nil {
					return err
				}
				if err := s.put(reading{panel: "GOV-like lists", series: s.w.Order.String(), at: id.String(), paper: paperRatios[id][s.w.Order], Row: ratioRow(best)}); err != nil {
					return err
				}
			}
			if s.w.Order != s.opt.Orders[0] {
				return nil
			}
			real, err := s.realSets()
			if err != nil {
				return err
			}
			for _, c := range real {
				for _, id := range s.opt.packing() {
					best, err := c.bestRatio(ctx, id)
					if err != nil {
						return err
					}
					row := ratioRow(best)
					row.Workload = c.name
					if err := s.put(reading{panel: "real lists", series: id.String(), at: c.name, Row: row}); err != nil {
						return err
					}
				}
			}
			return nil
		},
	}
}

// bestRatio is the ratio at the best share of exceptions.
func (c collection) bestRatio(ctx context.Context, id codec.ID) (best float64, err error) {
	for _, e := range exceptionRatios {
		r, err := c.ratio(ctx, id, encoding{exceptions: e}.options())
		if err != nil {
			return 0, err
		}
		if best = max(best, r); !takesExceptions(id) {
			break
		}
	}
	return best, nil
}

func ratioRow(ratio float64) Row {
	return single(ratio).into(Row{Metric: "compression ratio", Unit: "plain size over encoded size"})
}

func aoFigure7() exhibit {
	return exhibit{
		name: "ao-fig7", title: "Compression ratio against the share of exceptions", source: "Ao et al. 2011, Figure 7",
		says:   "The ratios rise and then fall; without exceptions they are close to the maximum; that of LRC does not change.",
		ours:   aboutSample + " The share is the most that parapfor may use: it takes fewer where that is smaller, so its ratio does not fall. The others choose by themselves or have no exceptions: level lines.",
		orders: govOrder, rows: "exceptions",
		chart: chart{kind: lineChart, x: "largest share of exceptions", y: "compression ratio"},
		run: func(ctx context.Context, s *session) error {
			c := s.sample(s.opt.ratioSample())
			for _, id := range s.opt.packing() {
				ratio := 0.0
				for i, e := range exceptionRatios {
					if i == 0 || takesExceptions(id) {
						var err error
						if ratio, err = c.ratio(ctx, id, encoding{exceptions: e}.options()); err != nil {
							return err
						}
					}
					if err := s.put(reading{panel: c.name, series: id.String(), at: fmt.Sprintf("%.1f", e), x: e, Row: ratioRow(ratio)}); err != nil {
						return err
					}
				}
			}
			return nil
		},
	}
}

func dingFigure3() exhibit {
	return exhibit{
		name: "ding-fig3", title: "Bytes a docID by method and levels of recursion", source: "Ding et al. 2009, Figure 3",
		says:   "Rice is smallest. One width for a whole list without recursion is much worse than a width for each block; one level is slightly smaller than that, more levels give slight further benefits.",
		ours:   aboutSample,
		orders: allOrders, rows: "method",
		chart: chart{kind: barChart, y: "bytes a docID"},
		run: func(ctx context.Context, s *session) error {
			c := s.sample(s.opt.ratioSample())
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
				words, err := c.words(ctx, m.id, m.opt)
				if err != nil {
					return err
				}
				if err := s.put(reading{panel: "GOV-like lists", series: c.name, at: m.name,
					Row: single(4 * float64(words) / float64(c.postings())).into(Row{Metric: "size", Unit: "bytes a docID"})}); err != nil {
					return err
				}
			}
			return nil
		},
	}
}
