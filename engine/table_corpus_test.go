package engine

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"heddle/codec/wah"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/engine/table/column"
	"heddle/engine/table/hdb"
	"heddle/engine/table/predicate"
	"heddle/engine/table/predicate/predicatetest"
)

// flights is a small table with a column of each type, missing values, every encoding,
// and bins of one value and of several.
var flights = sync.OnceValue(func() []predicatetest.Column {
	r := rand.New(rand.NewPCG(5, 6))
	columns := []predicatetest.Column{
		{Name: "delay", Type: column.Int, Bin: func(i, n int) int { return i / 7 }},
		{Name: "distance", Type: column.Float, Encoding: column.Range, Bin: func(i, n int) int { return i * i / n / 40 }},
		{Name: "carrier", Type: column.String, Encoding: column.Interval},
		{Name: "cancelled", Type: column.Bool},
		{Name: "at", Type: column.Timestamp, Encoding: column.Interval, Bin: func(i, n int) int { return i / 100 }},
		{Name: "gate", Type: column.String, Encoding: column.Range},
	}
	day := time.Date(2008, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 5003 {
		values := []any{
			int64(r.ExpFloat64()*40) - 20,
			float64(r.IntN(400)) * 6.25,
			[]string{"AA", "B6", "DL", "UA", "WN"}[min(r.IntN(5), r.IntN(5))],
			r.IntN(30) == 0,
			day.Add(time.Duration(i/3) * time.Hour),
			fmt.Sprint("G", i/1000),
		}
		if r.IntN(12) == 0 {
			values[0], values[2] = nil, nil
		}
		for c, v := range values {
			columns[c].Values = append(columns[c].Values, v)
		}
	}
	return columns
})

// wheres are predicates on flights that differ in kind.
var wheres = []string{
	"delay >= 60 AND distance < 500",
	"delay BETWEEN 3 AND 4",
	"NOT delay > 12.5",
	"delay IS NULL OR carrier = 'B6'",
	"delay IS NOT NULL AND carrier IN ('AA', 'WN', 'ZZ') AND NOT cancelled",
	"cancelled",
	"at >= '2008-02-01' AND at < '2008-02-03 12:00:00'",
	"(delay < 0 OR distance >= 1e3) AND (carrier = 'DL' OR gate <> 'G3')",
	"distance BETWEEN 100 AND 1100.5 AND delay <> 7",
	"gate >= 'G2' AND gate <= 'G3z' AND 0 <= delay",
	"TRUE",
	"delay = 1e30",
	"carrier = NULL",
}

// inTable makes the table of flights in memory.
func inTable(t testing.TB, word int) (*plantest.Table, []column.Column) {
	t.Helper()
	return predicatetest.Table(t, word, flights()...)
}

// openTable opens flights as a table in memory; it is closed with the test.
func openTable(t testing.TB, opt Options) *Table {
	t.Helper()
	tab, columns := inTable(t, 32)
	x, err := NewTable(t.Context(), &tab.Table, columns, opt)
	return closedTable(t, x, err)
}

func closedTable(t testing.TB, x *Table, err error) *Table {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil && !x.closed {
			t.Errorf("close: %v", err)
		}
	})
	return x
}

// tableFile writes flights as a table file.
func tableFile(t testing.TB, word int) string {
	t.Helper()
	tab, columns := inTable(t, word)
	path := filepath.Join(t.TempDir(), "flights.hdb")
	w, err := hdb.Create(path, tab.Rows, word, hdb.Meta{Source: "flights"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	for i, c := range columns {
		cw, err := w.Column(c)
		if err == nil {
			err = cw.Codes(tab.Codes[i])
		}
		for v := c.Vector; v < c.Vector+uint32(c.Vectors()) && err == nil; v++ {
			if word == 64 {
				err = cw.Vector64(tab.Vector64(v))
			} else {
				err = cw.Vector32(tab.Vector32(v))
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	return path
}

// selected gives the rows of flights for which a predicate is true, as a bitset, and
// their number.
func selected(t testing.TB, where string) (rows []uint64, count uint32) {
	t.Helper()
	e, err := predicate.Parse(where)
	if err != nil {
		t.Fatal(err)
	}
	n := len(flights()[0].Values)
	rows = make([]uint64, wah.Bitset(uint64(n)))
	for row := range n {
		value := func(name string) any {
			for _, c := range flights() {
				if c.Name == name {
					return c.Values[row]
				}
			}
			panic(name)
		}
		if predicatetest.Eval(&e.Root, value) == predicatetest.True {
			rows[row/64] |= 1 << (row % 64)
			count++
		}
	}
	return rows, count
}

// wanted has the answers to wheres.
var wanted = sync.OnceValue(func() (all plan.Rows) {
	var tb noFailure
	for _, w := range wheres {
		rows, n := selected(&tb, w)
		all.Bits = append(all.Bits, rows...)
		all.Counts = append(all.Counts, n)
		all.Stride = len(rows)
	}
	return all
})

// noFailure is a testing.TB outside of a test.
type noFailure struct{ testing.TB }

func (*noFailure) Helper()           {}
func (*noFailure) Fatal(args ...any) { panic(fmt.Sprint(args...)) }
