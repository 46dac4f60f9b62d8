package tables

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"heddle/engine/internal/limit"
	"heddle/engine/internal/schedule"
	"heddle/engine/table/group"
	"heddle/engine/table/partial"
	"heddle/engine/table/result"
	"heddle/engine/table/statement"
	"heddle/engine/table/values"
)

// CompileValues compiles a statement. The query belongs to the caller, who may set its Cells. Errors:
// *syntax.Error, *limit.Error.
func (g *Generation) CompileValues(c statement.Clauses) (*result.Query, error) {
	q, err := g.statements.get(c, func() (q *result.Query, bytes int, err error) {
		if q, err = g.compileValues(c); err == nil {
			bytes = len(c.Select) + len(c.GroupBy) + len(c.OrderBy) + q.Size()
		}
		return q, bytes, err
	})
	if err != nil {
		return nil, err
	}
	own := *q
	return &own, nil
}

func (g *Generation) compileValues(c statement.Clauses) (*result.Query, error) {
	for _, text := range []string{c.Select, c.GroupBy, c.OrderBy} {
		if err := g.pool.Limits().CheckText(text); err != nil {
			return nil, err
		}
	}
	s, err := statement.Parse(c)
	if err != nil {
		return nil, err
	}
	return result.Compile(s, g.Columns)
}

// Values passes the values of rows to deliver. Errors: of result.Query.Run; *limit.Error.
func (g *Generation) Values(until *limit.Until, q *result.Query, rows []uint64, offset, most uint64, deliver func(values.Batch) error) error {
	l := g.pool.Limits()
	return named(l, q.Run(g.Table, rows, g.options(l, until.Err, offset, most), deliver))
}

// Rows returns the values of columns in rows, in any order; "*" is all columns. Errors: *syntax.Error, *limit.Error, and
// hdb.ErrCorrupt.
func (g *Generation) Rows(until *limit.Until, columns []string, rows []uint32) (values.Batch, error) {
	names := make([]string, len(columns))
	for i, name := range columns {
		if names[i] = name; name != "*" {
			names[i] = statement.Term{Column: name}.String()
		}
	}
	q, err := g.CompileValues(statement.Clauses{Select: strings.Join(names, ", ")})
	if err != nil {
		return nil, err
	}
	l := g.pool.Limits()
	b, err := q.Rows(g.Table, rows, g.options(l, until.Err, 0, 0))
	return b, named(l, err)
}

// Part computes the state of rows (package partial). Errors: of Values.
func (g *Generation) Part(until *limit.Until, q *result.Query, rows []uint64, offset, most uint64) (*partial.State, error) {
	l := g.pool.Limits()
	s, err := partial.Of(q, g.Columns, g.Table, rows, g.options(l, until.Err, offset, most))
	return s, named(l, err)
}

// Join computes the values of a table from the states of its parts. Limits that are 0 have their
// defaults. Errors: of partial.Merge; *limit.Error.
func Join(c statement.Clauses, l limit.Limits, parts []*partial.State, offset, most uint64) (values.Batch, error) {
	l.EnsureDefaults()
	b, err := partial.Merge(c, parts, options(&l, nil, offset, most))
	return b, named(&l, err)
}

func options(l *limit.Limits, ended func() error, offset, most uint64) result.Options {
	return result.Options{Offset: offset, Limit: most, Options: group.Options{Groups: l.Groups, Codes: l.Values, Ended: ended}}
}

// options are options with the values of the multi-valued columns.
func (d *Data) options(l *limit.Limits, ended func() error, offset, most uint64) result.Options {
	opt := options(l, ended, offset, most)
	opt.Values = d.list
	return opt
}

// named names the limit of an error.
func named(l *limit.Limits, err error) error {
	switch {
	case errors.Is(err, group.ErrGroups):
		return &limit.Error{Name: "Groups", Limit: l.Groups}
	case errors.Is(err, group.ErrCodes):
		return &limit.Error{Name: "Values", Limit: l.Values}
	case errors.Is(err, schedule.ErrDeadline):
		return fmt.Errorf("%w while values were computed: %w", schedule.ErrDeadline, context.DeadlineExceeded)
	}
	return err
}
