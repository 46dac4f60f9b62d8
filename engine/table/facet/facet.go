// Package facet makes facets, the numbers of documents per value or bin of a column, from aggregates of the
// attribute table.
package facet

import (
	"cmp"
	"strconv"

	"heddle/engine/table/statement"
	"heddle/engine/table/values"
)

// Facet is the number of documents per value or bin of a column.
type Facet struct {
	Column string
	// Values by descending number of documents, ties in the order of the values of the column. A
	// missing value comes last among equals. Bins have their order; bins without documents come too,
	// and missing values last.
	Values []Value
	// Distinct is the number of values, or of bins with documents, that the matching documents have.
	// Missing values are not counted.
	Distinct uint64
}

// Value is one value or bin of a facet.
type Value struct {
	Value   string // as in CSV; for a bin "< 1900", "[1900, 1950)" or ">= 1950"; empty if Missing
	Missing bool   // documents without a value
	Count   uint64
}

// Default is the number of values of a facet if no other number is asked for.
const Default = 10

// Ask asks for facets: see engine.Facets.
type Ask struct {
	Columns   []string
	Limit     int
	CountOnly bool
}

// Most is the number of values of each facet; negative: all.
func (a *Ask) Most() int {
	if a.CountOnly {
		return 0
	}
	return cmp.Or(a.Limit, Default)
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

// Add adds the next rows of the answer to Clauses. most is the result of Ask.Most.
func (f *Facet) Add(b values.Batch, most int) error {
	of, count := &b[0], &b[1]
	if f.Column = of.Name; f.Values == nil {
		f.Values = []Value{}
	}
	if of.Ordered && len(f.Values) == 0 { // bins: all of them
		for _, label := range of.Dictionary {
			f.Values = append(f.Values, Value{Value: label})
		}
	}
	for i := range b.Len() {
		n, err := strconv.ParseUint(count.Format(count.Codes[i]), 10, 64)
		if err != nil {
			return err
		}
		v := Value{Missing: of.Null(i), Count: n}
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
