package statement

import (
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"heddle/engine/syntax"
	"heddle/engine/table/column"
)

// plain is a statement without offsets and texts.
func plain(s *Statement) *Statement {
	c := &Statement{}
	bare := func(t Term) Term {
		t.At, t.ColumnAt, t.Bounds = 0, 0, slices.Clone(t.Bounds)
		for i := range t.Bounds {
			t.Bounds[i].At = 0
		}
		return t
	}
	for _, x := range s.Items {
		c.Items = append(c.Items, Item{bare(x.Term), x.Name})
	}
	for _, t := range s.Groups {
		c.Groups = append(c.Groups, bare(t))
	}
	for _, k := range s.Keys {
		k.Term = bare(k.Term)
		c.Keys = append(c.Keys, k)
	}
	return c
}

func TestParse(t *testing.T) {
	named := func(name string) Term { return Term{Column: name} }
	for clauses, want := range map[Clauses]*Statement{
		{Select: "city"}: {Items: []Item{{Term: named("city")}}},
		{Select: `*, "count(*)" as c, "a""b" d, sum`}: {Items: []Item{{Term: Term{Function: All}}, {named("count(*)"), "c"},
			{named(`a"b`), "d"}, {Term: named("sum")}}},
		{Select: "COUNT ( * ) AS n, count(x), Count(distinct x), count(distinct), count(DISTINCT distinct)"}: {Items: []Item{
			{Term{Function: Rows}, "n"}, {Term: Term{Function: Count, Column: "x"}}, {Term: Term{Function: CountDistinct, Column: "x"}},
			{Term: Term{Function: Count, Column: "distinct"}}, {Term: Term{Function: CountDistinct, Column: "distinct"}}}},
		{Select: "sum(x), avg(x), min(x), max(x), quantile(x, 0.95) /* most */ p95"}: {Items: []Item{
			{Term: Term{Function: Sum, Column: "x"}}, {Term: Term{Function: Avg, Column: "x"}}, {Term: Term{Function: Min, Column: "x"}},
			{Term: Term{Function: Max, Column: "x"}}, {Term{Function: Quantile, Column: "x", Fraction: "0.95"}, "p95"}}},
		{Select: "a", GroupBy: `a, "b c"`, OrderBy: "2 desc, sum(x) asc nulls last, a desc NULLS FIRST, count(*)"}: {
			Items: []Item{{Term: named("a")}}, Groups: []Term{named("a"), named("b c")},
			Keys: []Key{{Place: 2, Descending: true}, {Term: Term{Function: Sum, Column: "x"}},
				{Term: named("a"), Descending: true, MissingFirst: true}, {Term: Term{Function: Rows}}}},
		{Select: "Bins(x, -1.5, 'a''b', true) b, bins", GroupBy: `bins("x y")`}: {Items: []Item{{Term{Function: Bins, Column: "x", Bounds: []Bound{
			{Literal: column.Literal{Kind: column.Number, Text: "-1.5"}}, {Literal: column.Literal{Kind: column.Text, Text: "a'b"}},
			{Literal: column.Literal{Kind: column.Boolean, Text: "true"}}}}, "b"}, {Term: Term{Column: "bins"}}}, Groups: []Term{{Function: Bins, Column: "x y"}}},
		{Select: `desc, "as" as "as"`, OrderBy: `"desc" desc`}: {Items: []Item{{Term: named("desc")}, {named("as"), "as"}},
			Keys: []Key{{Term: named("desc"), Descending: true}}},
	} {
		s, err := Parse(clauses)
		if err != nil {
			t.Errorf("%+v: %v", clauses, err)
		} else if got := plain(s); !reflect.DeepEqual(got, want) {
			t.Errorf("%+v:\n%+v, want\n%+v", clauses, got, want)
		}
	}
}

// TestErrors has the place and the reason of each fault. A caret stands before the fault.
func TestErrors(t *testing.T) {
	for _, test := range []struct{ selects, group, order, reason string }{
		{"^", "", "", "a column"},
		{"a,^", "", "", "a column"},
		{"a ^)", "", "", "a comma or the end"},
		{"a as ^", "", "", "a name"},
		{"a as ^1", "", "", "a name"},
		{"^median(a)", "", "", "unknown function median (one of count, sum, avg, min, max, quantile, bins)"},
		{"sum(^*)", "", "", "a column"},
		{"sum(^DISTINCT a)", "", "", "DISTINCT is for count"},
		{"sum(a^", "", "", "a )"},
		{"count(*^, a)", "", "", "a )"},
		{"quantile(a^)", "", "", "a comma and a fraction"},
		{"quantile(a, ^1.01)", "", "", "a fraction from 0 to 1"},
		{"quantile(a, ^-0.1)", "", "", "a fraction from 0 to 1"},
		{"quantile(a, ^1e-9999999)", "", "", "a fraction from 0 to 1"},
		{"quantile(a, ^b)", "", "", "a fraction from 0 to 1"},
		{"bins(a, ^b)", "", "", "a bound such as 10"},
		{"bins(a ^1", "", "", "a )"},
		{"a", "^sum(b)", "", "GROUP BY: a column or bins(column, bounds)"},
		{"a ^'b'", "", "", "a comma or the end"},
		{"a, ^'b", "", "", "a quote that does not end"},
		{"a ^= 1", "", "", "a comma or the end"},
		{"a", "^1", "", "GROUP BY: a column"},
		{"a", "a ^desc", "", "GROUP BY: a comma or the end"},
		{"a", "", "^0", "ORDER BY: the number of an item of the select list, from 1,"},
		{"a", "", "^1.5", "ORDER BY: the number of an item"},
		{"a", "", "a nulls ^", "ORDER BY: FIRST or LAST"},
		{"a", "", "a desc ^asc", "ORDER BY: a comma or the end"},
		{"a", "", "^top(a)", "ORDER BY: unknown function top"},
	} {
		text := ""
		at := 0
		clean := func(s string) string {
			if i := strings.IndexByte(s, '^'); i >= 0 {
				text, at = s[:i]+s[i+1:], i
			}
			return strings.Replace(s, "^", "", 1)
		}
		_, err := Parse(Clauses{clean(test.selects), clean(test.group), clean(test.order)})
		e, ok := errors.AsType[*syntax.Error](err)
		if !ok || e.Text != text || e.Offset != at || !strings.HasPrefix(e.Reason, test.reason) {
			t.Errorf("%+v: %v", test, err)
		}
	}
}

// FuzzParse: the printed form of a statement gives the same statement, and errors have a place
// in their clause.
func FuzzParse(f *testing.F) {
	f.Add("city, count(*) AS n, quantile(x, 0.5)", "city", "n DESC NULLS FIRST, 1")
	f.Add(`*, "a""b" c, count(DISTINCT x)`, "", "sum(x) asc")
	f.Add("bins(a, 1, 'x', TRUE), count(*)", "bins(a, 1, 'x', TRUE)", "1")
	f.Add("min(a), max(b) -- end", `"c d"`, "")
	f.Fuzz(func(t *testing.T, selects, group, order string) {
		c := Clauses{selects, group, order}
		s, err := Parse(c)
		if err != nil {
			e, ok := errors.AsType[*syntax.Error](err)
			if !ok || e.Offset > len(e.Text) || e.Text != selects && e.Text != group && e.Text != order {
				t.Fatalf("%v", err)
			}
			_ = e.Error()
			return
		}
		again, err := Parse(printed(s))
		if err != nil || !reflect.DeepEqual(plain(again), plain(s)) {
			t.Fatalf("%+v gives %+v: %v", c, printed(s), err)
		}
	})
}

// printed writes the clauses of a statement.
func printed(s *Statement) (c Clauses) {
	var list []string
	for _, x := range s.Items {
		text := x.Term.String()
		if x.Name != "" {
			text += " AS " + Term{Column: x.Name}.String()
		}
		list = append(list, text)
	}
	c.Select, list = strings.Join(list, ", "), nil
	for _, t := range s.Groups {
		list = append(list, t.String())
	}
	c.GroupBy, list = strings.Join(list, ", "), nil
	for _, k := range s.Keys {
		text := k.Term.String()
		if k.Place > 0 {
			text = strconv.Itoa(k.Place)
		}
		text += map[bool]string{true: " DESC"}[k.Descending] + map[bool]string{true: " NULLS FIRST"}[k.MissingFirst]
		list = append(list, text)
	}
	c.OrderBy = strings.Join(list, ", ")
	return c
}
