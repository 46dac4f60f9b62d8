package predicatetest

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"heddle/engine/table/column"
)

// values of each type that columns have, and literals, most of which some column has.
var values = map[column.Type][]any{
	column.Int:       {int64(math.MinInt64), int64(-60), int64(-1), int64(0), int64(1), int64(2), int64(59), int64(60), int64(61), int64(1) << 40, int64(math.MaxInt64)},
	column.Float:     {math.Inf(-1), -math.MaxFloat64, -1.5, 0.0, 0.1, 0.25, 1.0, 59.5, 1e300, math.Inf(1)},
	column.String:    {"", "AA", "B6", "a'b", "aa", "b", "é", "\xff"},
	column.Bool:      {false, true},
	column.Timestamp: {at(-1), at(0), at(1), at(981173106000000), at(981173106500000), at(1e15)},
}

// multiples of a unit, of types with units.
var multiples = map[column.Type][]any{
	column.Int:       {int64(-180), int64(-60), int64(60), int64(120), int64(60 << 40)},
	column.Float:     {-1.5, -0.5, 0.5, 59.5, 100.5},
	column.Timestamp: {at(-86400e6), at(0), at(3600e6), at(981173106000000 - 906000000)},
}

var literals = map[column.Type][]string{
	column.Int: {"-9223372036854775808", "-1e30", "-60", "-60.5", "-1", "-0", "+1", "1.5", "2", "59.5", "6e1", "60", "61", "0.61e2",
		"9223372036854775807", "9223372036854775807.5", "1e19", "1099511627776"},
	column.Float:     {"-1e400", "'-inf'", "-1.5", "-0", "1e-400", ".1", "0.25", "25e-2", "1", "59.5", "1e300", "1e309", "'INF'", "100"},
	column.String:    {"''", "'AA'", "'AB'", "'B6'", "'a''b'", "'aa'", "'b'", "'é'", "'~'"},
	column.Bool:      {"true", "FALSE"},
	column.Timestamp: {"'1970-01-01'", "'1969-12-31T23:59:59.999999Z'", "'2001-02-03 04:05:06'", "'2001-02-03T05:05:06.5+01:00'", "'2300-01-01'", "'@981173106.5'", "'@0'", "'1900-01-01'"},
}

// bounds are literals in the order of their values.
var bounds = map[column.Type][]string{
	column.Int: {"-1e30", "-9223372036854775808", "-60.5", "-60", "0", "1.5", "2", "59.5", "6e1", "61", "1099511627776",
		"9223372036854775807", "9223372036854775807.5", "1e19"},
	column.Float:     {"'-inf'", "-1e400", "-1.5", "0", "0.25", "1", "59.5", "1e300", "1e309", "'INF'"},
	column.String:    {"''", "'AA'", "'AB'", "'B6'", "'a''b'", "'aa'", "'b'", "'~'", "'é'"},
	column.Bool:      {"FALSE", "TRUE"},
	column.Timestamp: {"'1900-01-01'", "'1969-12-31T23:59:59.999999Z'", "'1970-01-01'", "'2001-02-03 04:05:06'", "'@981173106.5'", "'2300-01-01'"},
}

// Bins draws a term of statements: bins of a column.
func Bins(t *rapid.T, c Column) string {
	of := bounds[c.Type]
	term := fmt.Sprintf("bins(%q", c.Name)
	places := rapid.SliceOfNDistinct(rapid.IntRange(0, len(of)-1), 1, len(of), rapid.ID[int]).Draw(t, "bounds")
	slices.Sort(places)
	for _, i := range places {
		term += ", " + of[i]
	}
	return term + ")"
}

func at(micros int64) time.Time { return time.UnixMicro(micros).UTC() }

// Draw draws columns of rows, with bins of one or several values.
func Draw(t *rapid.T, rows int) []Column {
	n := rapid.IntRange(1, 4).Draw(t, "columns")
	columns := make([]Column, n)
	for i := range columns {
		c := &columns[i]
		c.Name = []string{"a", "b c", "NOT", "d_4"}[i]
		c.Type = column.Type(rapid.IntRange(0, 4).Draw(t, "type"))
		c.Encoding = column.Encoding(rapid.IntRange(0, 3).Draw(t, "encoding"))
		c.Coding = Coding(rapid.IntRange(0, 2).Draw(t, "coding"))
		from := values[c.Type]
		switch kind := rapid.SampledFrom([]string{"any", "neighbours", "multiples", "one value"}).Draw(t, "kind"); {
		case kind == "neighbours":
			k := rapid.IntRange(0, len(from)-1).Draw(t, "from")
			from = from[k:min(k+3, len(from))]
		case kind == "multiples" && multiples[c.Type] != nil:
			from = multiples[c.Type]
		case kind == "one value":
			from = []any{rapid.SampledFrom(from).Draw(t, "only")}
		}
		gap := rapid.SampledFrom([]int{0, 0, 3, 1}).Draw(t, "missing") // all rows, a third, none
		for range rows {
			if gap > 0 && rapid.IntRange(1, gap).Draw(t, "gap") == 1 {
				c.Values = append(c.Values, nil)
			} else {
				c.Values = append(c.Values, rapid.SampledFrom(from).Draw(t, "value"))
			}
		}
		if wide := rapid.IntRange(1, 4).Draw(t, "wide"); wide > 1 {
			c.Bin = func(i, n int) int { return i / wide }
		}
	}
	return columns
}

// Predicate draws a predicate on columns.
func Predicate(t *rapid.T, columns []Column, depth int) string {
	if depth > 0 {
		switch op := rapid.IntRange(0, 5).Draw(t, "op"); op {
		case 5:
			return "(" + Predicate(t, columns, depth-1) + rapid.SampledFrom([]string{") IS TRUE", ") is not true", ") IS FALSE", ") IS NOT FALSE"}).Draw(t, "is")
		case 0:
			return "NOT (" + Predicate(t, columns, depth-1) + ")"
		case 1, 2, 3:
			var args []string
			for range rapid.IntRange(2, 4).Draw(t, "args") {
				args = append(args, "("+Predicate(t, columns, depth-1)+")")
			}
			return strings.Join(args, []string{" and ", " OR "}[op%2])
		}
	}
	c := rapid.SampledFrom(columns).Draw(t, "column")
	name := `"` + c.Name + `"`
	value := func() string {
		if rapid.IntRange(0, 20).Draw(t, "null") == 0 {
			return "NULL"
		}
		return rapid.SampledFrom(literals[c.Type]).Draw(t, "literal")
	}
	not := rapid.SampledFrom([]string{"", "NOT "}).Draw(t, "not")
	switch rapid.IntRange(0, 11).Draw(t, "test") {
	case 5:
		other := rapid.SampledFrom(columns).Draw(t, "other")
		if c.Type.ComparesWith(other.Type) {
			return name + rapid.SampledFrom([]string{"=", "<>", "<", "<=", ">", ">="}).Draw(t, "by") + `"` + other.Name + `"`
		}
	case 6:
		if c.Type == column.String {
			return fmt.Sprintf("%s %sLIKE %s", name, not, rapid.SampledFrom([]string{"'%'", "'_'", "'a%'", "'%b'", "'__'", "'a''b'", "'%a%b%'", "''", "'A_%'", "'!_%' ESCAPE '!'"}).Draw(t, "pattern"))
		}
	case 0:
		return fmt.Sprintf("%s %sBETWEEN %s AND %s", name, not, value(), value())
	case 1:
		return fmt.Sprintf("%s %sIN (%s, %s, %s)", name, not, value(), value(), value())
	case 2:
		return fmt.Sprintf("%s IS %sNULL", name, not)
	case 3:
		return rapid.SampledFrom([]string{"TRUE", "false", "NULL"}).Draw(t, "constant")
	case 4:
		return value() + rapid.SampledFrom([]string{"=", "<>", "<", "<=", ">", ">="}).Draw(t, "by") + name
	}
	return name + rapid.SampledFrom([]string{"==", "!=", "<", "<=", ">", ">="}).Draw(t, "by") + value()
}
