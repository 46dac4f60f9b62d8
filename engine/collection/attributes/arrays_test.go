package attributes_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heddle/engine"
	"heddle/engine/collection/attributes"
	"heddle/engine/file/input"
	"heddle/engine/table/values"
)

// rowsOf builds a table and gives its rows as JSON lines, with the types of the columns, and the warnings.
func rowsOf(t *testing.T, lines string, opt attributes.Options) (rows, types string, warnings []string, err error) {
	t.Helper()
	opt.Warn = func(text string) { warnings = append(warnings, text) }
	docs, path := filepath.Join(t.TempDir(), "docs.jsonl"), filepath.Join(t.TempDir(), "t.hdb")
	if err := os.WriteFile(docs, []byte(lines), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := attributes.Build(t.Context(), path, []string{docs}, opt); err != nil {
		return "", "", warnings, err
	}
	e, err := engine.New(t.Context(), engine.Options{Backend: "host"})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	x, err := e.OpenTable(t.Context(), path, engine.TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	info, err := x.Info()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range info.Columns {
		types += " " + c.Name + "=" + c.TypeName()
	}
	var out strings.Builder
	w := values.NewLines(&out)
	if err := x.Aggregate(t.Context(), engine.Aggregation{Select: "*"}, w.Write); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String(), strings.TrimSpace(types), warnings, nil
}

// TestArrays infers columns of arrays, of all types, and of paths, and gives their values back.
func TestArrays(t *testing.T) {
	for name, c := range map[string]struct{ lines, types, rows string }{
		"texts": {`{"tags":["x","y"]}
{"tags":"x"}
{}
{"tags":[]}
{"tags":["a \"b\", c",""]}
`, "tags=string[]", `{"tags":["x","y"]}
{"tags":["x"]}
{"tags":null}
{"tags":null}
{"tags":["a \"b\", c",""]}
`},
		"numbers": {`{"n":[1,2],"f":[1.5],"b":[true,false],"big":[18446744073709551615],"e":[]}
{"n":[-3],"f":[2],"b":[true]}
`, "b=bool[] big=uint[] f=float[] n=int[]", `{"b":[true,false],"big":[18446744073709551615],"f":[1.5],"n":[1,2]}
{"b":[true],"big":null,"f":[2],"n":[-3]}
`},
		"times": {`{"t":["2001-02-03","2001-02-03T04:05:06Z"],"u":["2001-02-03","x"]}
`, "t=timestamp[] u=string[]", `{"t":["2001-02-03T00:00:00Z","2001-02-03T04:05:06Z"],"u":["2001-02-03","x"]}
`},
		"paths": {`{"author":{"name":"A","at":{"city":"X"}},"editors":[{"name":"B","age":1},{"name":"C"}],"deep":[[1,2],[[3]]]}
{"author":{"name":"D"},"editors":{"name":"E"},"deep":4}
`, "author.at.city=string author.name=string deep=int[] editors.age=int[] editors.name=string[]",
			`{"author.at.city":"X","author.name":"A","deep":[1,2,3],"editors.age":[1],"editors.name":["B","C"]}
{"author.at.city":null,"author.name":"D","deep":[4],"editors.age":null,"editors.name":["E"]}
`},
		"late": {strings.Repeat(`{"n":1}`+"\n", 12000) + `{"n":1.5}` + "\n", "n=float", strings.Repeat(`{"n":1}`+"\n", 12000) + `{"n":1.5}` + "\n"},
	} {
		rows, types, warnings, err := rowsOf(t, c.lines, attributes.Options{})
		if err != nil || rows != c.rows || types != c.types || len(warnings) > 0 {
			t.Errorf("%s: types %q, want %q; rows\n%.500s\nwarnings %q, %v", name, types, c.types, rows, warnings, err)
		}
	}
}

// TestMixed makes texts of members with values of several kinds, and counts nulls in arrays.
func TestMixed(t *testing.T) {
	rows, types, warnings, err := rowsOf(t, `{"a":1,"b":[1,null,true]}
{"a":"x","b":["y",null]}
{"a":2,"b":null}
`, attributes.Options{})
	want := []string{`attribute "a" has texts (1), numbers (2): all are texts`, `attribute "b" has texts (1), numbers (1), booleans (1): all are texts`,
		`attribute "b": null in arrays (2) is left out`}
	if err != nil || types != "a=string b=string[]" || !slices.Equal(warnings, want) ||
		rows != `{"a":"1","b":["1","true"]}`+"\n"+`{"a":"x","b":["y"]}`+"\n"+`{"a":"2","b":null}`+"\n" {
		t.Errorf("types %q, rows\n%s, warnings %q, %v", types, rows, warnings, err)
	}
}

// TestBeyond warns of numbers that no type holds, and of integers that a declared float rounds.
func TestBeyond(t *testing.T) {
	_, types, warnings, err := rowsOf(t, `{"n":1e400}`+"\n"+`{"n":2}`+"\n"+`{"n":-1e999}`+"\n", attributes.Options{})
	want := `attribute "n": numbers beyond the range of a float (2), so all values are texts; the first: `
	if err != nil || types != "n=string" || len(warnings) != 1 || !strings.HasPrefix(warnings[0], want) || !strings.HasSuffix(warnings[0], "docs.jsonl:1: 1e400") {
		t.Errorf("types %q, warnings %q, %v", types, warnings, err)
	}
	rows, _, warnings, err := rowsOf(t, `{"n":16777217}`+"\n"+`{"n":3}`+"\n", attributes.Options{Declared: []attributes.Column{{Name: "n", Type: "float32"}}})
	want = `attribute "n": integers that the type float32 rounds (1)`
	if err != nil || !slices.Equal(warnings, []string{want}) || !strings.Contains(rows, "1.6777216e+07") {
		t.Errorf("rows %s, warnings %q, %v", rows, warnings, err)
	}
}

// TestInexact warns of values that the type of their column does not hold, and keeps any name.
func TestInexact(t *testing.T) {
	for lines, want := range map[string][3]string{
		`{"n":9007199254740993}` + "\n" + `{"n":1.5}`:                          {"n=float", `docs.jsonl:1: column "n": "9007199254740993" is rounded: the column has the type float`, `{"n":9.007199254740992e+15}`},
		`{"n":"1500-01-01"}` + "\n" + `{"n":"2001-02-03T00:00:00.000000001Z"}`: {"n=string", `docs.jsonl:2: column "n": "2001-02-03T00:00:00.000000001Z" is no timestamp of one type with the others`, `{"n":"1500-01-01"}`},
		`{"\ufeffn":"x"}`: {"\ufeffn=string", "", "{\"\ufeffn\":\"x\"}"},
	} {
		rows, types, warnings, err := rowsOf(t, lines+"\n", attributes.Options{})
		if first, _, _ := strings.Cut(rows, "\n"); err != nil || types != want[0] || first != want[2] {
			t.Errorf("%s: types %q, rows\n%s, %v", lines, types, rows, err)
		}
		if got := strings.Join(warnings, "|"); !strings.Contains(got, want[1]) || want[1] == "" && got != "" {
			t.Errorf("%s: warnings %q, want %q", lines, warnings, want[1])
		}
	}
}

// TestDeclaredArrays: a column takes the values of its type; another value is an error, or is left out and
// counted.
func TestDeclaredArrays(t *testing.T) {
	declared := []attributes.Column{{Name: "tags", Type: "string"}, {Name: "n", Type: "int[]"}, {Name: "who.name", Type: "string[]"}}
	good := `{"tags":"x","n":[1,"2"],"who":[{"name":"A"},{"name":"B"}]}` + "\n"
	for line, want := range map[string]string{
		`{"tags":["x","y"]}`:   `docs.jsonl:2: attribute "tags": an array, the column has type string: type string[] takes arrays`,
		`{"n":[3,"x"]}`:        `docs.jsonl:2: column "n": "x" is not an integer`,
		`{"n":[3,1.5]}`:        `docs.jsonl:2: column "n": "1.5" is not an integer`,
		`{"tags":{"name":1}}`:  `docs.jsonl:2: attribute "tags": an object`,
		`{"n":{"a":1},"b":[]}`: `docs.jsonl:2: attribute "n": an object`,
	} {
		_, _, _, err := rowsOf(t, good+line+"\n", attributes.Options{Declared: declared})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
		rows, _, warnings, err := rowsOf(t, good+line+"\n", attributes.Options{Declared: declared, Invalid: input.Replace})
		first, _, _ := strings.Cut(rows, "\n")
		if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], "left out (1); the first: ") || first != `{"tags":"x","n":[1,2],"who.name":["A","B"]}` {
			t.Errorf("%s: rows\n%s, warnings %q, %v", line, rows, warnings, err)
		}
	}
}
