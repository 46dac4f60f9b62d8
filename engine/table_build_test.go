package engine

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"heddle/engine/plan/testneeds"
	tablebuild "heddle/engine/table/build"
	"heddle/engine/table/column"
	"heddle/engine/table/predicate/predicatetest"
	read "heddle/engine/table/read/csv"
)

// flightsCSV writes flights as a CSV file with a header.
func flightsCSV(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "flights.csv")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := csv.NewWriter(f)
	record := make([]string, len(flights()))
	line := func(value func(c predicatetest.Column) string) {
		for i, c := range flights() {
			record[i] = value(c)
		}
		if err := w.Write(record); err != nil {
			t.Fatal(err)
		}
	}
	line(func(c predicatetest.Column) string { return c.Name })
	for row := range flights()[0].Values {
		line(func(c predicatetest.Column) string {
			switch v := c.Values[row].(type) {
			case nil:
				return ""
			case time.Time:
				return v.Format(time.RFC3339)
			default:
				return fmt.Sprint(v)
			}
		})
	}
	if w.Flush(); w.Error() != nil {
		t.Fatal(w.Error())
	}
	return path
}

// TestBuiltTable answers predicates on a table that was built from CSV, under every
// encoding and binning.
func TestBuiltTable(t *testing.T) {
	testneeds.OneCaller(t)
	if !onHost() {
		t.Skip("a built table is like others: TestTable has the device answer")
	}
	in := flightsCSV(t)
	e := tableEngine(t, backendOptions(t))
	for encoding, binnings := range map[column.Encoding][]column.Binning{
		column.Equality: {column.Auto, column.Distinct},
		column.Range:    {column.Width, column.Quantile},
		column.Interval: {column.Lloyd},
	} {
		for _, binning := range binnings {
			src, err := read.Open(t.Context(), []string{in}, read.Options{})
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "flights.hdb")
			opt := tablebuild.Options{Settings: tablebuild.Settings{Bins: 20, Encoding: encoding, Binning: binning}}
			if binning == column.Distinct {
				opt.Bins = 10000
			}
			if _, err := tablebuild.Build(t.Context(), src, path, opt); err != nil {
				t.Fatalf("%v, %v: %v", encoding, binning, err)
			}
			if err := src.Close(); err != nil {
				t.Fatal(err)
			}
			x, err := e.OpenTable(t.Context(), path, TableOptions{})
			if err != nil {
				t.Fatal(err)
			}
			info, err := x.Info()
			if err != nil {
				t.Fatal(err)
			}
			for i, c := range info.Columns {
				if want := flights()[i]; c.Name != want.Name || c.Type != want.Type || c.Encoding != encoding {
					t.Errorf("column %d is %s of type %v, %v, want %s of type %v, %v", i, c.Name, c.Type, c.Encoding, want.Name, want.Type, encoding)
				}
			}
			checkAll(t, x, Selection{})
		}
	}
}
