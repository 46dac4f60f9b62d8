package engine

import (
	"context"
	"fmt"

	"heddle/engine/failure"
	"heddle/engine/file/mapped"
	"heddle/engine/index/querylang"
	"heddle/engine/internal/facet"
	"heddle/engine/internal/limit"
	"heddle/engine/internal/lists"
	"heddle/engine/internal/part"
	"heddle/engine/internal/query"
	"heddle/engine/internal/tables"
	"heddle/engine/syntax"
	"heddle/engine/table/partial"
	"heddle/engine/table/result"
	"heddle/engine/table/rowset"
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
const DefaultFacets = 10

// Facet is the number of documents per value or bin of a column.
type Facet struct {
	Column string
	// Values by descending number of documents, ties in the order of the values of the column. A
	// missing value comes last among equals. Bins have their order; bins without documents come too,
	// and missing values last.
	Values []FacetValue
	// Distinct is the number of values, or of bins with documents, that the matching documents have.
	// Missing values are not counted.
	Distinct uint64
}

// FacetValue is one value or bin of a facet.
type FacetValue struct {
	Value   string // as in CSV; for a bin "< 1900", "[1900, 1950)" or ">= 1950"; empty if Missing
	Missing bool   // documents without a value
	Count   uint64
}

// Facets counts the documents that match q per value of columns. The counts are exact and include all
// matching documents: K, CountOnly and the weights of q have no effect, except that AndOr means Or
// for a query with operators, and for one that has fewer than K documents under And. It returns the
// number of matching documents too.
//
// Errors: the errors of Search and Table.Aggregate; code InvalidQuery for an unknown column, and with a
// *FilterSizeError for a table with another number of rows than the index has documents.
func (x *Index) Facets(ctx context.Context, q Query, f Facets) (matches uint64, all []Facet, err error) {
	g, err := x.x.Acquire()
	if err != nil {
		return 0, nil, failure.Wrap("facets", err)
	}
	defer g.Release()
	var in filtering
	defer in.release()
	return facets(ctx, g, q, &f, &in)
}

// Facets is Index.Facets on the snapshot.
func (s *Snapshot) Facets(ctx context.Context, q Query, f Facets) (matches uint64, all []Facet, err error) {
	g, err := s.lists("facets")
	if err != nil {
		return 0, nil, err
	}
	var in filtering
	defer in.release()
	return facets(ctx, g, q, &f, &in)
}

// SearchFacets is Search and Facets of one query. Both see one content of each table, which a Reload
// may replace meanwhile.
func (s *Snapshot) SearchFacets(ctx context.Context, q Query, f Facets) (h Hits, matches uint64, all []Facet, err error) {
	g, err := s.lists("search")
	if err != nil {
		return h, 0, nil, err
	}
	ctx, stop, err := bounded(ctx, g, &q)
	if err != nil {
		return h, 0, nil, err
	}
	defer stop()
	var in filtering
	defer in.release()
	total := q.Total
	q.Total = 0 // the facets count the same documents
	if h, err = searchIn(ctx, g, &q, &in); err == nil {
		matches, all, err = facets(ctx, g, q, &f, &in)
	}
	if err == nil && total > 0 {
		h.Total = Total(query.UpTo(matches, total))
	}
	return h, matches, all, err
}

func facets(ctx context.Context, g *lists.Generation, q Query, f *Facets, in *filtering) (matches uint64, all []Facet, err error) {
	matches, err = eachFacet(ctx, g, q, f, in, func(t *tables.Generation, end *limit.Until, name string, q *result.Query, rows []uint64) error {
		var one facet.Facet[FacetValue]
		err := t.Values(end, q, rows, 0, 0, func(b values.Batch) error { return one.Add(b, facet.Most(f.Limit, f.CountOnly)) })
		all = append(all, Facet(one))
		return err
	})
	return matches, all, err
}

func init() {
	part.Facets = func(ctx context.Context, s, q, f any) (uint64, []*partial.State, error) {
		return facetsPart(ctx, s.(*Snapshot), *q.(*Query), f.(*Facets))
	}
	part.Aggregate = func(ctx context.Context, t, a any) (*partial.State, error) {
		return aggregatePart(ctx, t.(*Table), a.(*Aggregation))
	}
}

// facetsPart implements part.Facets.
func facetsPart(ctx context.Context, s *Snapshot, q Query, f *Facets) (matches uint64, all []*partial.State, err error) {
	g, err := s.lists("facets")
	if err != nil {
		return 0, nil, err
	}
	var in filtering
	defer in.release()
	q.K = 0
	matches, err = eachFacet(ctx, g, q, f, &in, func(t *tables.Generation, end *limit.Until, _ string, q *result.Query, rows []uint64) error {
		state, err := t.Part(end, q, rows, 0, 0)
		all = append(all, state)
		return err
	})
	return matches, all, err
}

// eachFacet calls count for each column of f with its statement and the rows of the documents that
// match q. It returns the number of these documents.
func eachFacet(ctx context.Context, g *lists.Generation, q Query, f *Facets, in *filtering, count func(t *tables.Generation, end *limit.Until, name string, q *result.Query, rows []uint64) error) (matches uint64, err error) {
	defer failure.Catch("facets", &err)
	defer mapped.Catch(mapped.Watch(), &err)
	if f.Table == nil {
		return 0, invalidFacet("a table is needed")
	}
	t, err := in.open(f.Table)
	if err != nil {
		return 0, failure.Wrap("facets", err)
	}
	if t.Table.Rows != g.Source.Docs {
		return 0, failure.Wrap("facets", query.AsInvalid(&FilterSizeError{t.Table.Rows, g.Source.Docs}))
	}
	ctx, stop, err := bounded(ctx, g, &q)
	if err != nil {
		return 0, err
	}
	defer stop()
	end := limit.Until{Context: ctx}
	docs, err := matching(ctx, g, q, in)
	if err != nil {
		return 0, err
	}
	rows, err := rowset.FromIDs(docs, g.Source.Docs)
	if err != nil {
		return 0, failure.Wrap("facets", err)
	}
	queries := make([]*result.Query, len(f.Columns))
	for i, name := range f.Columns {
		clauses, err := facet.Clauses(name)
		if err == nil {
			queries[i], err = t.CompileValues(clauses)
		}
		if err != nil {
			return 0, failure.Wrap("facets", fmt.Errorf("facet %s: %w", syntax.Quote(name), err))
		}
	}
	if err := t.Count(ctx, rows, queries); err != nil {
		return 0, failure.Wrap("facets", err)
	}
	for i, name := range f.Columns {
		err := end.Err()
		if err == nil {
			err = count(t, &end, name, queries[i], rows)
		}
		if err != nil {
			return 0, failure.Wrap("facets", fmt.Errorf("facet %s: %w", syntax.Quote(name), err))
		}
	}
	return uint64(len(docs)), nil
}

// bounded returns a context that ends with the time-out of q, for all steps of a call together.
func bounded(ctx context.Context, g *lists.Generation, q *Query) (context.Context, context.CancelFunc, error) {
	call, err := q.call()
	if err != nil {
		return nil, nil, err
	}
	at := g.Until(ctx, &call.Call).Deadline
	if at.IsZero() {
		return ctx, func() {}, nil
	}
	ctx, stop := context.WithDeadline(ctx, at)
	return ctx, stop, nil
}

func invalidFacet(text string) error {
	return &Error{Code: InvalidQuery, Op: "facets", Err: fmt.Errorf("facets: %s", text)}
}

// matching returns the documents that match q, ascending.
func matching(ctx context.Context, g *lists.Generation, q Query, in *filtering) ([]uint32, error) {
	k, either := uint64(q.K), q.Match == AndOr && q.K > 0
	q.Total = 0
	q.K, q.CountOnly, q.Weights, q.Scoring, q.Statistics, q.Explain = 0, false, nil, nil, nil, nil
	if either {
		q.Match = And
		if !q.Literal && querylang.HasOperators(q.Text) { // the words beside operators are joined by Or
			q.Match, either = Or, false
		}
	}
	in.size = 0
	h, err := searchIn(ctx, g, &q, in)
	if err == nil && either && h.Count < k {
		q.Match = Or
		in.size = 0
		h, err = searchIn(ctx, g, &q, in)
	}
	return h.Docs, err
}
