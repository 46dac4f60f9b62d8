package parquet

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"heddle/engine/table/column"
	"heddle/engine/table/read/readtest"
)

// TestParquetTesting reads the files of a checkout of apache/parquet-testing, which HEDDLE_PARQUET_TESTING names, and compares each
// column with DuckDB: rows, rows with a value, the least and the greatest value. testdata/duckdb.tsv has these
// values, without columns that DuckDB does not read, and
// files with wrong checksums, which DuckDB does not verify.
func TestParquetTesting(t *testing.T) {
	dir := os.Getenv("HEDDLE_PARQUET_TESTING")
	if dir == "" {
		t.Skip("HEDDLE_PARQUET_TESTING names no checkout of apache/parquet-testing")
	}
	lines, err := os.ReadFile("testdata/duckdb.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(lines)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		t.Run(f[0]+"/"+f[1], func(t *testing.T) {
			s, err := Open(t.Context(), []string{filepath.Join(dir, "data", f[0])}, Options{Columns: f[1:2]})
			got, err := readtest.ReadAll(t, s, err)
			if err != nil {
				t.Fatal(err)
			}
			var all []string
			for _, row := range got.Rows {
				if row[0] != readtest.Missing {
					all = append(all, row[0])
				}
			}
			least, greatest := "", ""
			if len(all) > 0 {
				least, greatest = slices.MinFunc(all, compare(got.Fields[0].Type)), slices.MaxFunc(all, compare(got.Fields[0].Type))
			}
			if rows, some := strconv.Itoa(len(got.Rows)), strconv.Itoa(len(all)); rows != f[3] || some != f[4] || !same(got.Fields[0].Type, least, f[5]) || !same(got.Fields[0].Type, greatest, f[6]) {
				t.Errorf("%s rows, %s values from %q to %q; DuckDB has %q", rows, some, least, greatest, f[3:])
			}
		})
	}
}

// compare compares values as texts.
func compare(of column.Type) func(a, b string) int {
	if of == column.String || of.IsTime() || of == column.Bool {
		return strings.Compare
	}
	return func(a, b string) int {
		x, errX := strconv.ParseFloat(a, 64)
		y, errY := strconv.ParseFloat(b, 64)
		if errX != nil || errY != nil {
			panic(a + ", " + b)
		}
		switch {
		case x != x && y != y:
			return 0
		case x != x: // NaN is the greatest
			return 1
		case y != y:
			return -1
		}
		return cmp.Compare(x, y)
	}
}

// same reports whether a value is the one that DuckDB writes in its own form.
func same(of column.Type, value, duck string) bool {
	if of.IsTime() {
		value, duck = strings.TrimSuffix(strings.Replace(value, "T", " ", 1), "Z"), strings.TrimSuffix(duck, "+00")
		return value == duck || value == duck+" 00:00:00"
	}
	duck = strings.Replace(duck, "-nan", "nan", 1) // all NaN are equal
	return value == duck || of != column.String && value != "" && duck != "" && compare(of)(value, duck) == 0
}
