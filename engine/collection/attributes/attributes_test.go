package attributes

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

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
{"id":"b","text":"y","lang":"","ok":true,"more":{"n":1}, "tags":["n"]}

{"id":"c","text":"z","year":null,"lang":"a \"quoted\", text","zip":"9"}
`)
	path := filepath.Join(t.TempDir(), "docs.hdb")
	if _, err := Build(t.Context(), path, []string{in}, Options{}); err != nil {
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
	if f.Table().Rows != 3 || len(types) != 6 || types["year"] != column.Int || types["lang"] != column.String || types["zip"] != column.String || types["ok"] != column.Bool ||
		types["more.n"] != column.Int || types["tags"] != column.String || f.List(5) == nil {
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
		if _, err := Build(t.Context(), path, []string{write(t, "docs.jsonl", `{"id":1,"a":"`+text+`"}`+"\n")}, Options{}); err != nil {
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

// TestDeclared: a table has the declared columns alone, in their order. Missing values and empty texts
// differ, and documents without members have rows.
func TestDeclared(t *testing.T) {
	lines := strings.NewReader(`{"id":"a","year":"1999","other":1,"lang":""}
{"id":"b"}
{"id":"c","lang":"de","price":12.5}
`)
	declared := []Column{{"lang", "string"}, {"year", "int"}, {"price", "decimal(10,2)"}}
	for n := range declared {
		path := filepath.Join(t.TempDir(), "docs.hdb")
		r, err := Build(t.Context(), path, []string{"-"}, Options{Declared: declared[:n+1], Stdin: lines})
		if err != nil || r.Rows != 3 {
			t.Fatalf("%d rows, %v", r.Rows, err)
		}
		for i, want := range []uint32{1, 2, 2}[:n+1] {
			if c := r.Columns[i]; c.Name != declared[i].Name || c.Missing != want {
				t.Errorf("column %d: %+v, want %d missing", i, c, want)
			}
		}
	}
	path := filepath.Join(t.TempDir(), "none.hdb")
	if r, err := Build(t.Context(), path, []string{"-"}, Options{Declared: declared, Stdin: strings.NewReader("")}); err != nil || r.Rows != 0 {
		t.Errorf("no document: %d rows, %v", r.Rows, err)
	}
}

// TestDeclaredValues: integers have neither fraction nor exponent, floats round, and an empty text is a
// value of texts alone.
func TestDeclaredValues(t *testing.T) {
	for _, c := range []struct {
		kind, value string
		taken       bool
		missing     uint32
	}{
		{"int", `7`, true, 0}, {"int", `"7"`, true, 0}, {"int", `1.0`, false, 0}, {"int", `1e3`, false, 0}, {"int", `""`, true, 1},
		{"uint", `1.0`, false, 0}, {"float", `1e3`, true, 0}, {"float", `0.1000000000000000000001`, true, 0}, {"float", `""`, true, 1},
		{"decimal(10,2)", `1.5`, true, 0}, {"decimal(10,2)", `1.555`, false, 0}, {"string", `""`, true, 0}, {"bool", `""`, true, 1},
	} {
		path := filepath.Join(t.TempDir(), "docs.hdb")
		r, err := Build(t.Context(), path, []string{write(t, "docs.jsonl", `{"id":"d","a":`+c.value+"}\n")}, Options{Declared: []Column{{"a", c.kind}}})
		if (err == nil) != c.taken || c.taken && r.Columns[0].Missing != c.missing {
			t.Errorf("%s as %s: %v", c.value, c.kind, err)
		}
	}
}

// TestCheck refuses wrong declarations.
func TestCheck(t *testing.T) {
	for want, all := range map[string][]Column{
		"twice": {{"a", "int"}, {"a", "int"}}, "belongs": {{"text", "string"}}, "unknown type": {{"a", "number"}}, `attribute "a" has no type`: {{Name: "a"}},
	} {
		if err := Check(all); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", all, err)
		}
	}
}

// TestErrors: errors name the line of the input, and no table is left.
func TestErrors(t *testing.T) {
	for name, c := range map[string]struct {
		text, want string
		declared   []Column
	}{
		"none":    {`{"id":1,"text":"x"}` + "\n", "no line has a member", nil},
		"json":    {"{\"id\":1,\"a\":2}\n{\"a\":\n", "docs.jsonl:2:", nil},
		"value":   {"{\"a\":1,\"b\":\"x\\ny\"}\n\n{\"a\":\"n\"}\n", "docs.jsonl:3:", []Column{{"a", "int"}, {"b", "string"}}},
		"no name": {"{\"a\":1}\n{\"\":2}\n", "docs.jsonl:2: a member with an empty name", nil},
		"missing": {"", "no such file", nil},
	} {
		path, in := filepath.Join(t.TempDir(), "docs.hdb"), "missing"
		if c.text != "" {
			in = write(t, "docs.jsonl", c.text)
		}
		_, err := Build(t.Context(), path, []string{in}, Options{Declared: c.declared})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && strings.Contains(err.Error(), "--") {
			t.Errorf("%s: advice for another command: %v", name, err)
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s: a table was written", name)
		}
	}
}
