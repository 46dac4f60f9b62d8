package decode

import (
	"cmp"
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

// sample selects lists of the workload at regular distances in the order of length, so
// that about a number of postings remains.
func (s *bench) sample(postings uint64) workload.Collection {
	handles := make([]plan.Handle, len(s.W.Source.Lists))
	for h := range handles {
		handles[h] = plan.Handle(h)
	}
	slices.SortFunc(handles, func(a, b plan.Handle) int {
		return cmp.Or(cmp.Compare(s.W.Source.Lists[a].Len, s.W.Source.Lists[b].Len), cmp.Compare(a, b))
	})
	c := workload.Collection{Name: s.W.Order.String()}
	stride := max(1, int(s.W.Postings()/postings))
	for i := stride / 2; i < len(handles); i += stride {
		c.Lists = append(c.Lists, s.W.List(handles[i]))
	}
	return c
}

// exceptionRatios is the x axis of Figures 7 and 8.
var exceptionRatios = []float64{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6}

// packing are the codecs that compress lists.
func packing(o *harness.Options) []codec.ID {
	return slices.DeleteFunc(slices.Clone(o.Codecs), func(id codec.ID) bool { return id == codec.Raw })
}

// ratioSample is the number of postings for measurements of compression.
func ratioSample(o *harness.Options) uint64 { return harness.Pick[uint64](o, 32_000_000, 500_000) }

// paperRatios is Table 2: optimal compression ratios on GOVR, GOV and GOVPR.
var paperRatios = map[codec.ID][3]float64{
	codec.PFD:      {workload.Uniform: 3.61, workload.Clustered: 3.62, workload.Reordered: 3.63},
	codec.NewPFD:   {workload.Uniform: 3.64, workload.Clustered: 3.66, workload.Reordered: 3.68},
	codec.ParaPFor: {workload.Uniform: 3.53, workload.Clustered: 3.55, workload.Reordered: 3.57},
	codec.LRC:      {workload.Uniform: 2.62, workload.Clustered: 2.09, workload.Reordered: 2.02},
	codec.LRCSeg:   {workload.Uniform: 3.26, workload.Clustered: 3.00, workload.Reordered: 2.85},
	codec.SegLRC:   {workload.Uniform: 3.23, workload.Clustered: 3.16, workload.Reordered: 3.11},
	codec.HSLRC256: {workload.Uniform: 3.22, workload.Clustered: 3.12, workload.Reordered: 3.00},
}

const aboutSample = "Sizes are measured on a sample of the lists, at regular distances in the order of their lengths, with all tables and headers. Our gap codecs have 128 values a segment, the paper's 64. Uniform stands for GOVR, clustered for GOV, reordered for GOVPR."

func (s *bench) aoTable2() harness.Exhibit {
	return harness.Exhibit{
		Name: "ao-table2", Title: "Optimal compression ratio", Source: "Ao et al. 2011, Table 2",
		Says:   "Gap codecs are best everywhere; line codecs are best where documents are numbered at random.",
		Ours:   aboutSample + " Each ratio is for the best share of exceptions.",
		Orders: harness.AllOrders, Rows: "codec",
		Run: func(ctx context.Context) error {
			for _, id := range packing(&s.Opt) {
				best, err := bestRatio(ctx, s.sample(ratioSample(&s.Opt)), id)
				if err != nil {
					return err
				}
				s.Put(harness.Reading{Panel: "GOV-like lists", Series: s.W.Order.String(), At: id.String(), Paper: paperRatios[id][s.W.Order], Row: ratioRow(best)})
			}
			if s.W.Order != s.Opt.Orders[0] {
				return nil
			}
			real, err := workload.ReadSets(s.Opt.Real)
			if err != nil {
				return err
			}
			for _, c := range real {
				for _, id := range packing(&s.Opt) {
					best, err := bestRatio(ctx, c, id)
					if err != nil {
						return err
					}
					row := ratioRow(best)
					row.Workload = c.Name
					s.Put(harness.Reading{Panel: "real lists", Series: id.String(), At: c.Name, Row: row})
				}
			}
			return nil
		},
	}
}

// bestRatio is the ratio at the best fraction of exceptions.
func bestRatio(ctx context.Context, c workload.Collection, id codec.ID) (best float64, err error) {
	for _, e := range exceptionRatios {
		r, err := ratioOfLists(ctx, c, id, workload.Encoding{Exceptions: e}.Options())
		if err != nil {
			return 0, err
		}
		if best = max(best, r); !takesExceptions(id) {
			break
		}
	}
	return best, nil
}

func ratioRow(ratio float64) measure.Row {
	return measure.Single(ratio).Into(measure.Row{Metric: "compression ratio", Unit: "plain size over encoded size"})
}

func (s *bench) aoFigure7() harness.Exhibit {
	return harness.Exhibit{
		Name: "ao-fig7", Title: "Compression ratio against the share of exceptions", Source: "Ao et al. 2011, Figure 7",
		Says:   "The ratios rise and then fall; without exceptions they are close to the maximum; the ratio of LRC does not change.",
		Ours:   aboutSample + " The share is the most that parapfor may use: it takes fewer where that is smaller, so its ratio does not fall. The others choose by themselves or have no exceptions: level lines.",
		Orders: harness.GovOrder, Rows: "exceptions",
		Chart: chart.Chart{Kind: chart.Lines, X: "largest share of exceptions", Y: "compression ratio"},
		Run: func(ctx context.Context) error {
			c := s.sample(ratioSample(&s.Opt))
			for _, id := range packing(&s.Opt) {
				ratio := 0.0
				for i, e := range exceptionRatios {
					if i == 0 || takesExceptions(id) {
						var err error
						if ratio, err = ratioOfLists(ctx, c, id, workload.Encoding{Exceptions: e}.Options()); err != nil {
							return err
						}
					}
					s.Put(harness.Reading{Panel: c.Name, Series: id.String(), At: fmt.Sprintf("%.1f", e), X: e, Row: ratioRow(ratio)})
				}
			}
			return nil
		},
	}
}
