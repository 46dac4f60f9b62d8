package partial_test

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
	"heddle/engine/table/partial"
	"heddle/engine/table/predicate/predicatetest"
	"heddle/engine/table/result"
	"heddle/engine/table/statement"
	"heddle/engine/table/values"
)

// cells writes a batch: the names and types, then the values of each row.
func cells(b values.Batch) (lines []string) {
	var head []string
	for _, c := range b {
		head = append(head, fmt.Sprint(c.Name, " ", c.Type, " ", c.Type == column.Decimal128 && c.Scale > 0))
	}
	lines = append(lines, strings.Join(head, "|"))
	for i := range b.Len() {
		var line []string
		for k := range b {
			text := "NULL"
			if !b[k].Null(i) {
				text = b[k].Format(b[k].Codes[i])
			}
			line = append(line, text)
		}
		lines = append(lines, strings.Join(line, "|"))
	}
	return lines
}

// compiled compiles clauses.
func compiled(c statement.Clauses, columns []column.Column) (*result.Query, error) {
	s, err := statement.Parse(c)
	if err != nil {
		return nil, err
	}
	return result.Compile(s, columns)
}

// all is a bitset of all rows.
func all(rows uint32) []uint64 {
	set := make([]uint64, (rows+63)/64)
	for row := range rows {
		set[row/64] |= 1 << (row % 64)
	}
	return set
}

// state computes the state of all rows of a part.
func state(t testing.TB, c statement.Clauses, table *plan.Table, columns []column.Column, opt result.Options) *partial.State {
	t.Helper()
	q, err := compiled(c, columns)
	if err != nil {
		t.Fatal(err)
	}
	s, err := partial.Of(q, columns, table, all(table.Rows), opt)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// whole computes the result of all rows of a table.
func whole(c statement.Clauses, table *plan.Table, columns []column.Column, opt result.Options) (lines []string, err error) {
	q, err := compiled(c, columns)
	if err != nil {
		return nil, err
	}
	var joined values.Batch
	err = q.Run(table, all(table.Rows), opt, func(b values.Batch) error {
		if joined == nil {
			joined = b
		} else {
			joined.Append(b)
		}
		return nil
	})
	return cells(joined), err
}

// clauses draws a statement.
func clauses(t *rapid.T, columns []predicatetest.Column) (c statement.Clauses) {
	var names, groups []string
	for _, x := range columns {
		names = append(names, statement.Term{Column: x.Name}.String())
	}
	binned := slices.Clone(names)
	items := rapid.SliceOfNDistinct(rapid.SampledFrom(names), 1, len(names), rapid.ID[string]).Draw(t, "items")
	if rapid.IntRange(0, 3).Draw(t, "aggregates") > 0 {
		for i, x := range columns {
			if rapid.IntRange(0, 2).Draw(t, "bins") == 0 {
				binned[i] = predicatetest.Bins(t, x)
			}
		}
		groups = rapid.SliceOfNDistinct(rapid.SampledFrom(binned), 0, min(2, len(names)), rapid.ID[string]).Draw(t, "groups")
		items = slices.Clone(groups)
		for range rapid.IntRange(1, 4).Draw(t, "terms") {
			i := rapid.IntRange(0, len(columns)-1).Draw(t, "column")
			forms := []string{"count(*)", "count(%s)", "count(DISTINCT %s)", "min(%s)", "max(%s)", "quantile(%s, 0.5)", "quantile(%s, 0.9)"}
			if k := columns[i].Type; k == column.Int || k == column.Float || k == column.Bool {
				forms = append(forms, "sum(%s)", "avg(%s)", "sum(%s)", "avg(%s)")
			}
			form := rapid.SampledFrom(forms).Draw(t, "form")
			items = append(items, strings.ReplaceAll(form, "%s", names[i]))
		}
		slices.Sort(items)
		items = slices.Compact(items)
		names = items
	}
	c.Select, c.GroupBy = strings.Join(items, ", "), strings.Join(groups, ", ")
	var keys []string
	for _, name := range rapid.SliceOfN(rapid.SampledFrom(names), 0, 3).Draw(t, "keys") {
		keys = append(keys, name+rapid.SampledFrom([]string{"", " DESC", " NULLS FIRST", " DESC NULLS FIRST"}).Draw(t, "direction"))
	}
	c.OrderBy = strings.Join(keys, ", ")
	return c
}

// TestMerge compares random statements on random tables with the same on random parts, which
// have bases, bins and dictionaries of their own.
func TestMerge(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(0, 150).Draw(rt, "rows")
		drawn := predicatetest.Draw(rt, n)
		c := clauses(rt, drawn)
		opt := result.Options{Offset: rapid.SampledFrom([]uint64{0, 0, 1, 7, 1 << 60}).Draw(rt, "offset"),
			Limit: rapid.SampledFrom([]uint64{0, 0, 1, 5, math.MaxUint64}).Draw(rt, "limit")}
		table, columns := predicatetest.Table(t, 32, drawn...)
		want, err := whole(c, &table.Table, columns, opt)
		if err != nil {
			rt.Fatalf("%+v: %v", c, err)
		}
		cuts := append(rapid.SliceOfN(rapid.IntRange(0, n), 0, 4).Draw(rt, "cuts"), 0, n)
		slices.Sort(cuts)
		var states []*partial.State
		for i := range len(cuts) - 1 {
			var part []predicatetest.Column
			for _, x := range drawn {
				x.Values = x.Values[cuts[i]:cuts[i+1]]
				part = append(part, x)
			}
			table, columns := predicatetest.Table(t, 32, part...)
			states = append(states, state(t, c, &table.Table, columns, opt))
		}
		got, err := partial.Merge(c, states, opt)
		if err != nil {
			rt.Fatalf("%+v: %v", c, err)
		}
		if lines := cells(got); !slices.Equal(lines, want) {
			rt.Fatalf("%+v, %+v, cuts %v:\n%q, want\n%q", c, opt, cuts, lines, want)
		}
	})
}

// decimals is a table with a column of each decimal type, of unsigned integers and of floats
// that are stored as decimals. Each row of a wide decimal is a place in dictionary.
func decimals(t testing.TB, rows []int) (*plantest.Table, []column.Column) {
	var dictionary []string
	for _, v := range []string{"-5", "-1", "99999999999999999999999999999999999999"} {
		i, _ := new(big.Int).SetString(v, 10)
		key, err := column.WideKey(i)
		if err != nil {
			t.Fatal(err)
		}
		dictionary = append(dictionary, string(key[:]))
	}
	base := uint64(slices.Min(rows))
	columns := []column.Column{
		{Name: "d", Type: column.Decimal, Scale: 2, Base: column.IntKey(-150) + base},
		{Name: "w", Type: column.Decimal128, Scale: 3, Dictionary: dictionary[base:]},
		{Name: "u", Type: column.Uint, Base: math.MaxUint64 - 2 + base},
		{Name: "f", Type: column.Float, Scale: 1, Base: column.IntKey(15) + base},
	}
	tab := plantest.NewTable(uint32(len(rows)), 32)
	codes := make([]uint64, len(rows))
	for i, r := range rows {
		codes[i] = uint64(r) - base
	}
	for i := range columns {
		tab.AddCodes(t, codes)
		columns[i].Bins = []column.Bin{{Lo: 0, Hi: slices.Max(codes), Rows: uint32(len(rows))}}
	}
	return tab, columns
}

// TestTypes has the types that TestMerge lacks, and a sum that overflows in the whole alone.
func TestTypes(t *testing.T) {
	list := []int{2, 0, 1, 1, 0, 2, 1, 0, 1}
	for _, selects := range []string{"*", "sum(d), avg(d), min(d), max(d)", "sum(u), avg(u), count(DISTINCT u)", "sum(f), avg(f), min(f), quantile(f, 0.4)",
		"min(w), max(w), count(DISTINCT w), quantile(w, 0.3)", "sum(w)"} {
		c := statement.Clauses{Select: selects}
		table, columns := decimals(t, list)
		want, wantErr := whole(c, &table.Table, columns, result.Options{})
		var states []*partial.State
		for part := range slices.Chunk(list, 4) {
			table, columns := decimals(t, part)
			states = append(states, state(t, c, &table.Table, columns, result.Options{}))
		}
		got, err := partial.Merge(c, states, result.Options{})
		if fmt.Sprint(err) != fmt.Sprint(wantErr) || err == nil && !slices.Equal(cells(got), want) {
			t.Errorf("%s: %q, %v; want %q, %v", selects, cells(got), err, want, wantErr)
		}
		if selects == "sum(w)" && !errors.Is(err, result.ErrOverflow) {
			t.Errorf("%s: %v", selects, err)
		}
	}
}

// TestLimits: the groups of all parts count together.
func TestLimits(t *testing.T) {
	c := statement.Clauses{Select: "d, count(DISTINCT u)", GroupBy: "d"}
	var states []*partial.State
	for _, part := range [][]int{{0, 1}, {2, 1}} {
		table, columns := decimals(t, part)
		states = append(states, state(t, c, &table.Table, columns, result.Options{}))
	}
	for _, test := range []struct {
		opt  group.Options
		want error
	}{{group.Options{Groups: 3, Codes: 3}, nil}, {group.Options{Groups: 2}, group.ErrGroups}, {group.Options{Codes: 2}, group.ErrCodes}} {
		if _, err := partial.Merge(c, states, result.Options{Options: test.opt}); !errors.Is(err, test.want) {
			t.Errorf("%+v: %v", test.opt, err)
		}
	}
}

// TestDamage: states that no part can have are errors.
func TestDamage(t *testing.T) {
	table, columns := predicatetest.Table(t, 32, predicatetest.Flights()...)
	c := statement.Clauses{Select: "gate, count(*), sum(delay), min(gate), count(DISTINCT gate)", GroupBy: "gate"}
	for i, damage := range []func(s *partial.State){
		func(s *partial.State) { s.Columns = s.Columns[1:] },
		func(s *partial.State) { s.Columns[0].Dictionary = append(s.Columns[0].Dictionary, "x") },
		func(s *partial.State) { s.Rows = s.Rows[1:] },
		func(s *partial.State) { s.Keys = nil },
		func(s *partial.State) { s.Keys[0].List[0] = 1 << 40 },
		func(s *partial.State) { s.Keys[0].Missing = []uint32{1 << 31} },
		func(s *partial.State) { s.Measures = s.Measures[1:] },
		func(s *partial.State) { s.Measures[0].Counts = nil },
		func(s *partial.State) { s.Measures[0].Sums = s.Measures[0].Sums[1:] },
		func(s *partial.State) { s.Measures[1].Extremes[0] = 1 << 40 },
		func(s *partial.State) { s.Measures[2].Ends[0] = 1 << 40 },
		func(s *partial.State) { s.Measures[2].Different[0] = 1 << 40 },
		func(s *partial.State) { s.Measures[2].Frequencies[0]++ },
		func(s *partial.State) { clear(s.Measures[2].Ends) },
	} {
		good, bad := state(t, c, &table.Table, columns, result.Options{}), state(t, c, &table.Table, columns, result.Options{})
		damage(bad)
		if _, err := partial.Merge(c, []*partial.State{good, bad}, result.Options{}); !errors.Is(err, partial.ErrState) {
			t.Errorf("damage %d: %v", i, err)
		}
	}
	states := []*partial.State{state(t, c, &table.Table, columns, result.Options{}), state(t, c, &table.Table, columns, result.Options{})}
	for _, s := range states {
		s.Columns[0].Scale = 200
	}
	if _, err := partial.Merge(c, states, result.Options{}); !errors.Is(err, partial.ErrState) {
		t.Errorf("a scale of 200: %v", err)
	}
}

// TestListEnds: the ends of the values of rows ascend up to the number of values.
func TestListEnds(t *testing.T) {
	for i, ends := range [][]uint64{{1, 3}, {0, 3}, {4, 3}, {1, 2}, {1, 4}, {3}} {
		s := &partial.State{
			Columns: []partial.Column{{Name: "a", Type: column.Int, List: true}}, Rows: []uint64{1, 1},
			Keys: []partial.Values{{List: []uint64{1, 2, 3}, Ends: ends}},
		}
		if _, err := partial.Merge(statement.Clauses{Select: "a"}, []*partial.State{s}, result.Options{}); (err == nil) != (i < 2) || err != nil && !errors.Is(err, partial.ErrState) {
			t.Errorf("ends %v: %v", ends, err)
		}
	}
}

// TestCheckDictionary: Check leaves the entries of a dictionary once, in order.
func TestCheckDictionary(t *testing.T) {
	s := &partial.State{Columns: []partial.Column{{Name: "a", Type: column.String, Dictionary: []string{"y", "x", "y"}}},
		Rows: []uint64{1, 1, 1}, Keys: []partial.Values{{List: []uint64{0, 1, 2}}}}
	err := s.Check(statement.Clauses{Select: "a"})
	if d, keys := s.Columns[0].Dictionary, s.Keys[0].List; err != nil || !slices.Equal(d, []string{"x", "y"}) || !slices.Equal(keys, []uint64{1, 0, 1}) {
		t.Errorf("%v: dictionary %q, places %v", err, d, keys)
	}
}

// TestMissingExtremes: a part whose rows have no values changes no least and no greatest value, in whatever order.
func TestMissingExtremes(t *testing.T) {
	c := statement.Clauses{Select: "min(x), max(x), count(x)"}
	of := func(x ...any) *partial.State {
		table, columns := predicatetest.Table(t, 32, predicatetest.Column{Name: "x", Type: column.Int, Values: x})
		return state(t, c, &table.Table, columns, result.Options{})
	}
	for _, states := range [][]*partial.State{{of(int64(5), int64(-7)), of(nil)}, {of(nil), of(int64(5), int64(-7))}} {
		got, err := partial.Merge(c, states, result.Options{})
		if want := "-7|5|2"; err != nil || cells(got)[1] != want {
			t.Errorf("%q, %v, want %s", cells(got), err, want)
		}
	}
}

// TestWideSums: a sum has more than 64 bits from the first row on that needs them.
func TestWideSums(t *testing.T) {
	table, columns := predicatetest.Table(t, 32, predicatetest.Column{Name: "x", Type: column.Int, Values: []any{int64(math.MinInt64), int64(math.MaxInt64), int64(math.MaxInt64)}})
	got, err := whole(statement.Clauses{Select: "sum(x)"}, &table.Table, columns, result.Options{})
	if want := "9223372036854775806"; err != nil || got[1] != want {
		t.Errorf("%q, %v, want %s", got, err, want)
	}
}

// TestEndlessLimit: an offset and the greatest limit do not wrap.
func TestEndlessLimit(t *testing.T) {
	c, opt := statement.Clauses{Select: "delay"}, result.Options{Offset: 2, Limit: math.MaxUint64}
	table, columns := predicatetest.Table(t, 32, predicatetest.Flights()...)
	want, err := whole(c, &table.Table, columns, result.Options{Offset: 2})
	if err != nil {
		t.Fatal(err)
	}
	got, err := partial.Merge(c, []*partial.State{state(t, c, &table.Table, columns, opt)}, opt)
	if err != nil || !slices.Equal(cells(got), want) {
		t.Errorf("%d rows, %v, want %d", len(cells(got)), err, len(want))
	}
}

// TestNoParts: without parts there is no table.
func TestNoParts(t *testing.T) {
	if _, err := partial.Merge(statement.Clauses{Select: "count(*)"}, nil, result.Options{}); !errors.Is(err, partial.ErrState) {
		t.Errorf("%v", err)
	}
}

// TestBins: parts have no bins in common without bounds, and the number of a bin is checked.
func TestBins(t *testing.T) {
	table, columns := predicatetest.Table(t, 32, predicatetest.Flights()...)
	for _, selected := range []string{"bins(delay, 0, 60), count(*)", "count(*)"} {
		c := statement.Clauses{Select: selected, GroupBy: "bins(delay, 0, 60)"}
		s := state(t, c, &table.Table, columns, result.Options{})
		if err := s.Check(c); err != nil {
			t.Fatal(err)
		}
		s.Keys[0].List[0] = 3 // there are only three bins
		if _, err := partial.Merge(c, []*partial.State{s}, result.Options{}); !errors.Is(err, partial.ErrState) {
			t.Errorf("%s: a bin that the term lacks: %v", selected, err)
		}
	}
	q, err := compiled(statement.Clauses{Select: "bins(delay), count(*)", GroupBy: "bins(delay)"}, columns)
	if err != nil {
		t.Fatal(err)
	}
	_, err = partial.Of(q, columns, &table.Table, all(table.Rows), result.Options{})
	if _, ok := errors.AsType[*syntax.Error](err); !ok || !strings.Contains(err.Error(), "the parts of a table have different bins") {
		t.Errorf("bins of the table: %v", err)
	}
}
