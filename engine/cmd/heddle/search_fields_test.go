package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestSearchFields prints parts of documents and pages, of an index file and of a collection.
func TestSearchFields(t *testing.T) {
	inTempDir(t)
	writeFile(t, "d.jsonl", `{"id":"a","text":"The <b>loom</b> of time.","year":1785}
{"id":"b","text":"A loom, a warp.","year":1804}
{"id":"c","text":"Nothing.","year":1820}
`)
	writeFile(t, "q.tsv", "q\tloom\n")
	must(t, "index", "build", "-o", "d.hdl", "--store", "source", "--positions", "--attributes", "d.hdb", "d.jsonl")
	must(t, "collection", "create", "d", "--store", "source", "--positions", "--attribute", "year=int")
	must(t, "collection", "add", "d", "d.jsonl")
	search := func(path, args string) string {
		command := []string{"search", path, "--no-header"}
		if path == "d.hdl" && (strings.Contains(args, "--sort") || strings.Contains(args, "--attributes")) {
			command = append(command, "--table", "d.hdb")
		}
		for _, arg := range strings.Fields(args) {
			command = append(command, strings.ReplaceAll(arg, "~", " "))
		}
		return must(t, command...)
	}
	for _, path := range []string{"d.hdl", "d"} {
		for args, want := range map[string]string{
			"--query loom":                                      "a\n     The <b>*loom*</b> of time.\n",
			"--query loom --snippet 8":                          "b\n     A *loom*, …\n",
			"--query loom --fields year --attributes *":         "b\n     A *loom*, a warp.\n     {\"year\":1804}\n     {\"year\":1804}\n",
			"--query NEAR/3(loom~a)":                            "b\n     *A loom, a* warp.\n",
			"--query \"of~time\"~nothing":                       "a\n     The <b>loom</b> *of time*.\n",
			"--query warp --source":                             "b\n     {\"id\":\"b\",\"text\":\"A loom, a warp.\",\"year\":1804}\n",
			"--query warp --fields year --format jsonl":         `"docs":["b"],"scores":[`,
			"--query warp --fields text --format jsonl":         `"documents":[{"name":"b","fields":{"text":"A loom, a warp."}}]}`,
			"--query time --snippet 90 --format jsonl":          `"documents":[{"name":"a","snippet":"The &lt;b&gt;loom&lt;/b&gt; of <b>time</b>."}]}`,
			"--query * --sort year --attributes year -k 1":      "a\n     The <b>loom</b> of time.\n     {\"year\":1785}\n",
			"--queries q.tsv --exclude-self --fields year":      "query q: loom\n",
			"--query loom --format jsonl -k 1 --offset 1":       `"docs":["a"]`,
			"--query loom --source --format jsonl --sort score": `"documents":[{"name":"b","source":{"id":"b",`,
		} {
			if got := search(path, args); !strings.Contains(got, want) {
				t.Errorf("%s %s: %q, want %q", path, args, got, want)
			}
		}
		for length, want := range map[string]string{"0": "*of* *time*.", "1": "*of* time."} { // of the marks of similar words
			if got := must(t, "search", path, "--no-header", "--query", "of lime~1", "--prefix-length", length, "--snippet", "30"); !strings.Contains(got, want) {
				t.Errorf("%s: prefix length %s: %q, want %q", path, length, got, want)
			}
		}
		var names []string
		cursor := "*"
		for cursor != "" {
			var o struct {
				Docs  []string
				After string
			}
			got := search(path, "--sort year~desc -k 2 --format jsonl --after "+cursor)
			if err := json.Unmarshal([]byte(got), &o); err != nil {
				t.Fatal(err, got)
			}
			names, cursor = append(names, o.Docs...), o.After
		}
		if strings.Join(names, "") != "cba" {
			t.Errorf("%s: pages %v", path, names)
		}
		if got := search(path, "--query loom -k 1 --after *"); !strings.Contains(got, "\nafter\t") {
			t.Errorf("%s: %q has no cursor", path, got)
		}
		for _, args := range []string{"--source --all", "--fields a --count", "--snippet 9 --format tsv", "--source --format trec", "--after * --format trec", "--after * --all",
			"--fields a,a", "--snippet -1", "--after * --exclude-self", "--after nonsense", "--attributes none", "--after * --offset 1"} {
			if r := heddle(t, append([]string{"search", path, "--query", "loom"}, strings.Fields(args)...)...); r.code != exitUsage || strings.Count(r.stderr, "\n") > 3 {
				t.Errorf("%s %s: %+v", path, args, r)
			}
		}
	}
	if r := heddle(t, "search", "d.hdl", "--query", "\"a loom\" -\"the loom\"", "--explain"); !strings.Contains(r.stderr, "  phrases  2 documents with all words, 5 positions read in pure Go") || !strings.Contains(r.stderr, "  boolean  \"a loom\" NOT \"the loom\"\n") {
		t.Errorf("explained: %s", r.stderr)
	}
	must(t, "index", "build", "-o", "bare.hdl", "d.jsonl")
	r := heddle(t, "search", "bare.hdl", "--query", "loom", "--source")
	wantFailure(t, r, exitUsage, "--store text or source")
}

// TestSearchCollapse collapses and boosts in an index file and in a collection, with equal answers.
func TestSearchCollapse(t *testing.T) {
	inTempDir(t)
	writeFile(t, "d.jsonl", `{"id":"a","text":"loom","year":1780,"site":"x"}
{"id":"b","text":"loom","year":1790,"site":"x"}
{"id":"c","text":"loom","year":1800,"site":"y"}
{"id":"d","text":"loom","site":"y"}
`)
	must(t, "index", "build", "-o", "d.hdl", "--attributes", "d.hdb", "d.jsonl")
	must(t, "collection", "create", "d", "--attribute", "year=int", "--attribute", "site=string")
	must(t, "collection", "add", "d", "d.jsonl")
	for _, path := range [][]string{{"d.hdl", "--table", "d.hdb"}, {"d"}} {
		for args, want := range map[string]string{
			"--collapse site":                                       `"docs":["a","c"]`,
			"--collapse site --sort year~desc":                      `"docs":["c","b"]`,
			"--collapse site --collapse-limit 2 --sort year~desc":   `"docs":["c","b","a","d"]`,
			"--collapse site --total":                               `"total":{"value":4,"exact":true}`,
			"--boost year~1780~1800~1":                              `"docs":["c","b","a","d"]`,
			"--boost year~1800~1780~1 --collapse site":              `"docs":["a","c"]`,
			"--boost year~1800~1780~1 --query * --min-score 0.4999": `"docs":["a","b"]`,
		} {
			command := append([]string{"search"}, path...)
			command = append(command, "--no-header", "--format", "jsonl")
			if !strings.Contains(args, "--query") {
				command = append(command, "--query", "loom")
			}
			for _, arg := range strings.Fields(args) {
				command = append(command, strings.ReplaceAll(arg, "~", " "))
			}
			if got := must(t, command...); !strings.Contains(got, want) {
				t.Errorf("%s %s: %q, want %q", path, args, got, want)
			}
		}
		for _, args := range []string{"--collapse none", "--collapse-limit 2", "--boost year~1~1~1", "--boost year~1~2~0", "--boost year~1", "--boost site~1~2~3", "--collapse site --count", "--min-score 9 -k 0"} {
			command := append([]string{"search", "--query", "loom"}, path...)
			for _, arg := range strings.Fields(args) {
				command = append(command, strings.ReplaceAll(arg, "~", " "))
			}
			if r := heddle(t, command...); r.code != exitUsage || strings.Count(r.stderr, "\n") > 3 {
				t.Errorf("%s %s: %+v", path, args, r)
			}
		}
	}
	r := heddle(t, "search", "d.hdl", "--query", "loom", "--table", "d.hdb", "--collapse", "site", "--explain")
	if !strings.Contains(r.stderr, "order    score desc,collapse site 1: pure Go, 4 documents") {
		t.Errorf("%+v", r)
	}
}

// TestSearchSnippets checks that format text prints snippets if the index stores texts.
func TestSearchSnippets(t *testing.T) {
	inTempDir(t)
	writeFile(t, "d.tsv", "a\tThe loom of time.\nb\tA\x1b[31m loom, a warp.\nc\tNothing.\n")
	for store, want := range map[string]string{
		"none": "  1     0.2383  a\n  2     0.2260  b\n",
		"text": "  1     0.2383  a\n     The *loom* of time.\n  2     0.2260  b\n     A\\x1b[31m *loom*, a warp.\n",
	} {
		must(t, "index", "build", "-o", "d.hdl", "--store", store, "d.tsv")
		if got := must(t, "search", "d.hdl", "--query", "LOOM", "--no-header"); got != want {
			t.Errorf("--store %s: %q, want %q", store, got, want)
		}
	}
}
