package attributes

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heddle/engine/table/build"
	"heddle/engine/table/column"
	"heddle/engine/table/hdb"
)

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestBuild makes columns of texts, numbers and booleans, with missing values, and leaves the document
// itself out.
func TestBuild(t *testing.T) {
	in := write(t, "docs.jsonl", `{"id":"a","text":"x","year":1999,"lang":"de","zip":"00123"}
{"id":"b","text":"y","lang":"","ok":true,"tags":["n"],"more":{"n":1}}

{"id":"c","text":"z","year":null,"lang":"a \"quoted\", text","zip":"9"}
`)
	path := filepath.Join(t.TempDir(), "docs.hdb")
	if _, err := Build(t.Context(), path, []string{in}, 3, build.Options{}); err != nil {
		t.Fatal(err)
	}
	f, err := hdb.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	types := map[string]column.Type{}
	for _, c := range f.Columns() {
		types[c.Name] = c.Type
	}
	if f.Table().Rows != 3 || len(types) != 4 || types["year"] != column.Int || types["lang"] != column.String || types["zip"] != column.String || types["ok"] != column.Bool {
		t.Errorf("%d rows, columns %v", f.Table().Rows, types)
	}
	for _, c := range f.Columns() {
		if c.Name == "lang" && !slices.Contains(c.Dictionary, `a "quoted", text`) {
			t.Errorf("texts %q", c.Dictionary)
		}
	}
}

// TestTexts: a text keeps its characters, whatever type it looks like. Times alone are times.
func TestTexts(t *testing.T) {
	for text, want := range map[string]column.Type{
		"007": column.String, "7": column.String, "+5": column.String, "TRUE": column.String, ".5": column.String, "NaN": column.String,
		"Infinity": column.String, "1_000": column.String, "2001": column.String, "": column.String,
		"2001-02-03": column.Timestamp, "2001-02-03T04:05:06.000000007Z": column.TimestampNS,
	} {
		path := filepath.Join(t.TempDir(), "docs.hdb")
		if _, err := Build(t.Context(), path, []string{write(t, "docs.jsonl", `{"id":1,"a":"`+text+`"}`+"\n")}, 1, build.Options{}); err != nil {
			t.Fatal(err)
		}
		f, err := hdb.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if c := f.Columns()[0]; c.Type != want || want == column.String && !slices.Equal(c.Dictionary, []string{text}) {
			t.Errorf("%q: type %v, values %q", text, c.Type, c.Dictionary)
		}
		f.Close()
	}
}

func TestErrors(t *testing.T) {
	for name, c := range map[string]struct {
		text, want string
		docs       uint64
	}{
		"count": {`{"id":1,"a":2}` + "\n", "1 lines, the index has 2 documents", 2},
		"none":  {`{"id":1,"text":"x"}` + "\n", "no line has a member", 1},
		"json":  {"{\"id\":1,\"a\":2}\n{\"a\":\n", "line 2", 2},
	} {
		path := filepath.Join(t.TempDir(), "docs.hdb")
		_, err := Build(t.Context(), path, []string{write(t, "docs.jsonl", c.text)}, c.docs, build.Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s: a table was written", name)
		}
	}
}
