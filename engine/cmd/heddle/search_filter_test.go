package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestBuildAttributes builds an index and its attribute table from the same lines.
func TestBuildAttributes(t *testing.T) {
	inTempDir(t)
	writeFile(t, "books.jsonl", `{"id":"a","text":"heaven and earth","year":1950,"lang":"de"}
{"id":"b","text":"the earth","year":1890}
{"id":"c","text":"loom over earth","year":2001,"lang":"de"}
{"id":"d","text":"red loom","lang":""}
{"id":"e","text":"red thread"}
`)
	must(t, "index", "build", "-o", "books.hdl", "--format", "jsonl", "--attributes", "docs.hdb", "books.jsonl")
	got := must(t, "search", "books.hdl", "--query", "earth", "--all", "--table", "docs.hdb", "--where", "year >= 1900 AND lang = 'de'", "--facets", "lang")
	if got != "a\nc\nfacet\tlang\tde\t2\n" {
		t.Error(got)
	}
	got = must(t, "search", "books.hdl", "--query", "red", "--all", "--table", "docs.hdb", "--facets", "lang")
	if got != "d\ne\nfacet\tlang\t\"\"\t1\nfacet\tlang\t\t1\n" {
		t.Error(got)
	}
	for _, args := range [][]string{{"--format", "text", "books.jsonl"}, {"--format", "jsonl", "."}, {"--format", "jsonl", "--skip-invalid", "books.jsonl"}, {"--format", "jsonl", "--shards", "2", "books.jsonl"}} {
		wantFailure(t, heddle(t, append([]string{"index", "build", "-o", "x.hdl", "--attributes", "x.hdb"}, args...)...), 2, "--attributes")
	}
	wantFailure(t, heddle(t, "index", "build", "-o", "x.hdl", "--format", "jsonl", "--attributes", "./x.hdl", "books.jsonl"), 2, "would replace the index")
	writeFile(t, "notes.txt", "mine")
	wantFailure(t, heddle(t, "index", "build", "-o", "x.hdl", "--format", "jsonl", "--attributes", "notes.txt", "books.jsonl"), 2, "notes.txt")
	must(t, "index", "build", "--log-level", "error", "-o", "other.hdl", "books.jsonl")
	wantFailure(t, heddle(t, "index", "build", "-o", "x.hdl", "--attributes", "other.hdl", "books.jsonl"), 2, "other.hdl is no table")
	must(t, "index", "build", "-o", "x.hdl", "--attributes", "docs.hdb", "books.jsonl") // replaces a table

	writeFile(t, "worse.jsonl", "{\"id\":\"a\",\"text\":\"x\",\"year\":1}\n{\"id\":\n")
	contents := func() (all []string) {
		for _, name := range []string{"x.hdl", "docs.hdb"} {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, string(data))
		}
		return all
	}
	before := contents()
	wantFailure(t, heddle(t, "index", "build", "-o", "x.hdl", "--attributes", "docs.hdb", "worse.jsonl"), 3, "worse.jsonl:2")
	if !slices.Equal(contents(), before) {
		t.Error("a failed build has changed a file")
	}
	if left, _ := filepath.Glob("*.tmp*"); left != nil {
		t.Errorf("left: %v", left)
	}
}

// TestSearchFilter restricts queries by attributes and by a bitmap, and counts facets.
func TestSearchFilter(t *testing.T) {
	inTempDir(t)
	writeFile(t, "books.tsv", "a\theaven and earth\nb\tthe earth\nc\tthe loom of heaven over earth\n")
	writeFile(t, "docs.csv", "year,lang\n1950,de\n1890,en\n2001,de\n")
	must(t, "index", "build", "-o", "books.hdl", "books.tsv")
	must(t, "bitmap", "build", "-o", "docs.hdb", "docs.csv")
	must(t, "bitmap", "query", "docs.hdb", "--where", "year < 1960", "--roaring", "old.roaring")
	search := func(args ...string) string {
		return must(t, append([]string{"search", "books.hdl", "--query", "earth", "--no-header"}, args...)...)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--all", "--table", "docs.hdb", "--where", "lang = 'de'"}, "a\nc\n"},
		{[]string{"--all", "--table", "docs.hdb", "--where", "lang = 'de'", "--filter", "old.roaring"}, "a\n"},
		{[]string{"--count", "--filter", "old.roaring"}, "1\t2\n"},
		{[]string{"--all", "--table", "docs.hdb", "--facets", "lang,year", "--facet-values", "1"}, "a\nb\nc\nfacet\tlang\tde\t2\nfacet\tyear\t1890\t1\n"},
		{[]string{"-k", "0", "--table", "docs.hdb", "--facets", "lang", "--facet-values", "-1"}, "facet\tlang\tde\t2\nfacet\tlang\ten\t1\n"},
		{[]string{"-k", "0", "--table", "docs.hdb", "--facets", "lang", "--facet-values", "0", "--format", "jsonl"}, `{"query":"1","text":"earth","count":3,"docs":[]}` + "\n" + `{"query":"1","matches":3,"facets":[{"column":"lang","distinct":2,"values":[]}]}` + "\n"},
	} {
		if got := search(c.args...); got != c.want {
			t.Errorf("%q:\n%swant\n%s", c.args, got, c.want)
		}
	}
	best := search("--table", "docs.hdb", "--where", "year > 1900", "--facets", "lang", "-k", "1", "--format", "jsonl")
	if lines := strings.Split(best, "\n"); len(lines) != 3 || lines[1] != `{"query":"1","matches":2,"facets":[{"column":"lang","distinct":1,"values":[{"value":"de","count":2}]}]}` {
		t.Errorf("facets of a ranked query: %s", best)
	}
	for args, want := range map[string]string{"": `,"docs":[],"scores":[]}`, "--all": `,"count":0,"docs":[]}`, "--count": `,"count":0}`} {
		if got := search(slices.DeleteFunc([]string{"--table", "docs.hdb", "--where", "year > 3000", "--format", "jsonl", args}, func(a string) bool { return a == "" })...); !strings.Contains(got, want) {
			t.Errorf("%q, no documents: %s", args, got)
		}
	}
	r := heddle(t, "search", "books.hdl", "--query", "earth", "--table", "docs.hdb", "--where", "year > 1900", "--explain")
	if !strings.Contains(r.stderr, "filter") || !strings.Contains(r.stderr, "2 of 3 documents pass") {
		t.Errorf("explanation: %s", r.stderr)
	}
	for _, args := range [][]string{{"--where", "year > 1"}, {"--table", "docs.hdb"}, {"--facets", "year"}, {"--table", "docs.hdb", "--facets", "year", "--count"}} {
		wantFailure(t, heddle(t, append([]string{"search", "books.hdl", "--query", "earth"}, args...)...), 2)
	}
	wantFailure(t, heddle(t, "search", "books.hdl", "--query", "earth", "--filter", "books.tsv"), exitCorrupt, "books.tsv")
}

// TestSearchFilterCollection restricts queries by the attributes of a collection, and counts facets.
func TestSearchFilterCollection(t *testing.T) {
	inTempDir(t)
	must(t, "collection", "create", "books", "--attribute", "year=int", "--attribute", "lang=string")
	writeFile(t, "one.jsonl", `{"id":"a","text":"heaven and earth","year":1950,"lang":"de"}
{"id":"b","text":"the earth","year":1890}
`)
	writeFile(t, "two.jsonl", `{"id":"c","text":"loom over earth","year":2001,"lang":"de","other":1}
{"id":"b","text":"earth","year":1700}
`)
	must(t, "collection", "add", "books", "one.jsonl")
	must(t, "collection", "add", "books", "--no-merge", "two.jsonl")
	search := func(args ...string) string {
		return must(t, append([]string{"search", "books", "--query", "earth", "--no-header"}, args...)...)
	}
	check := func() {
		t.Helper()
		if got := search("--all", "--where", "year < 1960", "--facets", "lang,year"); got != "a\nb\nfacet\tlang\tde\t1\nfacet\tlang\t\t1\nfacet\tyear\t1700\t1\nfacet\tyear\t1950\t1\n" {
			t.Error(got)
		}
		if got := search("-k", "1", "--facets", "lang", "--format", "jsonl"); !strings.Contains(got, `{"query":"1","matches":3,"facets":[{"column":"lang","distinct":1,"values":[{"value":"de","count":2},{"value":null,"count":1}]}]}`) {
			t.Error(got)
		}
	}
	check()
	must(t, "collection", "merge", "books")
	check()
	if got := must(t, "collection", "info", "books"); !strings.Contains(got, "attribute year=int\nattribute lang=string\n") {
		t.Error(got)
	}
	wantFailure(t, heddle(t, "collection", "create", "x", "--attribute", "year=number"), 2, "--attribute", "number")
	if r := heddle(t, "search", "books", "--query", "earth", "--where", "nobody = 1"); r.code != 2 || !strings.Contains(r.stderr, `unknown column "nobody"`) {
		t.Errorf("unknown column: %d, %s", r.code, r.stderr)
	}
	wantFailure(t, heddle(t, "search", "books", "--query", "earth", "--table", "docs.hdb", "--where", "year = 1"), 2, "--table")
}
