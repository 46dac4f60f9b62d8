package answer

import (
	"context"
	"fmt"
	"strconv"

	"heddle/engine"
	"heddle/engine/cmd/heddle/internal/terminal"
	"heddle/engine/index/trec"
)

// facetAnswer is the facets of a query in jsonl. Its names are part of the command line's contract.
type facetAnswer struct {
	Query   string      `json:"query"`
	Matches uint64      `json:"matches"` // documents, ranked or not
	Facets  []facetJSON `json:"facets"`
}

type facetJSON struct {
	Column   string       `json:"column"`
	Distinct uint64       `json:"distinct"`
	Values   []facetValue `json:"values"`
}

type facetValue struct {
	Value *string `json:"value"` // null: the documents have no value
	Count uint64  `json:"count"`
}

// facets prints the facets of query asked.
func (s *Searcher) facets(ctx context.Context, q trec.Topic, asked engine.Query) error {
	matches, all, err := s.Index.Facets(ctx, asked, *s.Facets)
	if err != nil {
		return err
	}
	return s.Writer.facets(q, matches, all)
}

// facets prints the facets of query q.
func (w *Writer) facets(q trec.Topic, matches uint64, all []engine.Facet) error {
	if w.Format == "jsonl" {
		a := facetAnswer{Query: q.ID, Matches: matches}
		for _, f := range all {
			j := facetJSON{Column: f.Column, Distinct: f.Distinct, Values: []facetValue{}}
			for _, v := range f.Values {
				value := &v.Value
				if v.Missing {
					value = nil
				}
				j.Values = append(j.Values, facetValue{value, v.Count})
			}
			a.Facets = append(a.Facets, j)
		}
		return terminal.WriteJSON(w.Out, a)
	}
	for _, f := range all {
		for _, v := range f.Values {
			value := terminal.Field(v.Value)
			if value == "" && !v.Missing {
				value = `""` // as in CSV: no value is empty
			}
			line := "facet\t" + terminal.Field(f.Column) + "\t" + value + "\t" + strconv.FormatUint(v.Count, 10) + "\n"
			if w.IDs {
				line = terminal.Field(q.ID) + "\t" + line
			}
			if _, err := fmt.Fprint(w.Out, line); err != nil {
				return err
			}
		}
	}
	return nil
}
