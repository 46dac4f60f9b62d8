package rows

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/plan"
	"heddle/engine/server/problem"
	"heddle/engine/syntax"
	"heddle/engine/table/column"
	"heddle/engine/table/predicate"
	"heddle/engine/table/rowset"
)

// Restriction is the rows that a request selects from.
type Restriction struct {
	Where string          // the predicate with the values of the set
	Rows  *roaring.Bitmap // nil: all
}

// Restrict returns the predicate and the rows of a request, of which most may be given. A fault of the predicate
// is found with its place.
func Restrict(where string, in *api.RowSet, most int, columns func() ([]column.Column, error)) (r Restriction, err error) {
	r.Where = where
	if in == nil {
		return r, nil
	}
	if in.Rows == nil && in.Roaring == nil && len(in.Values) == 0 {
		return r, problem.BadRequest(errors.New("in: it has no part: want rows, roaring or values"))
	}
	if in.Rows != nil {
		if err := problem.Within("documents", len(in.Rows.Numbers), most); err != nil {
			return r, err
		}
		r.Rows = roaring.BitmapOf(in.Rows.Numbers...)
	}
	if in.Roaring != nil {
		b, err := rowset.ReadRoaring(bytes.NewReader(in.Roaring), math.MaxUint32)
		if err != nil {
			return r, problem.BadRequest(fmt.Errorf("in: roaring: %w", err))
		}
		if r.Rows == nil {
			r.Rows = b
		} else {
			r.Rows.And(b)
		}
	}
	if len(in.Values) > 0 {
		if r.Where, err = withValues(where, in.Values, columns); err != nil {
			return r, err
		}
	}
	r.Where = cmp.Or(r.Where, "TRUE")
	return r, nil
}

// Bits returns the rows as the engine takes them; nil for all.
func (r *Restriction) Bits(t *engine.Table) ([]uint64, error) {
	if r.Rows == nil {
		return nil, nil
	}
	info, err := t.Info()
	if err != nil {
		return nil, err
	}
	set, err := rowset.FromRoaring(r.Rows, info.Rows)
	if err != nil {
		return nil, problem.BadRequest(fmt.Errorf("in: %w", err))
	}
	return set, nil
}

// withValues adds sets of values to a predicate.
func withValues(where string, sets []*api.ValueSet, table func() ([]column.Column, error)) (string, error) {
	columns, err := table()
	if err != nil {
		return "", err
	}
	if where != "" { // so that a fault has its place in where, and not in the joined predicate
		e, err := predicate.Parse(where)
		if err == nil {
			_, err = predicate.Compile(e, columns, 0, new(plan.SelectBatch))
		}
		if err != nil {
			return "", &engine.Error{Code: engine.InvalidQuery, Op: "select", Err: err}
		}
	}
	var parts []string
	for _, set := range sets {
		at := slices.IndexFunc(columns, func(c column.Column) bool { return c.Name == set.GetColumn() })
		if at < 0 {
			return "", problem.BadRequest(fmt.Errorf("in: values: the table has no column %s", syntax.Quote(set.GetColumn())))
		}
		var values []string
		for i, v := range set.GetValues() {
			text, err := literal(columns[at].Type, v)
			if err != nil {
				return "", problem.BadRequest(fmt.Errorf("in: values of column %q: values[%d]: %w", set.GetColumn(), i, err))
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
		return "", fmt.Errorf("%s: want true or false", syntax.Quote(text))
	case number.MatchString(text):
		return text, nil
	case kind == column.Float || kind == column.Float32:
		return quoted, nil // inf, -inf or nan; the table refuses other texts
	}
	return "", fmt.Errorf("%s is no number", syntax.Quote(text))
}
