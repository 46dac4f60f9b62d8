package merge

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"pgregory.net/rapid"

	"heddle/codec"
	"heddle/engine/table/build"
	"heddle/engine/table/column"
	"heddle/engine/table/hdb"
	"heddle/engine/table/read/csv"
)

// declared are the types of the columns of a test.
var declared = []struct {
	name, kind string
	values     *rapid.Generator[string]
}{
	{"i", "int", rapid.Map(rapid.Int64(), func(v int64) string { return fmt.Sprint(v) })},
	{"few", "uint", rapid.Map(rapid.Uint64Range(0, 3), func(v uint64) string { return fmt.Sprint(v) })},
	{"s", "string", rapid.SampledFrom([]string{`""`, `"de"`, `"a, ""b"""`, `"line` + "\n" + `end"`, `"é"`})},
	{"f", "float", rapid.Map(rapid.Float64(), func(v float64) string { return fmt.Sprint(v) })},
	{"x", "float", rapid.Map(rapid.IntRange(-999, 999), func(v int) string { return fmt.Sprint(float64(v) / 100) })},
	{"d", "decimal(10,2)", rapid.Map(rapid.IntRange(-1e9, 1e9), func(v int) string { return fmt.Sprintf("%.2f", float64(v)/100) })},
	{"w", "decimal(38,3)", rapid.SampledFrom([]string{"12345678901234567890123456789.125", "-1", "0.001"})},
	{"b", "bool", rapid.SampledFrom([]string{"true", "false"})},
	{"t", "timestamp", rapid.SampledFrom([]string{"2001-02-03", "1999-12-31 23:59:59"})},
	{"tags", "string[]", rapid.SampledFrom([]string{`"[""x"",""y""]"`, `"[""""]"`, `"[]"`, `"[""x""]"`, `"[""a \""b"",""y"",""x""]"`})},
	{"n", "int[]", rapid.Map(rapid.SliceOfN(rapid.IntRange(-9, 9), 0, 200), func(v []int) string {
		return `"` + strings.ReplaceAll(fmt.Sprint(v), " ", ",") + `"`
	})},
}

// made builds a table of rows of CSV.
func made(t interface {
	Context() context.Context
	Helper()
	Fatal(...any)
}, dir string, rows []string) string {
	t.Helper()
	var names []string
	types := map[string]column.Declared{}
	for _, d := range declared {
		kind, err := column.ParseDeclared(d.kind)
		if err != nil {
			t.Fatal(err)
		}
		names, types[d.name] = append(names, d.name), kind
	}
	f, err := os.CreateTemp(dir, "*.hdb")
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	text := strings.Join(append([]string{strings.Join(names, ",")}, rows...), "\n") + "\n"
	src, err := csv.Open(t.Context(), []string{"-"}, csv.Options{Stdin: strings.NewReader(text), Types: types, Null: []string{`\N`}})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if _, err := build.Build(t.Context(), src, f.Name(), build.Options{}); err != nil {
		t.Fatal(err)
	}
	return f.Name()
}

// row draws a row, in which values may be missing.
func row() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		var cells []string
		for _, d := range declared {
			v := `\N`
			if rapid.IntRange(0, 3).Draw(t, "missing") > 0 {
				v = d.values.Draw(t, d.name)
			}
			cells = append(cells, v)
		}
		return strings.Join(cells, ",")
	})
}

// TestFile: tables without some of their rows become the table of the remaining rows, byte for byte.
func TestFile(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		dir, err := os.MkdirTemp("", "merge")
		if err != nil {
			r.Fatal(err)
		}
		defer os.RemoveAll(dir)
		some := rapid.SliceOfN(row(), 0, 12).Draw(r, "rows")
		var parts []Part
		var left []string
		for range rapid.IntRange(1, 4).Draw(r, "parts") {
			var rows []string
			size := rapid.SampledFrom([]int{0, 1, 7, codec.SegmentLen + 3}).Draw(r, "size")
			for i := range size * min(1, len(some)) {
				rows = append(rows, some[i%len(some)])
			}
			f, err := hdb.Open(made(r, dir, rows))
			if err != nil {
				r.Fatal(err)
			}
			defer f.Close()
			part := Whole(f, nil)
			if n := len(rows); n > 0 && rapid.Bool().Draw(r, "deleted") {
				part.Deleted = roaring.BitmapOf(rapid.SliceOfN(rapid.Uint32Range(0, uint32(n-1)), 0, n).Draw(r, "rows")...)
				if rapid.IntRange(0, 4).Draw(r, "all") == 0 {
					part.Deleted.AddRange(0, uint64(n))
				}
			}
			if rapid.Bool().Draw(r, "range") {
				part.First = uint64(rapid.IntRange(0, len(rows)).Draw(r, "first"))
				part.End = uint64(rapid.IntRange(int(part.First), len(rows)).Draw(r, "end"))
			}
			for i := part.First; i < part.End; i++ {
				if part.Deleted == nil || !part.Deleted.Contains(uint32(i)) {
					left = append(left, rows[i])
				}
			}
			parts = append(parts, part)
		}
		got, want := filepath.Join(dir, "got.hdb"), made(r, dir, left)
		report, err := File(r.Context(), parts, got, build.Options{})
		if err != nil || report.Rows != uint32(len(left)) {
			r.Fatalf("%d rows, %v, want %d", report.Rows, err, len(left))
		}
		a, err1 := os.ReadFile(got)
		b, err2 := os.ReadFile(want)
		if err1 != nil || err2 != nil || !bytes.Equal(a, b) {
			r.Fatalf("%d bytes, %v, want %d, %v", len(a), err1, len(b), err2)
		}
	})
}

// TestColumns: tables with other columns are refused.
func TestColumns(t *testing.T) {
	dir := t.TempDir()
	a, err := hdb.Open(made(t, dir, nil))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	src, err := csv.Open(t.Context(), []string{"-"}, csv.Options{Stdin: strings.NewReader("i\n1\n")})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	path := filepath.Join(dir, "other.hdb")
	if _, err := build.Build(t.Context(), src, path, build.Options{}); err != nil {
		t.Fatal(err)
	}
	b, err := hdb.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	_, err = File(t.Context(), []Part{Whole(a, nil), {File: b, End: math.MaxUint32}}, filepath.Join(dir, "x.hdb"), build.Options{})
	if err == nil || !strings.Contains(err.Error(), "the columns differ") {
		t.Error(err)
	}
}
