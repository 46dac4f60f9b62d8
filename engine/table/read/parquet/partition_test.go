package parquet

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle/engine/table/read"
	"heddle/engine/table/read/readtest"
)

// TestParquetUnion reads files with different columns and folders with values, as DuckDB does with union_by_name and
// hive_partitioning.
func TestParquetUnion(t *testing.T) {
	type one struct {
		A int64  `parquet:"a"`
		B string `parquet:"b"`
	}
	type two struct {
		C float64 `parquet:"c"`
		A int64   `parquet:"a"`
	}
	dir := t.TempDir()
	move := func(path, folder string) string {
		to := filepath.Join(dir, folder, filepath.Base(path))
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path, to); err != nil {
			t.Fatal(err)
		}
		return to
	}
	first := move(parquetFile(t, "x.parquet", 9, []one{{1, "x"}, {2, "y"}}), "day=2013-01-01/n=7/w=a%20b")
	second := move(parquetFile(t, "y.parquet", 9, []two{{2.5, 3}}), "day=2013-01-02/n=08/w="+noPartition)
	for _, c := range []struct {
		paths   []string
		columns []string
		want    string
		warning string
	}{
		{[]string{first, second}, nil, "[a int b string c float day timestamp n string w string] [[1 x - 2013-01-01T00:00:00Z 7 a b] [2 y - 2013-01-01T00:00:00Z 7 a b] [3 - 2.5 2013-01-02T00:00:00Z 08 -]]", "y.parquet: the file has 2 of 3 columns"},
		{[]string{first}, nil, "[a int b string day timestamp n int w string] [[1 x 2013-01-01T00:00:00Z 7 a b] [2 y 2013-01-01T00:00:00Z 7 a b]]", ""},
		{[]string{first, second}, []string{"n", "c"}, "[c float n string] [[- 7] [- 7] [2.5 08]]", ""},
	} {
		warning := ""
		s, err := Open(t.Context(), c.paths, Options{Columns: c.columns, Warn: func(text string) { warning += text }})
		got, err := readtest.ReadAll(t, s, err)
		if text := strings.ReplaceAll(fmt.Sprint(got.Fields, " ", got.Rows), readtest.Missing, "-"); err != nil || text != c.want {
			t.Errorf("%s, error %v, want %s", text, err, c.want)
		}
		if !strings.Contains(warning, c.warning) || c.warning == "" && warning != "" {
			t.Errorf("warning %q, want %q", warning, c.warning)
		}
	}
	var unknown *read.ColumnError
	if _, err := Open(t.Context(), []string{first, second}, Options{Columns: []string{"a", "d"}}); !errors.As(err, &unknown) || unknown.Name != "d" {
		t.Errorf("error %v, want that there is no column d", err)
	}
}

// TestEqualNames warns of a column that has the name of a member of a struct.
func TestEqualNames(t *testing.T) {
	type row struct {
		AB int64 `parquet:"a.b"`
		A  struct {
			B int64 `parquet:"b"`
		} `parquet:"a"`
	}
	path, warnings := parquetFile(t, "x.parquet", 9, []row{{AB: 1}}), []string(nil)
	s, err := Open(t.Context(), []string{path}, Options{Warn: func(text string) { warnings = append(warnings, text) }})
	got, err := readtest.ReadAll(t, s, err)
	if text := fmt.Sprint(got.Fields, " ", got.Rows); err != nil || text != "[a.b int a.b_1 int] [[1 0]]" {
		t.Errorf("%s, error %v", text, err)
	}
	if want := path + `: columns have equal names: the second "a.b", column 2, is called "a.b_1"`; len(warnings) != 1 || warnings[0] != want {
		t.Errorf("warnings %q, want %q", warnings, want)
	}
}
