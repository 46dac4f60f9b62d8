package server

import (
	"context"
	"strings"

	"heddle/engine"
	"heddle/engine/api"
)

// facets adds the facets of a search to its answer.
func (i indexService) facets(ctx context.Context, r *api.SearchRequest, q engine.Query, out *api.SearchResponse) error {
	asked := r.GetFacets()
	name := asked.GetTable()
	if name == "" {
		name = r.GetIndex()
	}
	table, err := i.s.tables.get(name)
	if err != nil {
		return err
	}
	limit := int(asked.GetLimit())
	if limit == 0 {
		limit = engine.DefaultFacets
	}
	if err := within("documents", limit*len(asked.GetColumns()), i.s.limits().Documents); err != nil {
		return err
	}
	x, err := i.s.indexes.get(r.GetIndex())
	if err != nil {
		return err
	}
	matches, all, err := x.Facets(ctx, q, engine.Facets{Table: table, Columns: asked.GetColumns(), Limit: limit})
	if err != nil {
		return err
	}
	out.Facets = &api.FacetAnswer{Matches: matches}
	for _, f := range all {
		facet := &api.Facet{Column: f.Column, Distinct: f.Distinct}
		for _, v := range f.Values {
			facet.Values = append(facet.Values, &api.FacetValue{Value: strings.ToValidUTF8(v.Value, "\uFFFD"), Missing: v.Missing, Count: v.Count})
		}
		out.Facets.Columns = append(out.Facets.Columns, facet)
	}
	return nil
}
