package result_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/engine/syntax"
	"heddle/engine/table/column"
	"heddle/engine/table/group"
	"heddle/engine/table/predicate/predicatetest"
	"heddle/engine/table/result"
	"heddle/engine/table/statement"
	"heddle/engine/table/values"
)

// run returns the cells of an answer.
func run(t *plan.Table, columns []column.Column, c statement.Clauses, rows []uint64, opt result.Options) (cells [][]string, err error) {
	s, err := statement.Parse(c)
	if err != nil {
		return nil, err
	}
	q, err := result.Compile(s, columns)
	if err != nil {
		return nil, err
	}
	batches := 0
	err = q.Run(t, rows, opt, func(b values.Batch) error {
		batches++
		for i := range b.Len() {
			var line []string
			for k := range b {
				text := "NULL"
				if !b[k].Null(i) {
					text = b[k].Format(b[k].Codes[i])
				}
				line = append(line, text)
			}
			cells = append(cells, line)
		}
		return nil
	})
	if err == nil && batches == 0 {
		err = errors.New("no batch")
	}
	return cells, err
}

// terms draws terms of columns. Without aggregates it draws columns.
func terms(t *rapid.T, columns []predicatetest.Column, aggregates bool, groups []string) (list []string) {
	for range rapid.IntRange(1, 5).Draw(t, "terms") {
		c := rapid.SampledFrom(columns).Draw(t, "column")
		name := statement.Term{Column: c.Name}.String()
		if !aggregates {
			list = append(list, name)
			continue
		}
		forms := []string{"count(*)", "count(" + name + ")", "count(distinct " + name + ")", "min(" + name + ")", "max(" + name + ")",
			"quantile(" + name + ", " + rapid.SampledFrom([]string{"0", "0.1", "0.25", ".5", "0.95", "1"}).Draw(t, "fraction") + ")"}
		if c.Type == column.Int || c.Type == column.Float || c.Type == column.Bool {
			forms = append(forms, "sum("+name+")", "avg("+name+")", "sum("+name+")", "avg("+name+")")
		}
		list = append(list, rapid.SampledFrom(append(forms, groups...)).Draw(t, "term"))
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// TestRun compares the answers to random statements on random tables with the oracle.
func TestRun(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(0, 200).Draw(rt, "rows")
		drawn := predicatetest.Draw(rt, n)
		table, columns := predicatetest.Table(t, rapid.SampledFrom([]int{32, 64}).Draw(rt, "word"), drawn...)
		rows := make([]uint64, (n+63)/64)
		var selected []int
		most := rapid.SampledFrom([]int{0, 3, 60, 100}).Draw(rt, "percent")
		for row := range n {
			if rapid.IntRange(0, 99).Draw(rt, "row") < most {
				rows[row/64] |= 1 << (row % 64)
				selected = append(selected, row)
			}
		}
		var c statement.Clauses
		var groups []string
		aggregates := rapid.Bool().Draw(rt, "aggregates")
		if aggregates {
			for _, i := range rapid.SliceOfNDistinct(rapid.IntRange(0, len(drawn)-1), 0, min(2, len(drawn)), rapid.ID[int]).Draw(rt, "groups") {
				group := statement.Term{Column: drawn[i].Name}.String()
				if rapid.Bool().Draw(rt, "bins") {
					group = predicatetest.Bins(rt, drawn[i])
				}
				groups = append(groups, group)
			}
		}
		items := terms(rt, drawn, aggregates, groups)
		c.Select, c.GroupBy = strings.Join(items, ", "), strings.Join(groups, ", ")
		if rapid.Bool().Draw(rt, "ordered") {
			keys := terms(rt, drawn, aggregates && (len(groups) > 0 || slices.ContainsFunc(items, func(s string) bool { return strings.Contains(s, "(") })), groups)
			keys = append(keys, fmt.Sprint(len(items)))
			for i := range keys {
				keys[i] += rapid.SampledFrom([]string{"", " desc", " asc nulls first", " desc nulls first"}).Draw(rt, "direction")
			}
			c.OrderBy = strings.Join(keys, ", ")
		}
		opt := result.Options{Offset: rapid.SampledFrom([]uint64{0, 0, 1, 7, 1 << 60}).Draw(rt, "offset"),
			Limit: rapid.SampledFrom([]uint64{0, 0, 1, 5, math.MaxUint64}).Draw(rt, "limit"), Options: group.Options{Workers: 2}}
		s, err := statement.Parse(c)
		if err != nil {
			rt.Fatal(err)
		}
		if !aggregates && slices.ContainsFunc(s.Keys, func(k statement.Key) bool { return k.Function > statement.All }) {
			rt.Skip()
		}
		got, err := run(&table.Table, columns, c, rows, opt)
		if err != nil {
			rt.Fatalf("%+v: %v", c, err)
		}
		var want [][]string
		for _, row := range answer(s, drawn, selected, int(opt.Offset), int(min(opt.Limit, 1<<30))) {
			var line []string
			for _, v := range row {
				line = append(line, write(v))
			}
			want = append(want, line)
		}
		if !slices.EqualFunc(got, want, slices.Equal) {
			rt.Fatalf("%+v, %+v:\n%q, want\n%q", c, opt, got, want)
		}
	})
}

// decimals is a table with a column of each decimal type and of unsigned integers, from its
// texts.
func decimals(tb testing.TB) (*plantest.Table, []column.Column) {
	t := plantest.NewTable(3, 32)
	wide := func(text string) string {
		v, _ := new(big.Int).SetString(text, 10)
		key, err := column.WideKey(v)
		if err != nil {
			tb.Fatal(err)
		}
		return string(key[:])
	}
	const most = "99999999999999999999999999999999999999" // 38 digits
	columns := []column.Column{
		{Name: "d", Type: column.Decimal, Scale: 2, Base: column.IntKey(-150)},
		{Name: "w", Type: column.Decimal128, Scale: 3, Dictionary: []string{wide("-" + most), wide("-1"), wide(most)}},
		{Name: "u", Type: column.Uint, Base: math.MaxUint64 - 2},
		{Name: "i", Type: column.Int, Base: column.IntKey(math.MaxInt64 - 2)},
	}
	t.AddCodes(tb, []uint64{0, 151, 3})
	for range 3 {
		t.AddCodes(tb, []uint64{2, 1, 2})
	}
	for i := range columns {
		columns[i].Bins = []column.Bin{{Lo: 0, Hi: max(2, uint64(2*((i+1)%2)*76)), Rows: 3}}
	}
	return t, columns
}

// TestDecimals has exact sums above 64 bits, means that are rounded once, and overflow.
func TestDecimals(t *testing.T) {
	table, columns := decimals(t)
	for _, test := range []struct {
		selects string
		rows    uint64
		want    string
	}{
		{"sum(d), avg(d), min(d), max(d)", 7, "-2.96 -0.9866666666666667 -1.50 0.01"},
		{"sum(u), avg(u), count(distinct u)", 7, "55340232221128654844 1.8446744073709552e+19 2"},
		{"sum(i), avg(i), quantile(i, 0.5)", 7, "27670116110564327420 9.223372036854776e+18 9223372036854775807"},
		{"sum(w), max(w)", 3, "99999999999999999999999999999999999.998 99999999999999999999999999999999999.999"},
		{"sum(w), avg(w), min(w)", 2, "-0.001 -0.001 -0.001"},
		{"sum(w), sum(u), avg(d), count(w)", 0, "NULL NULL NULL 0"},
	} {
		got, err := run(&table.Table, columns, statement.Clauses{Select: test.selects}, []uint64{test.rows}, result.Options{})
		if err != nil || len(got) != 1 || strings.Join(got[0], " ") != test.want {
			t.Errorf("%s: %q, %v, want %s", test.selects, got, err, test.want)
		}
	}
	_, err := run(&table.Table, columns, statement.Clauses{Select: "sum(w)"}, []uint64{7}, result.Options{})
	if !errors.Is(err, result.ErrOverflow) || !strings.Contains(err.Error(), `sum(w) of column "w": overflow: the sum has more than 38 digits`) {
		t.Errorf("%v", err)
	}
}

// TestCompileErrors has the place and reason of each fault, which do not depend on the values of the columns.
func TestCompileErrors(t *testing.T) {
	_, columns := predicatetest.Table(t, 32, predicatetest.Flights()...)
	empty := slices.Clone(columns)
	for i := range empty {
		empty[i].Bins, empty[i].Dictionary = nil, nil
	}
	for _, test := range []struct{ selects, group, order, reason string }{
		{"^gates", "", "", `unknown column "gates" (nearest: "gate")`},
		{"sum(^x)", "", "", "unknown column"},
		{"^sum(gate)", "", "", `column "gate" is of type string: sum and avg are for numbers and booleans`},
		{"^avg(at)", "", "", `column "at" is of type timestamp`},
		{"^gate, count(*)", "", "", `column "gate" is neither in GROUP BY nor in an aggregate such as min(gate)`},
		{"^*, count(*)", "", "", "* stands for all columns"},
		{"gate, ^gate", "", "", `the name "gate" comes twice`},
		{"*, ^gate", "", "", `the name "gate" comes twice`},
		{"gate", "gate, ^gate", "", `column "gate" comes twice`},
		{"count(*)", "gate, at, cancelled, delay, ^distance", "", "more than 4 columns in GROUP BY"},
		{"gate", "", "^2", "there are 1 items"},
		{"gate", "gate", "^at", `column "at" is neither in GROUP BY`},
		{"^bins(distance, 1)", "", "", "bins(distance, 1) is not in GROUP BY"},
		{"count(*), ^bins(distance, 1)", "bins(distance, 2)", "", "bins(distance, 1) is not in GROUP BY"},
		{"count(*)", "bins(distance, 2, ^1)", "", "the bounds of bins must ascend"},
		{"count(*)", "bins(distance, 1, ^1)", "", "the bounds of bins must ascend"},
		{"count(*)", "bins(distance, 1e300, ^1)", "", "the bounds of bins must ascend"},
		{"count(*)", "bins(delay, 1.7, ^1.2)", "", "the bounds of bins must ascend"},
		{"count(*)", "bins(delay, 1e9, ^1e8)", "", "the bounds of bins must ascend"},
		{"count(*)", "bins(delay, -1e9, ^-1e10)", "", "the bounds of bins must ascend"},
		{"count(*)", "bins(delay, 1e99, ^1e98, 5)", "", "the bounds of bins must ascend"},
		{"count(*)", "bins(delay, 1, ^1.0)", "", "the bounds of bins must ascend"},
		{"count(*)", "bins(delay, 0, ^-0)", "", "the bounds of bins must ascend"},
		{"count(*)", "bins(distance, 0, ^-0)", "", "the bounds of bins must ascend"},
		{"count(*)", "bins(distance, 1, 'inf', ^2)", "", "the bounds of bins must ascend"},
		{"count(*)", "bins(gate, 'b', ^'a')", "", "the bounds of bins must ascend"},
		{"count(*)", "bins(cancelled, TRUE, ^FALSE)", "", "the bounds of bins must ascend"},
		{"count(*)", "bins(at, '2001-02-03', ^'2001-02-02')", "", "the bounds of bins must ascend"},
		{"count(*)", "bins(distance, ^'x')", "", `column "distance" is of type float: it compares with`},
		{"count(*)", "bins(^x, 1)", "", `unknown column "x"`},
	} {
		at := strings.IndexByte(test.selects+test.group+test.order, '^')
		switch {
		case strings.Contains(test.group, "^"):
			at -= len(test.selects)
		case strings.Contains(test.order, "^"):
			at -= len(test.selects) + len(test.group)
		}
		clean := func(s string) string { return strings.Replace(s, "^", "", 1) }
		s, err := statement.Parse(statement.Clauses{Select: clean(test.selects), GroupBy: clean(test.group), OrderBy: clean(test.order)})
		if err != nil {
			t.Fatal(err)
		}
		for name, of := range map[string][]column.Column{"a full": columns, "an empty": empty} {
			_, err = result.Compile(s, of)
			if e, ok := errors.AsType[*syntax.Error](err); !ok || e.Offset != at || !strings.HasPrefix(e.Reason, test.reason) {
				t.Errorf("%+v: %s table: %v", test, name, err)
			}
		}
	}
}
