package main

import (
	"strings"
	"testing"

	"heddle/config"
	"heddle/engine"
	"heddle/engine/plan/testneeds"
)

// TestUnknownTerms checks that a query without documents names its unknown terms, and no other
// query does.
func TestUnknownTerms(t *testing.T) {
	testneeds.Sequential(t)
	buildCollection(t)
	for query, want := range map[string]string{
		"nosuch":          "query 1: in no document: nosuch\n",
		"nosuch Alsonot":  "query 1: in no document: alsonot, nosuch\n",
		"w0 AND nosuch":   "query 1: in no document: nosuch\n",
		"+nosuch -w0 zz*": "query 1: in no document: nosuch, zz*\n",
		"w0 nosuch":       "",
		"w0 NOT w0":       "",
		"?!":              "query 1: no word is left; without a letter or digit: ?!\n",
		"w0 - nosuch":     "warning: the - at byte 4 of the query is no operator there, and so text\n",
		" ":               "query 1: the query is empty\n",
		"a\u202eb":        "query 1: in no document: a\\u202eb\n",
	} {
		for _, args := range []string{"--no-header", "--count", "--all", "--no-header --format jsonl", "--format tsv --no-header"} {
			r := heddle(t, append([]string{"search", "c.hdl", "--query", query}, strings.Fields(args)...)...)
			if r.code != 0 || r.stderr != want {
				t.Errorf("%q %s: %+v, want %q", query, args, r, want)
			}
		}
		if r := heddle(t, "search", "c.hdl", "--query", query, "--explain", "--count"); strings.Contains(r.stderr, "in no document: ") {
			t.Errorf("an explanation names unknown terms twice: %s", r.stderr)
		}
	}
	r := heddleWith(t, "a\tnosuch\nb\tw0\nc\tother\n", backendEnv(), "search", "c.hdl", "--queries", "-", "--count")
	if r.stderr != "query a: in no document: nosuch\nquery c: in no document: other\n" {
		t.Errorf("%+v", r)
	}
}

// TestSuggest prints terms by their beginning, and similar terms in place of words without documents.
func TestSuggest(t *testing.T) {
	inTempDir(t)
	writeFile(t, "d.tsv", "a\tred loom and looms\nb\tloom of heaven\nc\tlock heaven\n")
	must(t, "index", "build", "-o", "d.hdl", "d.tsv")
	must(t, "collection", "create", "d")
	must(t, "collection", "add", "d", "d.tsv")
	act(t, "gone\tzzzz\n", "collection", "add", "d", "--no-merge", "-")
	act(t, "gone\n", "collection", "delete", "d", "--names", "-")
	for _, path := range []string{"d.hdl", "d"} {
		if r := heddle(t, "search", path, "--query", "zzz~1 qq* xx", "--no-header"); r.stderr != "query 1: in no document: xx, zzz~1, qq*\n" {
			t.Errorf("%s: %+v", path, r)
		}
		if got, want := must(t, "suggest", path, "LO"), "loom\t2\nlock\t1\nlooms\t1\n"; got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
		if got := must(t, "suggest", path, "lo", "-n", "1"); got != "loom\t2\n" {
			t.Errorf("%s: %q", path, got)
		}
		if r := heddle(t, "search", path, "--query", "hevan lomo +xx -reed", "--no-header"); r.stderr != "query 1: in no document: hevan (similar: heaven), lomo (similar: loom), xx\n" {
			t.Errorf("%s: %+v", path, r)
		}
		for _, prefix := range []string{"", "new y"} {
			if r := heddle(t, "suggest", path, prefix); r.code == 0 {
				t.Errorf("%s: %q: %+v", path, prefix, r)
			}
		}
	}
}

// TestSynonyms puts synonyms into the queries of an index file and of a collection, which score a group as one term.
func TestSynonyms(t *testing.T) {
	inTempDir(t)
	writeFile(t, "d.tsv", "a\tred car\nb\tblue auto\nc\tnew york\nd\tthe ny car auto\ne\tyork\n")
	writeFile(t, "s.txt", "car, auto\nny, new york\n")
	writeFile(t, "q.tsv", "q\tnew york\n")
	must(t, "index", "build", "-o", "d.hdl", "--positions", "d.tsv")
	must(t, "index", "build", "-o", "bare.hdl", "d.tsv")
	must(t, "collection", "create", "d", "--positions")
	must(t, "collection", "add", "d", "d.tsv")
	search := func(path, query string, args ...string) string {
		return must(t, append([]string{"search", path, "--query", query, "--no-header", "--format", "tsv"}, args...)...)
	}
	for _, path := range []string{"d.hdl", "d"} {
		for query, same := range map[string]string{"car": "/car|auto/", "+auto -ny": `/car|auto/ NOT (/ny/ OR "new york")`, "new york": `/ny/ OR "new york"`, "york": "york", `"new york"`: `"new york"`} {
			if got, want := search(path, query, "--synonyms", "s.txt"), search(path, same); got != want || got == "" {
				t.Errorf("%s: %s: %q, want %q", path, query, got, want)
			}
		}
		if got := must(t, "search", path, "--queries", "q.tsv", "--count", "--mode", "and", "--synonyms", "s.txt"); got != "q\t2\n" {
			t.Errorf("%s: %q", path, got)
		}
	}
	wantFailure(t, heddle(t, "search", "bare.hdl", "--query", "car", "--synonyms", "s.txt"), exitUsage, `s.txt: line 2: "new york" has 2 terms`)
	writeFile(t, "signs.txt", "car, auto\n!! => car\n")
	wantFailure(t, heddle(t, "search", "d.hdl", "--query", "car", "--synonyms", "signs.txt"), exitUsage, `signs.txt: line 2: the analysis of the index leaves nothing of "!!"`)
	writeFile(t, "wrong.txt", "\ncar,\n")
	wantFailure(t, heddle(t, "search", "d.hdl", "--query", "car", "--synonyms", "wrong.txt"), exitUsage, "wrong.txt: line 2: an empty word")
}

// TestDefaultMode checks that the command and the library have one default.
func TestDefaultMode(t *testing.T) {
	if mode := config.Default().Search.Mode; mode != (engine.Query{}).Match.String() {
		t.Errorf("search has mode %s, a query %s", mode, engine.Query{}.Match)
	}
}
