package collections

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/cluster"
	"heddle/engine/collection"
	"heddle/engine/collection/attributes"
	"heddle/engine/file/container"
	"heddle/engine/index/build"
)

// columns are the attributes of a test.
var columns = []attributes.Column{{Name: "year", Type: "int"}, {Name: "lang", Type: "string"}, {Name: "price", Type: "decimal(10,2)"},
	{Name: "tags", Type: "string[]"}, {Name: "n.of", Type: "int[]"}}

// object draws a document in JSON, with its name.
func object() *rapid.Generator[[2]string] {
	return rapid.Custom(func(t *rapid.T) [2]string {
		name := fmt.Sprintf("n%02d", rapid.IntRange(0, 60).Draw(t, "name"))
		text := fmt.Sprintf(`{"id":%q,"text":%q`, name, strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "a", "b", "c", "rare"}), 0, 6).Draw(t, "words"), " "))
		text += rapid.SampledFrom([]string{"", `,"year":1999`, `,"year":2005`, `,"year":-1`}).Draw(t, "year")
		text += rapid.SampledFrom([]string{"", `,"lang":"de"`, `,"lang":""`, `,"lang":"en, \"x\""`, `,"lang":null`}).Draw(t, "lang")
		text += rapid.SampledFrom([]string{"", `,"price":1.5`, `,"price":"12.25"`}).Draw(t, "price")
		text += rapid.SampledFrom([]string{"", `,"tags":"x"`, `,"tags":["x","y","x"]`, `,"tags":[]`, `,"tags":["z",""]`}).Draw(t, "tags")
		text += rapid.SampledFrom([]string{"", `,"n":{"of":3}`, `,"n":[{"of":[1,2]},{"of":4},{}]`}).Draw(t, "n")
		return [2]string{name, text + rapid.SampledFrom([]string{"", `,"other":[1]`}).Draw(t, "other") + "}"}
	})
}

// addObjects adds JSON lines.
func addObjects(w *collection.Writer, lines string) error {
	_, err := w.Add(context.Background(), []string{"-"}, build.Options{Format: build.Auto, Stdin: strings.NewReader(lines)})
	return err
}

// TestAttributes: after random changes, queries with filters and facets have the answers of a fresh
// index and a fresh attribute table, and a merged collection has the bytes of the fresh table.
func TestAttributes(t *testing.T) {
	e := newEngine(t)
	rapid.Check(t, func(r *rapid.T) {
		dir := filepath.Join(t.TempDir(), "books")
		must(r, collection.Create(t.Context(), dir, build.DefaultOptions(), columns...))
		w, err := collection.Open(dir, collection.Options{Creator: "test"})
		must(r, err)
		defer w.Close()
		set := newSet()
		defer set.Close()
		c := set.Coordinator(cluster.Options{})
		var live [][2]string
		remove := func(name string) {
			live = slices.DeleteFunc(live, func(d [2]string) bool { return d[0] == name })
		}
		for range rapid.IntRange(1, 4).Draw(r, "changes") {
			lines := ""
			for _, d := range rapid.SliceOfN(object(), 1, 20).Draw(r, "lines") {
				remove(d[0])
				live, lines = append(live, d), lines+d[1]+"\n"
			}
			must(r, addObjects(w, lines))
			for _, n := range rapid.SliceOfN(rapid.IntRange(0, 60), 0, 10).Draw(r, "gone") {
				remove(fmt.Sprintf("n%02d", n))
				must(r, erase(w, []string{fmt.Sprintf("n%02d", n)}))
			}
			if rapid.Bool().Draw(r, "maintain") {
				must(r, w.Maintain(t.Context()))
			}
			_, err := set.Load(t.Context(), e, "books", dir)
			must(r, err)
		}
		if len(live) == 0 {
			return
		}
		fresh, table := freshFiles(t, r, live)
		x, err := e.OpenIndex(t.Context(), fresh, engine.IndexOptions{})
		must(r, err)
		defer x.Close()
		now, err := x.Snapshot()
		must(r, err)
		defer now.Close()
		rows, err := e.OpenTable(t.Context(), table, engine.TableOptions{})
		must(r, err)
		defer rows.Close()
		check := func() {
			for range 3 {
				text := rapid.SampledFrom([]string{"a", "b rare", "a AND NOT c", "rar*"}).Draw(r, "text")
				for _, where := range rapid.SliceOfN(rapid.SampledFrom([]string{"", "year > 2000", "lang = 'de' OR price >= 2", "lang IS NULL", "tags = 'x'", "tags != 'x' OR year > 2000", `"n.of" BETWEEN 2 AND 3`}), 1, 2).Draw(r, "where") {
					q := engine.Query{Text: text, K: rapid.SampledFrom([]int{0, 3, 50}).Draw(r, "k"), Match: engine.Or, Total: rapid.SampledFrom([]uint64{0, 2, engine.TotalExact}).Draw(r, "total")}
					whole := q
					if where != "" {
						q.Filter, whole.Filter = &engine.Filter{Where: where}, &engine.Filter{Where: where, Table: rows}
					}
					facets := engine.Facets{Columns: []string{"lang", "price", "bins(price, 2, 5.5, 1000)", "tags", "n.of", `bins("n.of", 2)`}}
					got, _, err := c.Search(t.Context(), "books", q, api.Ask{Names: true, Facets: &facets})
					must(r, err)
					facets.Table = rows
					want, matches, counts, err := now.SearchFacets(t.Context(), whole, facets)
					must(r, err)
					alone, _, err := c.Search(t.Context(), "books", q, api.Ask{})
					must(r, err)
					if got.Total != want.Total || alone.Total != want.Total {
						r.Fatalf("%q, %q: total %+v, alone %+v, want %+v", text, where, got.Total, alone.Total, want.Total)
					}
					var names []string
					for _, d := range want.Docs {
						name, err := now.File().DocName(d)
						must(r, err)
						names = append(names, name)
					}
					if !slices.Equal(got.Names, names) || !slices.Equal(got.Scores, want.Scores) || got.Matches != matches || fmt.Sprint(got.Facets) != fmt.Sprint(counts) {
						r.Fatalf("%q, %q: %v %v %d %v, want %v %v %d %v", text, where, got.Names, got.Scores, got.Matches, got.Facets, names, want.Scores, matches, counts)
					}
				}
			}
		}
		check()
		must(r, w.Merge(t.Context()))
		m, err := set.Load(t.Context(), e, "books", dir)
		must(r, err)
		check()
		a, err1 := os.ReadFile(filepath.Join(dir, m.Segments[0].Attributes.File))
		b, err2 := os.ReadFile(table)
		if err1 != nil || err2 != nil || !bytes.Equal(a, b) {
			r.Fatalf("the merged table differs from a fresh one: %v, %v", err1, err2)
		}
	})
}

// freshFiles builds an index and a table of documents.
func freshFiles(t *testing.T, r *rapid.T, live [][2]string) (index, table string) {
	dir, lines := t.TempDir(), ""
	for _, d := range live {
		lines += d[1] + "\n"
	}
	index, table = filepath.Join(dir, "x.hdl"), filepath.Join(dir, "x.hdb")
	_, err := build.Build(t.Context(), index, []string{"-"}, build.Options{Format: build.JSONL, Stdin: strings.NewReader(lines)})
	must(r, err)
	opt := attributes.Options{Declared: columns, Stdin: strings.NewReader(lines)}
	opt.Creator = "test"
	_, err = attributes.Build(t.Context(), table, []string{"-"}, opt)
	must(r, err)
	return index, table
}

// TestAttributeErrors: documents that have no attributes, or wrong ones, change nothing.
func TestAttributeErrors(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "books")
	must(t, collection.Create(t.Context(), dir, build.DefaultOptions(), columns...))
	w, err := collection.Open(dir, collection.Options{Creator: "test"})
	must(t, err)
	defer w.Close()
	must(t, addObjects(w, `{"id":"a","text":"x","year":1}`))
	before, err := os.ReadDir(dir)
	must(t, err)
	for want, lines := range map[string]string{`-:2: column "year"`: "{\"id\":\"b\",\"text\":\"x\"}\n{\"id\":\"c\",\"text\":\"x\",\"year\":\"soon\"}\n", "-:1": "no json\n", "none of the members": `{"id":"a"}`} {
		if err := addObjects(w, lines); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := w.Add(t.Context(), []string{"-"}, build.Options{Format: build.Text, Stdin: strings.NewReader("a\tb\n")}); err == nil || !strings.Contains(err.Error(), "JSON lines") {
		t.Errorf("text: %v", err)
	}
	if after, err := os.ReadDir(dir); err != nil || len(after) != len(before) || w.Manifest().Live() != 1 {
		t.Errorf("%v, want %v, %v", after, before, err)
	}
	if err := collection.Create(t.Context(), filepath.Join(t.TempDir(), "x"), build.DefaultOptions(), attributes.Column{Name: "text", Type: "int"}); err == nil {
		t.Error("a column with the name of the text")
	}
}

// TestDeclarations: a manifest whose attributes differ from the tables of the segments is refused by
// readers and merges, which name the table and the member.
func TestDeclarations(t *testing.T) {
	e := newEngine(t)
	dir := filepath.Join(t.TempDir(), "books")
	must(t, collection.Create(t.Context(), dir, build.DefaultOptions(), attributes.Column{Name: "year", Type: "int"}, attributes.Column{Name: "price", Type: "decimal(8,2)"}))
	w, err := collection.Open(dir, collection.Options{Creator: "test"})
	must(t, err)
	must(t, addObjects(w, `{"id":"a","text":"x","year":1}`))
	must(t, addObjects(w, `{"id":"b","text":"x","year":2}`))
	must(t, w.Close())
	path := filepath.Join(dir, "manifest.json")
	whole, err := os.ReadFile(path)
	must(t, err)
	whole = regexp.MustCompile(`,\s*"checksum": "[0-9a-f]*"`).ReplaceAll(whole, nil) // as of an earlier version
	set := newSet()
	defer set.Close()
	_, err = set.Load(t.Context(), e, "books", dir)
	must(t, err)
	for _, test := range []struct{ old, now, want string }{
		{`"name": "year"`, `"name": "date"`, `settings.attributes[0] is "date" of type int, column 0 of the table is "year" of type int`},
		{`"type": "int"`, `"type": "string"`, `settings.attributes[0] is "year" of type string`},
		{`decimal(8,2)`, `decimal(8,3)`, `settings.attributes[1] is "price" of type decimal with scale 3, column 1 of the table is "price" of type decimal with scale 2`},
		{`"attributes": [`, `"attributes": [{"name":"lang","type":"string"},`, `settings.attributes[0] is "lang"`},
	} {
		must(t, os.WriteFile(path, bytes.Replace(whole, []byte(test.old), []byte(test.now), 1), 0o600))
		_, err := set.Load(t.Context(), e, "books", dir)
		if engine.CodeOf(err) != engine.Corrupt || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), ".hdb: ") {
			t.Errorf("%s: %v", test.now, err)
		}
		w, err := collection.Open(dir, collection.Options{Creator: "test"})
		must(t, err)
		if err := w.Merge(t.Context()); !errors.Is(err, container.ErrCorrupt) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: merge: %v", test.now, err)
		}
		must(t, w.Close())
	}
	must(t, os.WriteFile(path, whole, 0o600))
	_, err = set.Load(t.Context(), e, "books", dir)
	must(t, err)
}

// TestArrays: each value of an array is found, and counts its document once.
func TestArrays(t *testing.T) {
	lines := `{"id":"a","text":"loom","tags":["x","y","x"]}` + "\n" + `{"id":"b","text":"loom","tags":"x"}` + "\n" + `{"id":"c","text":"loom"}` + "\n"
	dir := filepath.Join(t.TempDir(), "single")
	must(t, collection.Create(t.Context(), dir, build.DefaultOptions(), attributes.Column{Name: "tags", Type: "string"}))
	w, err := collection.Open(dir, collection.Options{Creator: "test"})
	must(t, err)
	defer w.Close()
	if err := addObjects(w, lines); err == nil || !strings.Contains(err.Error(), `-:1: attribute "tags": an array`) {
		t.Errorf("an array for a single value: %v", err)
	}
	dir = filepath.Join(t.TempDir(), "several")
	must(t, collection.Create(t.Context(), dir, build.DefaultOptions(), attributes.Column{Name: "tags", Type: "string[]"}))
	several, err := collection.Open(dir, collection.Options{Creator: "test"})
	must(t, err)
	defer several.Close()
	must(t, addObjects(several, lines))
	set := newSet()
	defer set.Close()
	_, err = set.Load(t.Context(), newEngine(t), "books", dir)
	must(t, err)
	for where, want := range map[string]string{
		"tags = 'x'": "[a b] [{x false 2} {y false 1}]", "tags = 'y'": "[a] [{x false 1} {y false 1}]", "tags != 'y'": "[b] [{x false 1}]",
		"tags IS NULL": "[c] [{ true 1}]", "tags CONTAINS ALL ('x', 'y')": "[a] [{x false 1} {y false 1}]", "TRUE": "[a b c] [{x false 2} {y false 1} { true 1}]",
	} {
		got, _, err := set.Coordinator(cluster.Options{}).Search(t.Context(), "books", engine.Query{Text: "loom", K: 5, Filter: &engine.Filter{Where: where}},
			api.Ask{Names: true, Facets: &engine.Facets{Columns: []string{"tags"}}})
		must(t, err)
		if text := fmt.Sprint(got.Names, " ", got.Facets[0].Values); text != want {
			t.Errorf("%s: %s, want %s", where, text, want)
		}
	}
}
