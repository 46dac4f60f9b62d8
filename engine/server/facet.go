package server

import (
	"strings"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/server/inspect"
	"heddle/engine/server/problem"
)

// facets returns the facets that a search asks for; nil for none.
func (s *Server) facets(r inspect.Counted) (*engine.Facets, error) {
	asked := r.GetFacets()
	if asked == nil {
		return nil, nil
	}
	f := &engine.Facets{Columns: asked.GetColumns(), Limit: engine.DefaultFacets}
	if asked.Limit != nil {
		f.Limit, f.CountOnly = int(asked.GetLimit()), asked.GetLimit() == 0
	}
	if err := problem.Within("documents", f.Limit*len(f.Columns), s.limits().Documents); err != nil {
		return nil, err
	}
	var err error
	f.Table, err = s.attributes(r.GetIndex(), asked.GetTable())
	return f, err
}

// facetAnswer is the answer to facets.
func facetAnswer(matches uint64, all []engine.Facet) *api.FacetAnswer {
	out := &api.FacetAnswer{Matches: matches}
	for _, f := range all {
		facet := &api.Facet{Column: f.Column, Distinct: f.Distinct}
		for _, v := range f.Values {
			value := &api.FacetValue{Missing: v.Missing, Count: v.Count}
			if !v.Missing {
				text := strings.ToValidUTF8(v.Value, "\uFFFD")
				value.Value = &text
			}
			facet.Values = append(facet.Values, value)
		}
		out.Columns = append(out.Columns, facet)
	}
	return out
}
