package table_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"heddle/engine"
	"heddle/engine/table"
	"heddle/engine/table/build"
	"heddle/engine/table/column"
	"heddle/engine/table/read/csv"
)

// A table of rows from Go.
func ExampleNewWriter() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "flights.hdb")
	w, err := table.NewWriter(ctx, path, []table.Column{{"delay", "int"}, {"carrier", "string"}, {"stops", "string[]"}}, build.Options{Memory: 64 << 20})
	if err != nil {
		log.Fatal(err)
	}
	defer w.Abort() // without an effect after Close
	for _, row := range [][]any{{61, "AA", []string{"ORD", "SFO"}}, {-2, "DL", nil}, {nil, "AA", []string{"ORD"}}} {
		if err := w.Write(row...); err != nil {
			log.Fatal(err)
		}
	}
	if _, err := w.Close(); err != nil {
		log.Fatal(err)
	}

	e, err := engine.New(ctx, engine.Options{Backend: "host"})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()
	t, err := e.OpenTable(ctx, path, engine.TableOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer t.Close()
	rows, err := t.Select(ctx, engine.Selection{Where: "delay >= 60 OR stops = 'ORD'"})
	fmt.Println(rows.Count, err)
	// Output: 2 <nil>
}

// columns have all types.
var columns = []table.Column{{"i", "int"}, {"u", "uint"}, {"f", "float"}, {"g", "float32"}, {"s", "string"}, {"b", "bool"}, {"t", "timestamp"}, {"n", "timestamp_ns"}, {"d", "decimal(9,2)"}, {"w", "decimal(38,3)"}, {"l", "int[]"}}

// TestWriter: a writer makes the table that a build of the same values in CSV makes.
func TestWriter(t *testing.T) {
	dir := t.TempDir()
	path, texts, other := filepath.Join(dir, "w.hdb"), filepath.Join(dir, "t.hdb"), filepath.Join(dir, "c.hdb")
	w, err := table.NewWriter(t.Context(), path, columns, build.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ofTexts, err := table.NewWriter(t.Context(), texts, columns, build.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	types := map[string]string{}
	for i, c := range columns {
		types[c.Name] = c.Type
		if i > 0 {
			text.WriteByte(',')
		}
		text.WriteString(c.Name)
	}
	for i := range 5000 {
		at := time.Date(2001, 2, 3, 4, 5, i%60, 1000*i, time.FixedZone("", 3600))
		row := []any{int8(i % 100), uint16(i), float64(i) / 4, float32(i) / 2, fmt.Sprint("s", i%7), i%2 == 0, at, at, fmt.Sprintf("%d.25", i), i, []int64{int64(i), 7}}
		if i%5 == 0 {
			row[0], row[4], row[6] = nil, nil, nil
		}
		if err := w.Write(row...); err != nil {
			t.Fatal(err)
		}
		text.WriteByte('\n')
		fields := make([][][]byte, len(row))
		for k, v := range row {
			if k > 0 {
				text.WriteByte(',')
			}
			field := fmt.Sprint(v)
			switch v := v.(type) {
			case nil:
				continue
			case time.Time:
				field = v.Format(time.RFC3339Nano)
			case []int64:
				fmt.Fprintf(&text, `"[%d,%d]"`, v[0], v[1])
				fields[k] = [][]byte{fmt.Append(nil, v[0]), fmt.Append(nil, v[1])}
				continue
			}
			text.WriteString(field)
			fields[k] = [][]byte{[]byte(field)}
		}
		if err := ofTexts.WriteTexts(fields); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := ofTexts.Close(); err != nil {
		t.Fatal(err)
	}
	report, err := w.Close()
	if err != nil || report.Rows != 5000 {
		t.Fatalf("%+v, %v", report, err)
	}
	src, err := csv.Open(t.Context(), []string{"-"}, csv.Options{Stdin: strings.NewReader(text.String() + "\n"), Types: declared(t, types)})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if _, err := build.Build(t.Context(), src, other, build.Options{}); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(other)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, texts} {
		if got, err := os.ReadFile(name); err != nil || string(got) != string(want) {
			t.Errorf("%s has %d bytes, the table of CSV has %d: %v", name, len(got), len(want), err)
		}
	}
}

// TestWriterErrors: errors name the row and the column, the row is left out, and no file is left.
func TestWriterErrors(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "w.hdb")
	if _, err := table.NewWriter(t.Context(), path, []table.Column{{"a", "what"}}, build.Options{}); err == nil || !strings.Contains(err.Error(), `column "a"`) {
		t.Error(err)
	}
	w, err := table.NewWriter(t.Context(), path, columns, build.Options{})
	if err != nil {
		t.Fatal(err)
	}
	good := []any{1, 1, uint64(1), 1, "x", true, "2001-02-03", time.Now(), 1, "1.5", []int{1}}
	if err := w.Write(good...); err != nil {
		t.Fatal(err)
	}
	for i, wrong := range []any{"1", -1, "x", true, "\xff", 1, "soon", 5, "1.234", 1.5, []any{1, "x"}} {
		row := append([]any{}, good...)
		row[i] = wrong
		if err := w.Write(row...); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("row 1, column %q", columns[i].Name)) {
			t.Errorf("%v in %s: %v", wrong, columns[i].Name, err)
		}
	}
	fine := append([]any{}, good...)
	fine[6] = time.Date(2001, 2, 3, 4, 5, 6, 1, time.UTC)
	if err := w.Write(fine...); err == nil || !strings.Contains(err.Error(), "is no timestamp: it has parts of a microsecond") {
		t.Error(err)
	}
	if err := w.Write(1); err == nil || !strings.Contains(err.Error(), "row 1 has 1 values") {
		t.Error(err)
	}
	one := [][]byte{[]byte("1")}
	for i, wrong := range []string{"1.0", "-1", "x", "1e39", "\xff", "2", "soon", "now", "1.234", "", "[1]"} {
		row := [][][]byte{one, one, one, one, one, one, nil, nil, one, one, one}
		row[i] = [][]byte{[]byte(wrong)}
		if err, ok := errors.AsType[*table.ValueError](w.WriteTexts(row)); !ok || err.Row != 1 || err.Column != columns[i].Name {
			t.Errorf("text %s in %s: %v", wrong, columns[i].Name, err)
		}
	}
	two := make([][][]byte, len(columns))
	two[0] = append(one, one...)
	if err := w.WriteTexts(two); err == nil || !strings.Contains(err.Error(), "2 values: type int[] takes several") {
		t.Error(err)
	}
	if report, err := w.Close(); err != nil || report.Rows != 1 {
		t.Errorf("%+v, %v", report, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	w, err = table.NewWriter(ctx, path, []table.Column{{"a", "int"}}, build.Options{})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	for range 1 << 20 {
		if err = w.Write(1); err != nil {
			break
		}
	}
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "row ") {
		t.Errorf("a context that ends: %v", err)
	}
	w.Abort()
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("%v, %v", entries, err)
	}
}

func declared(t *testing.T, types map[string]string) map[string]column.Declared {
	all := map[string]column.Declared{}
	for name, text := range types {
		d, err := column.ParseDeclared(text)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = d
	}
	return all
}
