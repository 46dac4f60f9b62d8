package predicate_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"heddle/engine/internal/cputime"
	"heddle/engine/plan"
	"heddle/engine/table/column"
	"heddle/engine/table/predicate"
	. "heddle/engine/table/predicate/predicatetest"
)

// nested makes a predicate of 2^depth tests of as many columns, AND and OR in turns.
func nested(depth, at int, column func(int) string) string {
	if depth == 0 {
		return column(at)
	}
	return "(" + nested(depth-1, 2*at, column) + []string{" AND ", " OR "}[depth%2] + nested(depth-1, 2*at+1, column) + ")"
}

// TestHeight has trees that take many sets at a time: as many as there may be, and more.
func TestHeight(t *testing.T) {
	var columns []Column
	for i := range 1 << 9 {
		c := Column{Name: fmt.Sprint("c", i), Type: column.Bool}
		for row := range 10 {
			c.Values = append(c.Values, (row*7+i)%11%3 > 0)
		}
		columns = append(columns, c)
	}
	tab, described := Table(t, 32, columns...)
	compile := func(text string) (*plan.SelectBatch, error) {
		e, err := predicate.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		var s plan.SelectBatch
		_, err = predicate.Compile(e, described, tab.Rows, &s)
		if err == nil {
			if err := s.Validate(&tab.Table); err != nil {
				t.Fatal(err)
			}
			if got, want := digits(tab.Scan(&s)[0], 10), rowsOf(e, columns); got != want {
				t.Errorf("%.100s: rows %s, want %s", text, got, want)
			}
		}
		return &s, err
	}
	name := func(i int) string { return fmt.Sprint("c", i) }
	for depth := range 10 {
		_, err := compile(nested(depth, 0, name))
		if depth <= 8 && err != nil {
			t.Errorf("a tree of depth %d: %v", depth, err)
		}
		if depth > 8 && !errors.Is(err, plan.ErrUnsupported) {
			t.Errorf("a tree of depth %d: %v", depth, err)
		}
	}
	// A chain, with the deep end first or last, takes two or three.
	for _, form := range []string{"(%s AND c%d) OR c%d", "c%[3]d OR (c%[2]d AND %[1]s)"} {
		chain := "c0"
		for i := range 100 {
			chain = fmt.Sprintf(form, "("+chain+")", i+1, i+200)
		}
		if _, err := compile(chain); err != nil {
			t.Error(err)
		}
	}
}

// TestEmptyTable compiles for a table that has columns and no rows.
func TestEmptyTable(t *testing.T) {
	tab, columns := Table(t, 32, ints("a", column.Range, 2), ints("b", column.Interval, 0))
	for _, text := range []string{"a = 1", "NOT a = 1", "a IS NULL OR b IS NOT NULL", "TRUE"} {
		e, err := predicate.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		var s plan.SelectBatch
		if _, err := predicate.Compile(e, columns, 0, &s); err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(&tab.Table); err != nil || len(tab.Scan(&s)[0]) != 0 {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestManyTests has predicates of very many tests of one column. Time that grew with the
// square of their number would show.
func TestManyTests(t *testing.T) {
	const n = 30_000
	c := column.Column{Name: "a", Type: column.Int, Base: column.IntKey(0)}
	for lo := uint64(0); lo < 2*n; lo += 1000 {
		c.Bins = append(c.Bins, column.Bin{Lo: lo, Hi: lo + 999, Rows: 1000})
	}
	even := func(format, separator string) string {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf(format, 2*i))
		}
		return strings.Join(list, separator)
	}
	for _, text := range []string{"NOT a IN (" + even("%d", ", ") + ")", even("a <> %d", " AND "), "NOT (" + even("a = %d", " OR ") + ")", even("NOT a = %d", " AND ")} {
		e, err := predicate.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		var s plan.SelectBatch
		began := cputime.Total()
		if _, err := predicate.Compile(e, []column.Column{c}, 2*n, &s); err != nil {
			t.Fatal(err)
		}
		if took := cputime.Total() - began; took > 5*time.Second {
			t.Errorf("%.20s... takes %v of CPU time", text, took)
		}
		if len(s.Ranges) != n || s.Ranges[n-1] != (plan.CodeRange{Lo: 2*n - 1, Hi: 2*n - 1}) {
			t.Errorf("%.20s... checks %d ranges, want %d", text, len(s.Ranges), n)
		}
	}
}
