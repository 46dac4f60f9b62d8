// Package facet counts the documents that match a query per value or bin of columns of the attribute table.
package facet

import (
	"context"
	"errors"
	"fmt"

	"heddle/engine/failure"
	"heddle/engine/file/mapped"
	"heddle/engine/index/querylang"
	"heddle/engine/internal/filter"
	"heddle/engine/internal/limit"
	"heddle/engine/internal/lists"
	"heddle/engine/internal/query"
	"heddle/engine/internal/tables"
	"heddle/engine/syntax"
	"heddle/engine/table/facet"
	"heddle/engine/table/result"
	"heddle/engine/table/rowset"
)

// Ask asks for facets: see engine.Facets.
type Ask struct {
	Query   *query.Query
	Filter  *filter.Filter // nil: all documents
	Call    lists.Call
	Table   *tables.Table // attribute table
	Columns []string
}

// Count counts the values of a column in rows by its statement.
type Count func(t *tables.Generation, until *limit.Until, q *result.Query, rows []uint64) error

// Each calls count for each column with the rows of the documents that match the query. It returns the number of
// these documents. Errors: *failure.Error.
func Each(ctx context.Context, g *lists.Generation, a *Ask, in *filter.Compiler, count Count) (matches uint64, err error) {
	defer func() { err = failure.Wrap("facets", err) }()
	defer mapped.Catch(mapped.Watch(), &err)
	if a.Table == nil {
		return 0, query.AsInvalid(errors.New("facets: a table is needed"))
	}
	t, err := in.Open(a.Table)
	if err != nil {
		return 0, err
	}
	if t.Table.Rows != g.Source.Docs {
		return 0, query.AsInvalid(&failure.FilterSizeError{Rows: t.Table.Rows, Docs: g.Source.Docs})
	}
	ctx, stop := g.Bounded(ctx, &a.Call.Call)
	defer stop()
	docs, err := matching(ctx, g, a, in)
	if err != nil {
		return 0, failure.Wrap("search", err)
	}
	rows, err := rowset.FromIDs(docs, g.Source.Docs)
	if err != nil {
		return 0, err
	}
	queries := make([]*result.Query, len(a.Columns))
	for i, name := range a.Columns {
		clauses, err := facet.Clauses(name)
		if err == nil {
			queries[i], err = t.CompileValues(clauses)
		}
		if err != nil {
			return 0, fmt.Errorf("facet %s: %w", syntax.Quote(name), err)
		}
	}
	if err := t.Count(ctx, rows, queries); err != nil {
		return 0, err
	}
	until := limit.Until{Context: ctx}
	for i, name := range a.Columns {
		err := until.Err()
		if err == nil {
			err = count(t, &until, queries[i], rows)
		}
		if err != nil {
			return 0, fmt.Errorf("facet %s: %w", syntax.Quote(name), err)
		}
	}
	return uint64(len(docs)), nil
}

// matching returns the documents that match the query, ascending.
func matching(ctx context.Context, g *lists.Generation, a *Ask, in *filter.Compiler) ([]uint32, error) {
	search := func(match querylang.Match) (lists.Answer, error) {
		q := query.Get()
		q.Text, q.Literal, q.Terms, q.Weights, q.Expr = a.Query.Text, a.Query.Literal, a.Query.Terms, nil, a.Query.Expr
		q.Options = a.Query.Documents(match)
		call := a.Call
		call.Explain = nil
		in.Restart()
		return in.Search(ctx, g, q, a.Filter, &call)
	}
	match, k := a.Query.Match, a.Query.K
	if match != querylang.AllElseAny || k == 0 {
		h, err := search(match)
		return h.Docs, err
	}
	if !a.Query.Literal && querylang.HasOperators(a.Query.Text) { // the words beside operators are joined by OR
		h, err := search(querylang.AnyTerm)
		return h.Docs, err
	}
	h, err := search(querylang.AllTerms)
	if err == nil && h.Count < uint64(k) {
		h, err = search(querylang.AnyTerm)
	}
	return h.Docs, err
}
