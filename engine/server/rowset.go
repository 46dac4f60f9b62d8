package server

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/server/monitor"
	"heddle/engine/table/column"
	"heddle/engine/table/predicate"
	"heddle/engine/table/rowset"
)

// restriction is the rows that a request selects from.
type restriction struct {
	where string          // with the values of the set
	rows  *roaring.Bitmap // nil: all
}

// restrict returns the predicate and the rows of a request. A fault of the predicate is found with its
// place.
func (s *Server) restrict(ctx context.Context, table, where string, in *api.RowSet) (r restriction, err error) {
	r.where = where
	if in == nil {
		return r, nil
	}
	if in.Rows == nil && in.Roaring == nil && len(in.Values) == 0 {
		return r, badRequest(errors.New("in: it has no part: want rows, roaring or values"))
	}
	if in.Rows != nil {
		if err := within("documents", len(in.Rows.Numbers), s.limits().Documents); err != nil {
			return r, err
		}
		r.rows = roaring.BitmapOf(in.Rows.Numbers...)
	}
	if in.Roaring != nil {
		b, err := rowset.ReadRoaring(bytes.NewReader(in.Roaring), math.MaxUint32)
		if err != nil {
			return r, badRequest(fmt.Errorf("in: roaring: %w", err))
		}
		if r.rows == nil {
			r.rows = b
		} else {
			r.rows.And(b)
		}
	}
	if len(in.Values) > 0 {
		if r.where, err = s.withValues(ctx, table, where, in.Values); err != nil {
			return r, err
		}
	}
	r.where = cmp.Or(r.where, "TRUE")
	return r, nil
}

// bits returns the rows as the engine takes them; nil for all.
func (r *restriction) bits(t *engine.Table) ([]uint64, error) {
	if r.rows == nil {
		return nil, nil
	}
	info, err := t.Info()
	if err != nil {
		return nil, err
	}
	set, err := rowset.FromRoaring(r.rows, info.Rows)
	if err != nil {
		return nil, badRequest(fmt.Errorf("in: %w", err))
	}
	return set, nil
}

// withValues adds sets of values to a predicate.
func (s *Server) withValues(ctx context.Context, table, where string, sets []*api.ValueSet) (string, error) {
	types, err := s.typesOf(ctx, table)
	if err != nil {
		return "", err
	}
	if where != "" {
		if _, err := predicate.Parse(where); err != nil {
			return "", &engine.Error{Code: engine.InvalidQuery, Op: "select", Err: err}
		}
	}
	if x, err := s.tables.get(table); where != "" && s.opt.Remote == nil && err == nil {
		if _, err := x.Prepare(ctx, engine.Selection{Where: where, Caller: monitor.Of(ctx).Caller}); err != nil {
			return "", err
		}
	}
	var parts []string
	for _, set := range sets {
		kind, ok := types[set.GetColumn()]
		if !ok {
			return "", badRequest(fmt.Errorf("in: values: the table has no column %q", set.GetColumn()))
		}
		var values []string
		for i, v := range set.GetValues() {
			text, err := literal(kind, v)
			if err != nil {
				return "", badRequest(fmt.Errorf("in: values of column %q: values[%d]: %w", set.GetColumn(), i, err))
			}
			values = append(values, text)
		}
		if values == nil {
			parts = append(parts, "FALSE")
			continue
		}
		parts = append(parts, fmt.Sprintf(`"%s" IN (%s)`, strings.ReplaceAll(set.GetColumn(), `"`, `""`), strings.Join(values, ",")))
	}
	if where != "" {
		parts = append(parts, "("+where+"\n)") // a comment may end it
	}
	return strings.Join(parts, " AND "), nil
}

// typesOf returns the types of the columns of a table by name.
func (s *Server) typesOf(ctx context.Context, table string) (map[string]column.Type, error) {
	t, err := tableService{s}.GetTable(ctx, &api.GetTableRequest{Table: table})
	if err != nil {
		return nil, err
	}
	types := map[string]column.Type{}
	for _, c := range t.GetColumns() {
		if types[c.GetName()], err = column.ParseType(c.GetType()); err != nil {
			return nil, err
		}
	}
	return types, nil
}

// number matches the numbers of predicates.
var number = regexp.MustCompile(`^[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// literal returns a value as a predicate writes it.
func literal(kind column.Type, text string) (string, error) {
	quoted := "'" + strings.ReplaceAll(text, "'", "''") + "'"
	switch {
	case kind == column.String || kind.IsTime():
		return quoted, nil
	case kind == column.Bool:
		if lower := strings.ToLower(text); lower == "true" || lower == "false" {
			return lower, nil
		}
		return "", fmt.Errorf("%q: want true or false", text)
	case number.MatchString(text):
		return text, nil
	case kind == column.Float || kind == column.Float32:
		return quoted, nil // inf, -inf or nan; the table refuses other texts
	}
	return "", fmt.Errorf("%q is no number", text)
}
