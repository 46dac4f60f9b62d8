// Package facet makes facets, the numbers of documents per value or bin of a column, from aggregates of the
// attribute table.
package facet

import (
	"cmp"
	"strconv"

	"heddle/engine/internal/limit"
	"heddle/engine/internal/tables"
	"heddle/engine/table/partial"
	"heddle/engine/table/statement"
	"heddle/engine/table/values"
)

type value = struct {
	Value   string
	Missing bool
	Count   uint64
}

// Facet has the fields of engine.Facet; V is engine.FacetValue.
type Facet[V ~struct {
	Value   string
	Missing bool
	Count   uint64
}] struct {
	Column   string
	Values   []V
	Distinct uint64
}

// Most is the number of values of a facet with Limit and CountOnly of engine.Facets; negative: all.
func Most(limit int, countOnly bool) int {
	if countOnly {
		return 0
	}
	return cmp.Or(limit, 10) // engine.DefaultFacets
}

// Clauses is the statement that counts the values or bins of a column.
func Clauses(name string) (c statement.Clauses, err error) {
	if statement.IsBins(name) {
		s, err := statement.Parse(statement.Clauses{Select: name})
		if err == nil && len(s.Items) > 1 {
			err = statement.Fail(name, s.Items[1].At, "one column is expected here")
		}
		return statement.Clauses{Select: name + ", count(*)", GroupBy: name}, err
	}
	quoted := statement.Term{Column: name}.String()
	return statement.Clauses{Select: quoted + ", count(*)", GroupBy: quoted, OrderBy: "2 DESC, 1"}, nil
}

// Add adds the next rows of the answer to Clauses. most is the result of Most.
func (f *Facet[V]) Add(b values.Batch, most int) error {
	of, count := &b[0], &b[1]
	if f.Column = of.Name; f.Values == nil {
		f.Values = []V{}
	}
	if of.Ordered && len(f.Values) == 0 { // bins: all of them
		for _, label := range of.Dictionary {
			f.Values = append(f.Values, V{Value: label})
		}
	}
	for i := range b.Len() {
		n, err := strconv.ParseUint(count.Format(count.Codes[i]), 10, 64)
		if err != nil {
			return err
		}
		v := value{Missing: of.Null(i), Count: n}
		if !v.Missing {
			f.Distinct++
		}
		switch {
		case of.Ordered && !v.Missing:
			v.Value = of.Dictionary[of.Codes[i]]
			f.Values[of.Codes[i]] = v
			continue
		case !of.Ordered && most >= 0 && len(f.Values) == most:
			continue
		case !v.Missing:
			v.Value = string(of.Append(nil, of.Codes[i]))
		}
		f.Values = append(f.Values, v)
	}
	return nil
}

// Join makes a facet from the states of all parts of an index, in their order (part.Facets). It changes them.
// most is as in Add. Errors: the errors of tables.Join.
func Join[V ~struct {
	Value   string
	Missing bool
	Count   uint64
}](name string, most int, l limit.Limits, parts []*partial.State) (f Facet[V], err error) {
	clauses, err := Clauses(name)
	if err != nil {
		return f, err
	}
	b, err := tables.Join(clauses, l, parts, 0, 0)
	if err != nil {
		return f, err
	}
	return f, f.Add(b, most)
}
