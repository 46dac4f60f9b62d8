package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"heddle/engine/cmd/heddle/internal/answer"
	"heddle/engine/index/querylang"
)

// booleanQueries are boolean queries on the test collection.
var booleanQueries = []string{
	"w0", "w3 w0", "w0 AND w9", "w20 OR w21", "w0 NOT w1", "w0 AND NOT w1 w2", "w0 AND (w9 OR w12) NOT w3",
	"nosuch", "w0 nosuch", "nosuch OR w7", "w7 NOT nosuch", "w7 NOT w7", "(w20 NOT w1) OR (w1 NOT w0)",
	"W0! OR w28?", `\w9 OR w11\ w0`, "((w5))", "?!", "?! OR w4", "w29 OR w28 OR w27 OR w26 OR (w25 w0)",
	strings.Repeat("w0 NOT (w1 OR ", 100) + "w9" + strings.Repeat(")", 100),
}

// wantBoolean evaluates a query on every document.
func (c *corpus) wantBoolean(t *testing.T, text string) (names []string) {
	t.Helper()
	e, err := querylang.Parse(text, querylang.And)
	if err != nil {
		t.Fatal(err)
	}
	var has func(e querylang.Expr, words []string) (yes, some bool)
	has = func(e querylang.Expr, words []string) (yes, some bool) {
		if e.Op == querylang.Term {
			terms := strings.Fields(strings.ToLower(strings.NewReplacer("!", " ", "?", " ").Replace(e.Term)))
			return !slices.ContainsFunc(terms, func(t string) bool { return !slices.Contains(words, t) }), len(terms) > 0
		}
		for i, a := range e.Args {
			x, ok := has(a, words)
			switch {
			case !ok && (e.Op != querylang.Not || i > 0): // omitted
			case !ok:
				return false, false
			case !some:
				yes, some = x, true
			case e.Op == querylang.And:
				yes = yes && x
			case e.Op == querylang.Or:
				yes = yes || x
			default:
				yes = yes && !x
			}
		}
		return yes, some
	}
	for d, words := range c.words {
		if yes, some := has(e, words); yes && some {
			names = append(names, c.names[d])
		}
	}
	return names
}

func TestSearchBoolean(t *testing.T) {
	c := buildCollection(t)
	writeFile(t, "q.txt", lines(booleanQueries, ""))
	var text, tsv, counts strings.Builder
	for i, q := range booleanQueries {
		want := c.wantBoolean(t, q)
		for rank, name := range want {
			fmt.Fprintf(&text, "%d\t%s\n", i+1, name)
			fmt.Fprintf(&tsv, "%d\t%d\t%s\t1\n", i+1, rank+1, name)
		}
		fmt.Fprintf(&counts, "%d\t%d\n", i+1, len(want))
		if got := must(t, "search", "c.hdl", "--syntax", "boolean", "--query", q, "--all"); got != lines(want, "") {
			t.Errorf("%q: %d documents, want %d", q, strings.Count(got, "\n"), len(want))
		}
		if got := must(t, "search", "c.hdl", "--mode=and", "--query", q, "--count"); got != fmt.Sprintf("1\t%d\n", len(want)) {
			t.Errorf("%q --count: %q, want %d", q, got, len(want))
		}
		if got := must(t, "search", "c.hdl", "--syntax", "boolean", "--query", q, "-k", "2"); got != lines(want[:min(2, len(want))], "") {
			t.Errorf("%q -k 2: %q", q, got)
		}
	}
	for want, args := range map[string][]string{text.String(): {"--all"}, tsv.String(): {"--all", "--format", "tsv"}, counts.String(): {"--count"}} {
		args = append([]string{"search", "c.hdl", "--queries", "q.txt", "--syntax", "boolean"}, args...)
		if got := must(t, args...); got != want {
			t.Errorf("%q gives other lines than the documents do", args)
		}
		if r := heddle(t, append(args, "--explain")...); r.code != 0 || r.stdout != want {
			t.Errorf("%q: --explain changes the answers", args)
		}
	}
	d := json.NewDecoder(strings.NewReader(must(t, "search", "c.hdl", "--queries", "q.txt", "--syntax", "boolean", "--format", "jsonl", "--all", "--explain")))
	for i, q := range booleanQueries {
		var o answer.Object
		if err := d.Decode(&o); err != nil {
			t.Fatal(err)
		}
		want := c.wantBoolean(t, q)
		if o.Query != strconv.Itoa(i+1) || o.Text != q || o.Count == nil || *o.Count != uint64(len(want)) || !slices.Equal(o.Docs, want) || o.Explain == nil {
			t.Errorf("%+v, want %d documents", o, len(want))
		}
	}
	if _, err := d.Token(); err != io.EOF {
		t.Errorf("more objects than queries: %v", err)
	}
	// With --syntax literal, operators are words.
	if got := must(t, "search", "c.hdl", "--mode", "and", "--syntax", "literal", "--query", "w0 OR w1", "--count"); got != "1\t0\n" {
		t.Errorf("OR is no word: %q", got)
	}
}

func TestExplainBoolean(t *testing.T) {
	useBackend(t)
	c := buildCollection(t)
	q := "w0 AND (w9 OR W12 OR w9) NOT w3 NOT nosuch"
	r := heddle(t, "search", "c.hdl", "--syntax", "boolean", "--query", q, "--explain")
	for _, part := range []string{
		"query 1: " + q + "\n", "boolean  w0 AND (w12 OR w9) NOT w3\n", "unknown  nosuch: in no document\n",
		fmt.Sprintf("list     w9: %d documents, ", len(c.want("w9"))), fmt.Sprintf("matches  %d documents in ", len(c.wantBoolean(t, q))),
	} {
		if r.code != 0 || !strings.Contains(r.stderr, part) {
			t.Errorf("exit code %d, no %q in\n%s", r.code, part, r.stderr)
		}
	}
	// A conjunction has the explanation of a query of terms.
	r = heddle(t, "search", "c.hdl", "--syntax", "boolean", "--query", "w9 AND w0", "--explain")
	for _, part := range []string{"boolean  w9 AND w0\n", "first    w9: ", "then     w0: "} {
		if !strings.Contains(r.stderr, part) {
			t.Errorf("no %q in\n%s", part, r.stderr)
		}
	}
}

// TestBooleanErrors checks that an invalid query is a usage error on the command line. In a
// file it has no answer, and the error names its position.
func TestBooleanErrors(t *testing.T) {
	buildCollection(t)
	r := heddle(t, "search", "c.hdl", "--syntax", "boolean", "--query", "w0 OR NOT")
	if want := "column 7: nothing behind this NOT"; r.code != exitUsage || !strings.Contains(r.stderr, want) ||
		!strings.Contains(r.stderr, "\n  w0 OR NOT\n        ^\n") || r.stdout != "" {
		t.Errorf("%+v", r)
	}
	writeFile(t, "q.txt", "w0\n\nx\tw0 OR\nw9\n")
	r = heddle(t, "search", "c.hdl", "--syntax", "boolean", "--queries", "q.txt", "--count")
	if want := "q.txt:3: column 4: nothing behind this OR\n  w0 OR\n     ^\n"; r.code != exitFailure || !strings.Contains(r.stderr, want) || strings.Count(r.stdout, "\n") != 2 {
		t.Errorf("%+v, want %q", r, want)
	}
	r = heddle(t, "search", "c.hdl", "--syntax", "sql", "--query", "w0")
	if r.code != exitUsage || !strings.Contains(r.stderr, `flag --syntax: "sql" is not one of literal, query, boolean`+"\n") {
		t.Errorf("%+v", r)
	}
	if r := heddle(t, "search", "c.hdl", "--query", "NOT w0", "--syntax", "literal"); r.code != 0 {
		t.Errorf("literal text: %+v", r)
	}
}
