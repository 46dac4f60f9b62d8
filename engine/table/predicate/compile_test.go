package predicate_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/engine/syntax"
	"heddle/engine/table/column"
	"heddle/engine/table/predicate"
	. "heddle/engine/table/predicate/predicatetest"
	"heddle/hostfallback"
)

// ints makes a column of int64 values, with so many to a bin; 0 is a bin a value.
func ints(name string, e column.Encoding, perBin int, values ...any) Column {
	c := Column{Name: name, Type: column.Int, Encoding: e}
	for _, v := range values {
		if n, ok := v.(int); ok {
			v = int64(n)
		}
		c.Values = append(c.Values, v)
	}
	if perBin > 0 {
		c.Bin = func(i, n int) int { return i / perBin }
	}
	return c
}

// rowsOf gives the rows that the oracle selects, as text of 0 and 1.
func rowsOf(e predicate.Expr, columns []Column) string {
	var b strings.Builder
	for row := range columns[0].Values {
		value := func(name string) any {
			for _, c := range columns {
				if c.Name == name {
					return c.Values[row]
				}
			}
			panic(name)
		}
		fmt.Fprint(&b, max(0, int(Eval(&e.Root, value))))
	}
	return b.String()
}

// TestCompileRandom compares the selections of random predicates on random tables with
// the oracle: the steps by themselves, as plantest scans them, and a store on the host.
func TestCompileRandom(t *testing.T) {
	host := hostfallback.New(hostfallback.Options{Threads: 1})
	defer host.Close()
	rapid.Check(t, func(rt *rapid.T) {
		rows := rapid.SampledFrom([]int{0, 1, 5, 31, 32, 63, 70}).Draw(rt, "rows")
		columns := Draw(rt, rows)
		tab, described := Table(t, rapid.SampledFrom([]int{32, 64}).Draw(rt, "word"), columns...)
		store, err := host.LoadTable(t.Context(), &tab.Table)
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		for range 6 {
			text := Predicate(rt, columns, rapid.IntRange(0, 4).Draw(rt, "depth"))
			e, err := predicate.Parse(text)
			if err != nil {
				rt.Fatal(err)
			}
			var s plan.SelectBatch
			p, err := predicate.Compile(e, described, uint32(rows), &s)
			if errors.Is(err, plan.ErrUnsupported) && strings.Count(text, " ") > 40 {
				continue
			}
			if err != nil {
				rt.Fatal(err)
			}
			if len(s.Operands) != p.Vectors {
				rt.Fatalf("%s: %d vectors are said to be read, %d are", text, p.Vectors, len(s.Operands))
			}
			if err := s.Validate(&tab.Table); err != nil {
				rt.Fatal(err)
			}
			var out plan.Rows
			if err := store.Select(t.Context(), &s, &out); err != nil {
				rt.Fatal(err)
			}
			want, scan := rowsOf(e, columns), tab.Scan(&s)
			if got := together(&p, described, tab, rows, func(i int) []uint64 { return scan[i] }); got != want {
				rt.Fatalf("%s: rows %s by steps, want %s", text, got, want)
			}
			if got := together(&p, described, tab, rows, out.Selection); got != want {
				rt.Fatalf("%s: rows %s on the host, want %s", text, got, want)
			}
		}
	})
}

// TestMissingAmongChecks: rows without a value stay in a test whose rows are checked late for other reasons.
func TestMissingAmongChecks(t *testing.T) {
	var a, b []any
	for i := range 200 {
		a, b = append(a, i%10), append(b, i/4)
		if i%3 == 0 {
			a[i] = nil
		}
	}
	columns := []Column{ints("a", column.Equality, 20, a...), ints("b", column.Equality, 0, b...)}
	tab, described := Table(t, 32, columns...)
	for _, text := range []string{"(a < 5 OR a IS NULL) AND b = 7", "b = 7 AND (a IS NULL OR a > 5) AND a <> 6", "a < 5 AND b = 7"} {
		e, err := predicate.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		var s plan.SelectBatch
		if _, err := predicate.Compile(e, described, tab.Rows, &s); err != nil {
			t.Fatal(err)
		}
		if got, want := digits(tab.Scan(&s)[0], 200), rowsOf(e, columns); got != want {
			t.Errorf("%s: rows %s, want %s", text, got, want)
		}
	}
}

// together writes the rows of a plan as text of 0 and 1, by the rows of its selections.
func together(p *predicate.Plan, columns []column.Column, tab *plantest.Table, rows int, selected func(i int) []uint64) string {
	if p.Set == nil {
		return digits(selected(0), rows)
	}
	var in func(s *predicate.Set, row int) bool
	in = func(s *predicate.Set, row int) bool {
		has := func(a predicate.Set) bool { return in(&a, row) }
		switch s.Op {
		case predicate.Selected:
			return selected(s.Selection)[row/64]>>(row%64)&1 != 0
		case predicate.Both:
			return !slices.ContainsFunc(s.Args, func(a predicate.Set) bool { return !has(a) })
		case predicate.Either:
			return slices.ContainsFunc(s.Args, has)
		}
		return s.By.Holds(columns[s.A].Order(&columns[s.B])(tab.Codes[s.A][row], tab.Codes[s.B][row]))
	}
	var b strings.Builder
	for row := range rows {
		fmt.Fprint(&b, map[bool]int{true: 1}[in(p.Set, row)])
	}
	return b.String()
}

// digits writes the rows of a bitset as text of 0 and 1.
func digits(bits []uint64, rows int) string {
	var b strings.Builder
	for row := range rows {
		fmt.Fprint(&b, bits[row/64]>>(row%64)&1)
	}
	return b.String()
}

// steps writes a selection: vectors in brackets, ranges behind a check.
func steps(s *plan.SelectBatch, i int) string {
	var parts []string
	for _, x := range s.Selection(i) {
		switch x.Code {
		case plan.StepAny:
			parts = append(parts, fmt.Sprint(s.Operands[x.From:x.To]))
		case plan.StepCheck:
			var ranges []string
			for _, r := range s.Ranges[x.From:x.To] {
				ranges = append(ranges, fmt.Sprintf("%d-%d", r.Lo, r.Hi))
			}
			parts = append(parts, fmt.Sprintf("check %d: %s", x.Column, strings.Join(ranges, " ")))
		default:
			parts = append(parts, map[plan.StepCode]string{plan.StepAnd: "and", plan.StepOr: "or", plan.StepAndNot: "andnot", plan.StepNot: "not", plan.StepAll: "all"}[x.Code])
		}
	}
	return strings.Join(parts, ", ")
}

// TestSteps looks at the steps of predicates: how few they are.
func TestSteps(t *testing.T) {
	// Columns of the values 0 to 9: a has a bin a value (vectors 0 to 9); b, with one
	// missing value, five bins of two (10 to 14, 15); r five bins, range-encoded
	// (16 to 19); k ten bins, of one value, interval-encoded (20 to 25).
	all := []any{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0}
	missing := append(append([]any{}, all[:10]...), nil)
	tab, columns := Table(t, 32,
		ints("a", column.Equality, 0, all...), ints("b", column.Equality, 2, missing...),
		ints("r", column.Range, 2, all...), ints("k", column.Interval, 0, all...))
	for text, want := range map[string]string{
		"a = 3":                       "[3]",
		"a >= 1 AND a < 5":            "[1 2 3 4]",
		"a > 0.5 AND a <= 4.9":        "[1 2 3 4]",
		"a BETWEEN 1 AND 8":           "[0 9], not",
		"a IN (7, 1, 7, 99)":          "[1 7]",
		"a <> 3":                      "[3], not",
		"NOT a = 3":                   "[3], not",
		"a = 1 OR a = 2 OR a > 8":     "[1 2 9]",
		"a < 5 AND a > 5":             "",
		"a = 99 OR a = NULL":          "",
		"NOT (a = NULL)":              "",
		"a < 5 OR a >= 5":             "all",
		"a IS NULL":                   "",
		"a IS NOT NULL":               "all",
		"TRUE":                        "all",
		"a = 3 AND FALSE":             "",
		"a = 3 OR TRUE":               "all",
		"a = 3 OR FALSE":              "[3]",
		"a = 3 AND TRUE":              "[3]",
		"b IS NULL":                   "[15]",
		"b IS NOT NULL":               "[15], not",
		"b >= 2":                      "[10 15], not",
		"b >= 2 OR b IS NULL":         "[10], not",
		"b < 5 OR b >= 5":             "[15], not",
		"b BETWEEN 1 AND 4":           "all, check 1: 1-4",
		"b BETWEEN 2 AND 4":           "all, check 1: 2-4",
		"b = 2 OR b = 7":              "all, check 1: 2-2 7-7",
		"b <> 2":                      "all, check 1: 0-1 3-9",
		"r <= 5":                      "[18]",
		"r BETWEEN 2 AND 5":           "[18], [16], andnot",
		"r >= 4":                      "[17], not",
		"r BETWEEN 1 AND 6":           "all, check 2: 1-6",
		"k BETWEEN 3 AND 7":           "[23]",
		"k BETWEEN 1 AND 8":           "[21 24]",
		"k = 4":                       "[24], [20], and",
		"k < 1":                       "[20], [21], andnot",
		"a = 1 OR b = 15 OR b < 2":    "[1 10]",
		"a = 1 AND NOT k >= 5":        "[1], [20], and",
		"a = 1 AND b IS NOT NULL":     "[1], [15], andnot",
		"b IS NOT NULL AND a <> 3":    "[3], not, [15], andnot",
		"a = 1 AND b <= 2":            "all, check 0: 1-1, check 1: 0-2",
		"b <= 2 AND (a = 1 OR r<2)":   "[1 16], check 1: 0-2",
		"b = 7 AND a IN (0, 2, 4, 6)": "all, check 1: 7-7, check 0: 0-0 2-2 4-4 6-6",
		"b = 7 AND a IN (0,2,4,6,8)":  "[0 2 4 6 8], check 1: 7-7",
		"a = 1 AND b = 3 AND r <= 7":  "all, check 0: 1-1, check 1: 3-3, check 2: 0-7",
	} {
		e, err := predicate.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		var s plan.SelectBatch
		p, err := predicate.Compile(e, columns, tab.Rows, &s)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := steps(&s, 0); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
		if err := s.Validate(&tab.Table); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if want == "" != (len(p.Tests) == 0) && want != "all" {
			t.Errorf("%s: tests %v", text, p.Tests)
		}
	}
}

func TestPlan(t *testing.T) {
	tab, columns := Table(t, 32, ints("b", column.Equality, 2, 0, 1, 2, 3, 4, 4, 4, 5, nil, 60),
		Column{Name: "t", Type: column.String, Values: []any{"a", "b", "a", "c", "d", "e", "f", "g", "h", nil}},
		ints("u", column.Equality, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9),
		Column{Name: "s", Type: column.String, Values: []any{"", "", "a, or 'b'", "b", "b", "b", "b", nil, nil, nil}})
	for text, want := range map[string]string{
		"b >= 1 AND b < 5":                      "[b: 1 to 4: 3 of 4 bins, checked (8 rows)] 0",
		"b > 4.5 OR b IS NULL":                  "[b: 5 to 60, missing: 2 of 4 bins, checked (5 rows)] 1",
		"b IS NULL":                             "[b: missing: 0 of 4 bins] 1",
		"t IN ('b','d','f','h','z','a','e')":    "[t: 'a' to 'b', 'd' to 'f', 'h': 6 of 8 bins] 3",
		"NOT t IN ('b','d','f')":                "[t: 'a', 'c', 'e', 'g' to 'h': 5 of 8 bins] 4",
		"b IN (0, 2, 4, 60) AND b <> 60":        "[b: 0, 2, 4: 3 of 4 bins, checked (8 rows)] 0",
		"b <> 1 AND b <> 3 AND b<>5 AND b <> 9": "[b: 0, 2, 4, 60: 4 of 4 bins, checked (9 rows)] 0",
		"FALSE":                                 "[] 0",
		"u IN (1, 3, 5, 7)":                     "[u: 1, 3, 5, 7: 4 of 10 bins] 4",
		"u IN (0, 2, 4, 6, 8)":                  "[u: 0, 2, 4, 6, 1 more: 5 of 10 bins] 5",
		"s = ''":                                "[s: '': 1 of 3 bins] 1",
		"s < 'b' OR s IS NULL":                  "[s: '' to 'a, or ''b''', missing: 2 of 3 bins] 1",
	} {
		e, err := predicate.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		var s plan.SelectBatch
		p, err := predicate.Compile(e, columns, tab.Rows, &s)
		if got := fmt.Sprint(p.Tests, " ", p.Vectors); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", text, got, err, want)
		}
	}
}

// TestCompileErrors points at the place, and leaves the batch as it was.
func TestCompileErrors(t *testing.T) {
	tab, columns := Table(t, 32, ints("delay", column.Equality, 0, 1, 2), Column{Name: "carrier", Type: column.String, Values: []any{"AA", "DL"}})
	var s plan.SelectBatch
	s.Any(1)
	s.End()
	for text, want := range map[string]string{
		"delay >= 1 AND dely < 5":       "column 16: unknown column \"dely\" (nearest: \"delay\")\n  delay >= 1 AND dely < 5\n                 ^",
		"carrier = 5":                   "column 11: column \"carrier\" is of type string: it compares with a text in 'single quotes'",
		"delay BETWEEN 1 AND 'x'":       "column 21: column \"delay\" is of type int: it compares with a number",
		"delay IN (1, TRUE)":            "column 14: column \"delay\" is of type int",
		"NOT (delay = 1 OR carrier)":    "column 19: column \"carrier\" is of type string",
		"FALSE AND nothing IS NOT NULL": "column 11: unknown column \"nothing\"",
	} {
		e, err := predicate.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		_, err = predicate.Compile(e, columns, tab.Rows, &s)
		var syntax *syntax.Error
		if !errors.As(err, &syntax) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	e, err := predicate.Parse("x = 1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := predicate.Compile(e, nil, 0, &s); err == nil || !strings.Contains(err.Error(), "the table has no columns") {
		t.Error(err)
	}
	if s.Len() != 1 || len(s.Steps) != 1 || len(s.Operands) != 1 || len(s.Ranges) != 0 {
		t.Errorf("the batch has %+v", s)
	}
}

// TestNames finds columns letter by letter, then in any case.
func TestNames(t *testing.T) {
	columns := []Column{ints("Delay", column.Equality, 0, 1, 2), ints("delay", column.Equality, 0, 2, 3), ints("Rid", column.Equality, 1, 5, nil)}
	_, described := Table(t, 32, columns...)
	for text, want := range map[string]string{
		"Delay = 2": "Delay", "delay = 2": "delay", "rid = 5": "Rid", `"RID" IS NOT NULL`: "Rid", "RID LIKE 'x'": `column "Rid" is of type int: LIKE compares strings`,
		"DELAY = 2": `column "DELAY" is ambiguous: "Delay" and "delay" differ in case only`, "ride = 1": `unknown column "ride" (nearest: "Rid")`,
		`Rid = "AA"`: `unknown column "AA": a text goes in 'single quotes'`,
	} {
		e, err := predicate.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		p, err := predicate.Compile(e, described, 2, new(plan.SelectBatch))
		if failed := (*syntax.Error)(nil); errors.As(err, &failed) {
			if failed.Reason != want {
				t.Errorf("%s: %s, want %s", text, failed.Reason, want)
			}
		} else if len(p.Tests) > 0 && p.Tests[0].Column != want {
			t.Errorf("%s: column %s, want %s", text, p.Tests[0].Column, want)
		}
	}
}

// TestColumns compares columns by slices where the order of codes is the order of values, else by values. It refuses a
// comparison of columns of types that have no order.
func TestColumns(t *testing.T) {
	texts := Column{Name: "s", Type: column.String, Values: []any{"x", "y", nil}}
	columns := []Column{ints("a", column.Equality, 2, 1, 2, 3), ints("b", column.Range, 3, 3, 2, nil), texts,
		{Name: "f", Type: column.Float, Values: []any{1.5, 2.0, nil}}}
	_, described := Table(t, 32, columns...)
	for text, want := range map[string]string{
		"s = a": `columns "s" of type string and "a" of type int do not compare`,
		"a = x": `unknown column "x": a text goes in 'single quotes'`,
		"a < b": "", "s <> s": "",
	} {
		e, err := predicate.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		_, err = predicate.Compile(e, described, 3, new(plan.SelectBatch))
		failed := (*syntax.Error)(nil)
		if errors.As(err, &failed) != (want != "") || failed != nil && failed.Reason != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	for text, want := range map[string]string{
		"a < b":                       "[a < b] [] 1",
		"NOT a < b AND a > 1":         "[a >= b] [] 1",
		"a = b OR s = 'x' OR b = 2":   "[a = b] [] 1",
		"(a < b OR a = 3) IS FALSE":   "[a >= b] [] 1",
		"(a < b) IS NOT TRUE":         "[a >= b] [] 1",
		"a <= b AND (a = b OR s = s)": "[a = b a <= b] [] 1",
		"a = a OR a < b":              "[] [] 1",
		"a < f":                       "[] [a < f] 1", // the rows with a value of f
		"a < f AND a < b":             "[a < b] [a < f] 1",
		"a < f OR a < b OR s = 'x'":   "[a < b] [a < f] 2",
		"(a < f) IS NOT TRUE":         "[] [a >= f] 1",
	} {
		e, err := predicate.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		var s plan.SelectBatch
		p, err := predicate.Compile(e, described, 3, &s)
		if got := fmt.Sprint(p.Sliced, p.Compared, s.Len()); err != nil || got != want {
			t.Errorf("%s: %s, error %v, want %s", text, got, err, want)
		}
	}
}
