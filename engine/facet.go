package engine

import (
	"context"

	"heddle/engine/failure"
	"heddle/engine/internal/facet"
	"heddle/engine/internal/filter"
	"heddle/engine/internal/limit"
	"heddle/engine/internal/lists"
	"heddle/engine/internal/query"
	"heddle/engine/internal/tables"
	"heddle/engine/plan"
	counts "heddle/engine/table/facet"
	"heddle/engine/table/result"
	"heddle/engine/table/values"
)

// Facets asks for the numbers of matching documents per value of columns.
type Facets struct {
	// Table is the attribute table of the index: its row i describes document i.
	Table *Table
	// Columns to count, by name, or bins of a column: bins(year, 1900, 1950) counts the documents below
	// 1900, from 1900 to below 1950, and from 1950 on. bins(year) has the bins of the table; an index
	// of several parts refuses it. Each element of Columns gives one Facet.
	Columns []string
	// Limit is the number of values of a column, the most frequent ones. It does not limit bins.
	// Default: 0, 10; negative: all.
	Limit int
	// CountOnly asks for the number of values of a column alone (Facet.Distinct). Limit has no effect then.
	CountOnly bool
}

// DefaultFacets is the number of values of a facet whose Limit is 0.
const DefaultFacets = counts.Default

// Facet is the number of documents per value or bin of a column.
type Facet = counts.Facet

// FacetValue is one value or bin of a facet.
type FacetValue = counts.Value

// Facets counts the documents that match q per value of columns. The counts are exact and include all
// matching documents: K, CountOnly and the weights of q have no effect, except that AndOr means Or
// for a query with operators, and for one that has fewer than K documents under And. It returns the
// number of matching documents too.
//
// Errors: the errors of Search and Table.Aggregate; code InvalidQuery for an unknown column, and with a
// *FilterSizeError for a table with another number of rows than the index has documents.
func (x *Index) Facets(ctx context.Context, q Query, f Facets) (matches uint64, all []Facet, err error) {
	g, err := x.Internal().Acquire()
	if err != nil {
		return 0, nil, failure.Wrap("facets", err)
	}
	defer g.Release()
	var in filter.Compiler
	defer in.Release()
	return facets(ctx, g, q, &f, &in)
}

// Facets is Index.Facets on the snapshot.
func (s *Snapshot) Facets(ctx context.Context, q Query, f Facets) (matches uint64, all []Facet, err error) {
	g, err := s.lists("facets")
	if err != nil {
		return 0, nil, err
	}
	var in filter.Compiler
	defer in.Release()
	return facets(ctx, g, q, &f, &in)
}

// SearchFacets is Search and Facets of one query. Both see one content of each table, which a Reload
// may replace meanwhile.
func (s *Snapshot) SearchFacets(ctx context.Context, q Query, f Facets) (h Hits, matches uint64, all []Facet, err error) {
	g, err := s.lists("search")
	if err != nil {
		return h, 0, nil, err
	}
	call, err := q.call()
	if err != nil {
		return h, 0, nil, err
	}
	ctx, stop := g.Bounded(ctx, &call.Call)
	defer stop()
	var in filter.Compiler
	defer in.Release()
	total := q.Total
	if !q.ordered() {
		q.Total = 0 // the facets count the same documents
	}
	if h, err = searchIn(ctx, g, &q, &in); err == nil {
		matches, all, err = facets(ctx, g, q, &f, &in)
	}
	if err == nil && total > 0 && !q.ordered() {
		h.Total = plan.UpTo(matches, total)
	}
	return h, matches, all, err
}

func facets(ctx context.Context, g *lists.Generation, q Query, f *Facets, in *filter.Compiler) (matches uint64, all []Facet, err error) {
	a := facet.Ask{Query: new(query.Query), Filter: q.Filter.form(), Columns: f.Columns}
	if f.Table != nil {
		a.Table = f.Table.Internal()
	}
	if a.Call, err = q.call(); err != nil {
		return 0, nil, err
	}
	q.internal(a.Query)
	q.whole(a.Query)
	most := (&counts.Ask{Limit: f.Limit, CountOnly: f.CountOnly}).Most()
	matches, err = facet.Each(ctx, g, &a, in, func(t *tables.Generation, until *limit.Until, q *result.Query, rows []uint64) error {
		var one Facet
		err := t.Values(until, q, rows, 0, 0, func(b values.Batch) error { return one.Add(b, most) })
		all = append(all, one)
		return err
	})
	return matches, all, err
}
