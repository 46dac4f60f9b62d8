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

// TestDefaultMode checks that the command and the library have one default.
func TestDefaultMode(t *testing.T) {
	if mode := config.Default().Search.Mode; mode != (engine.Query{}).Match.String() {
		t.Errorf("search has mode %s, a query %s", mode, engine.Query{}.Match)
	}
}
