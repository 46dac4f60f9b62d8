//go:build !core

package main

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestFields describes an index and a collection with fields, and suggests and explains words of them.
func TestFields(t *testing.T) {
	inTempDir(t)
	writeFile(t, "d.jsonl", `{"id":"a","title":"red loom","body":"the loom of heaven"}
{"id":"b","body":"a lock"}
`)
	must(t, "index", "build", "-o", "d.hdl", "--fields", "title,body", "d.jsonl")
	must(t, "collection", "create", "d", "--fields", "title,body")
	must(t, "collection", "add", "d", "d.jsonl")
	info := must(t, "index", "info", "d.hdl")
	for _, want := range []string{
		"  field  documents  terms  postings  tokens  mean length\n",
		"   body          2      6         6       6         3.00\n",
		"  title          1      2         2       2         2.00\n",
	} {
		if !strings.Contains(info, want) {
			t.Errorf("%s lacks %q", info, want)
		}
	}
	if got, want := must(t, "index", "info", "d.hdl", "--json"), `"fields":[{"name":"body","with_terms":2,"terms":6,"postings":6,"tokens":6,"mean_length":3},{"name":"title",`; !strings.Contains(got, want) {
		t.Errorf("%s lacks %s", got, want)
	}
	if got := must(t, "collection", "info", "d"); !strings.Contains(got, "\nfields title, body\n") {
		t.Error(got)
	}
	for _, path := range []string{"d.hdl", "d"} {
		for prefix, want := range map[string]string{"lo": "body:lock\t1\nbody:loom\t1\ntitle:loom\t1\n", "title:LO": "title:loom\t1\n", "titel:lo": "", "title:": ""} {
			if got := must(t, "suggest", path, prefix); got != want {
				t.Errorf("%s: %s: %q, want %q", path, prefix, got, want)
			}
		}
		for query, want := range map[string]string{
			"title:lomo":                "query 1: in no document: title:lomo (similar: title:loom)\n",
			"hevan":                     "query 1: in no document: hevan (similar: body:heaven)\n",
			"lomo":                      "query 1: in no document: lomo (similar: body:loom, title:loom)\n",
			"red AND lok AND title:the": "query 1: in no document: lok (similar: body:lock), title:the\n",
		} {
			if got := heddle(t, "search", path, "--query", query, "--no-header").stderr; got != want {
				t.Errorf("%s: %s: %q, want %q", path, query, got, want)
			}
		}
		for query, want := range map[string]string{"titel:loom": "no document has the field titel, did you mean title? (fields: body, title;", "xyz:loom": "no document has the field xyz (fields: body, title;"} {
			if r := heddle(t, "search", path, "--query", query); r.code != exitUsage || !strings.Contains(r.stderr, want) {
				t.Errorf("%s: %s: %+v", path, query, r)
			}
		}
	}
	if r := heddle(t, "search", "d.hdl", "--query", "title:loom AND body:loom", "--explain"); !strings.Contains(r.stderr+r.stdout, "body:loom AND title:loom") {
		t.Errorf("%+v", r)
	}
	for _, args := range []string{"--all", "-k 1"} {
		r := heddle(t, append(strings.Fields("search d.hdl --explain --query"), append([]string{"title lomo red"}, strings.Fields(args)...)...)...)
		if got := strings.Count(r.stderr+r.stdout, "in no document"); got != 2 || !strings.Contains(r.stderr+r.stdout, " lomo: in no document") {
			t.Errorf("%s: %d words in no document: %+v", args, got, r)
		}
	}
	must(t, "collection", "create", "c", "--fields", "title,body")
	must(t, "collection", "add", "c", "d.jsonl")
	act(t, "a\n", "collection", "delete", "c", "--names", "-")
	s := serve(t, "--drain-delay", "0s", "--index", "d=d.hdl", "--index", "e=d", "--index", "c=c")
	for name, want := range map[string]string{
		"d": `[{"name":"body","lists":"6","docs":"2","length":"6"},{"name":"title","lists":"2","docs":"1","length":"2"}]`,
		"e": `[{"name":"body","lists":"6","docs":"2","length":"6"},{"name":"title","lists":"2","docs":"1","length":"2"}]`,
		"c": `[{"name":"body","lists":"6","docs":"1","length":"2"},{"name":"title","lists":"2","docs":"0","length":"0"}]`,
	} {
		if got := s.do("GET", "/v1/indexes/"+name, ""); !strings.Contains(strings.ReplaceAll(got, `"`, ""), strings.ReplaceAll("fields:"+want, `"`, "")) {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	r, err := http.Post(s.url+"/v1/indexes/d/parse", "application/json", strings.NewReader(`{"query":"title:red NOT body:lock"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if body, err := io.ReadAll(r.Body); err != nil || !strings.Contains(string(body), `"term":"body:lock"`) || !strings.Contains(string(body), `"expression":"title:red NOT body:lock"`) {
		t.Errorf("%s, %v", body, err)
	}
}

// TestBest scores words by their best field and tolerant words by their best term, in a file, a collection and the service.
func TestBest(t *testing.T) {
	inTempDir(t)
	writeFile(t, "d.jsonl", `{"id":"both","title":"loom","body":"loom and lock"}
{"id":"title","title":"loom","body":"the weft"}
{"id":"other","title":"red","body":"red"}
`)
	must(t, "index", "build", "-o", "d.hdl", "--fields", "title,body", "d.jsonl")
	must(t, "collection", "create", "d", "--fields", "title,body")
	must(t, "collection", "add", "d", "d.jsonl")
	s := serve(t, "--drain-delay", "0s", "--index", "d=d.hdl")
	score := func(text string) string { // of the document with both
		_, text, _ = strings.Cut(text, `"both"`)
		_, text, _ = strings.Cut(text, "score")
		return strings.Trim(strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(",]}", r) })[0], `s":[`)
	}
	for _, test := range []struct{ query, flags, members, want string }{
		{"loom", "", "", "0.7189"},
		{"loom", "--tie 0", `,"tie":0`, "0.47155"},
		{"loom", "--tie 0.5", `,"tie":0.5`, "0.5952"},
		{"body:lo*", "", "", "0.9431"},
		{"body:lo*", "--expand-score best", `,"expand_score":"best"`, "0.47155"},
	} {
		args := append([]string{"--format", "jsonl", "--query", test.query}, strings.Fields(test.flags)...)
		got := []string{score(must(t, append([]string{"search", "d.hdl"}, args...)...)), score(must(t, append([]string{"search", "d"}, args...)...))}
		for path, body := range map[string]string{
			"search":       `{"query":"` + test.query + `"` + test.members + `}`,
			"search/batch": `{"id":"1","query":"` + test.query + `"` + test.members + `}`,
		} {
			r, err := http.Post(s.url+"/v1/indexes/d/"+path, map[string]string{"search": "application/json", "search/batch": "application/x-ndjson"}[path], strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			text, _ := io.ReadAll(r.Body)
			r.Body.Close()
			got = append(got, score(string(text)))
		}
		for i, one := range got {
			if !strings.HasPrefix(one, test.want) {
				t.Errorf("%s %s: way %d has the score %s, want %s", test.query, test.flags, i, one, test.want)
			}
		}
	}
	for _, args := range []string{"--tie 2", "--tie x", "--expand-score most"} {
		if r := heddle(t, append([]string{"search", "d.hdl", "--query", "loom"}, strings.Fields(args)...)...); r.code != exitUsage {
			t.Errorf("%s: %+v", args, r)
		}
	}
}
