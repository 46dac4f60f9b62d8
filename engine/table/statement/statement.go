// Package statement reads the clauses of a query for values: select list, GROUP BY and
// ORDER BY, in the syntax of SQL.
//
//	select    = item { "," item }
//	item      = "*" | term [ [ AS ] name ]
//	term      = column
//	          | count "(" "*" ")" | count "(" [ DISTINCT ] column ")"
//	          | ( sum | avg | min | max ) "(" column ")"
//	          | quantile "(" column "," fraction ")"           fraction from 0 to 1
//	          | bins
//	bins      = bins "(" column { "," bound } ")"            bound: a number, a text, TRUE or FALSE
//	group by  = ( column | bins ) { "," ( column | bins ) }
//	order by  = key { "," key }
//	key       = ( term | name of an item | number of an item, from 1 )
//	            [ ASC | DESC ] [ NULLS ( FIRST | LAST ) ]
//
// Words may be written in any case. Columns have the names of predicates
// (engine/table/predicate). Values that are missing come last, in both directions, unless
// NULLS FIRST is given.
package statement

import (
	"slices"
	"strings"

	"heddle/engine/syntax"
	"heddle/engine/table/column"
	"heddle/engine/table/token"
)

// Function is the kind of a Term.
type Function uint8

const (
	Column        Function = iota // the value of a column
	Bins                          // the bin of a value
	All                           // *: all columns
	Rows                          // count(*)
	Count                         // rows with a value
	CountDistinct                 // different values
	Sum
	Avg
	Min
	Max
	Quantile // the least value that a fraction of the values do not exceed
)

var functions = map[string]Function{"count": Count, "sum": Sum, "avg": Avg, "min": Min, "max": Max, "quantile": Quantile, "bins": Bins}

var names = []string{Bins: "bins", Rows: "count", Count: "count", CountDistinct: "count", Sum: "sum", Avg: "avg", Min: "min", Max: "max", Quantile: "quantile"}

// Term is a column, the bins of a column, or an aggregate of a column.
type Term struct {
	Function Function
	Column   string  // empty for All and Rows
	Fraction string  // fraction of Quantile, a number from 0 to 1
	Bounds   []Bound // where the bins of Bins after the first bin begin; empty: the bins of the table
	At       int     // offset of the term in its clause
	ColumnAt int     // offset of the column
}

// Bound is the least value of a bin.
type Bound struct {
	column.Literal
	At int // offset in its clause
}

// Same reports whether two terms are written with the same names.
func (t Term) Same(u Term) bool {
	return t.Function == u.Function && t.Column == u.Column && t.Fraction == u.Fraction &&
		slices.EqualFunc(t.Bounds, u.Bounds, func(a, b Bound) bool { return a.Literal == b.Literal })
}

// IsBins tells whether a text has the form of bins, and not of the name of a column.
func IsBins(text string) bool {
	name, _, ok := strings.Cut(text, "(")
	return ok && strings.EqualFold(strings.TrimSpace(name), "bins") && strings.HasSuffix(strings.TrimSpace(text), ")")
}

// String writes the term so that Parse gives it again.
func (t Term) String() string {
	var b strings.Builder
	switch t.Function {
	case Column:
		token.WriteName(&b, t.Column)
		return b.String()
	case All:
		return "*"
	}
	b.WriteString(names[t.Function] + "(")
	switch t.Function {
	case Rows:
		b.WriteByte('*')
	case CountDistinct:
		b.WriteString("DISTINCT ")
		fallthrough
	default:
		token.WriteName(&b, t.Column)
	}
	if t.Function == Quantile {
		b.WriteString(", " + t.Fraction)
	}
	for _, bound := range t.Bounds {
		b.WriteString(", ")
		if bound.Kind == column.Text {
			token.WriteQuoted(&b, '\'', bound.Text)
		} else {
			b.WriteString(bound.Text)
		}
	}
	b.WriteByte(')')
	return b.String()
}

// Item is a part of a select list.
type Item struct {
	Term
	Name string // after AS, else empty
}

// Key is a part of ORDER BY.
type Key struct {
	Term             // a column may be the name of an item
	Place        int // number of an item, from 1; 0: Term
	Descending   bool
	MissingFirst bool
}

// Clauses are the texts of a statement. GroupBy and OrderBy may be empty.
type Clauses struct{ Select, GroupBy, OrderBy string }

// Statement is a parsed statement.
type Statement struct {
	Clauses
	Items  []Item
	Groups []Term // columns and bins
	Keys   []Key  // keys of ORDER BY
}

// Fail is the error for a fault at an offset of a clause.
func Fail(clause string, at int, reason string) error {
	return &syntax.Error{Text: clause, Offset: at, Reason: reason}
}
