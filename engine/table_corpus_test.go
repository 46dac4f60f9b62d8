package engine

import (
	"path/filepath"
	"testing"

	"heddle/engine/plan/plantest"
	"heddle/engine/table/column"
	"heddle/engine/table/hdb"
	"heddle/engine/table/predicate/predicatetest"
)

var flights, wheres, wanted = predicatetest.Flights, predicatetest.FlightWheres, predicatetest.FlightAnswers

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
