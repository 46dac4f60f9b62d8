package lists

import (
	"context"
	"fmt"

	"heddle/engine/bench/chart"
	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
	"heddle/engine/bench/workload"
)

// scatterPoints is the number of points of a list in Figure 1.
const scatterPoints = 64

func (s *bench) aoFigure1() harness.Exhibit {
	return harness.Exhibit{
		Name: "ao-fig1", Title: "DocIDs of a list over their index", Source: "Ao et al. 2011, Figure 1",
		Says:  "Lists tend to be linear, most of all where documents are numbered at random.",
		Ours:  "One generated list of about 10,000 docIDs for each data set, 64 points of each; the index as a share of the list, the docID as a share of the documents.",
		Found: `The points stray by at most {{most (off (rows "" "GOVR|GOV2R|BDR" ""))}} % of the documents from the diagonal where documents are numbered at random, else by {{most (off (rows "" "GOV|GOVPR|GOV2|BD" ""))}} %.`,
		Rows:  "index",
		Chart: chart.Chart{Kind: chart.Lines, X: "index, % of the list", Y: "docID, % of the documents"},
		Run: func(ctx context.Context) error {
			for _, d := range harness.DataSets(&s.Opt) {
				lists, err := d.Draw(ctx, s.Opt.Seed, d.Terms(s.scaled(9000), s.scaled(11_000), 1))
				if err != nil {
					return err
				}
				for _, docs := range lists {
					last := len(docs) - 1
					for i := range scatterPoints {
						at := i * last / (scatterPoints - 1)
						x, y := 100*float64(i)/(scatterPoints-1), 100*float64(docs[at])/float64(d.Docs)
						s.Put(harness.Reading{Panel: "one list", Series: d.Name, At: fmt.Sprintf("%.0f %%", x), X: x,
							Row: measure.Single(y).Into(measure.Row{Metric: "docID", Unit: "% of the documents"})})
					}
				}
			}
			return nil
		},
	}
}

// scaled returns a length for the number of documents of the options.
func (s *bench) scaled(length uint64) uint64 {
	return length * uint64(s.Opt.GOVDocs) / workload.DocCount
}
