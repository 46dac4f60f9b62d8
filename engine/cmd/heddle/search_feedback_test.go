//go:build !core

package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"heddle/engine/internal/layout"
)

// TestSearchFeedback finds documents like one, and expands queries, on an index file, a collection and the service.
func TestSearchFeedback(t *testing.T) {
	inTempDir(t)
	var lines strings.Builder
	for i := range 30 {
		fmt.Fprintf(&lines, `{"id":"o%d","text":"other%d thing"}`+"\n", i, i)
	}
	lines.WriteString(`{"id":"a","text":"red loom, a loom with weft and weft"}
{"id":"b","text":"a loom"}
{"id":"c","text":"the weft"}
{"id":"d","text":"red"}
`)
	writeFile(t, "d.jsonl", lines.String())
	writeFile(t, "q.tsv", "q1\tred\nq2\tnone\n")
	must(t, "index", "build", "-o", "d.hdl", "--store", "source", "d.jsonl")
	must(t, "index", "build", "-o", "bare.hdl", "d.jsonl")
	must(t, "collection", "create", "d", "--store", "source")
	must(t, "collection", "add", "d", "d.jsonl")
	names := func(out string) string {
		var all []string
		for line := range strings.Lines(out) {
			all = append(all, strings.Split(strings.TrimSpace(line), "\t")[2])
		}
		return strings.Join(all, " ")
	}
	for _, path := range []string{"d.hdl", "d"} {
		for args, want := range map[string]string{
			"--like a --like-rule 25,2,2":             "b c",
			"--like a --like-rule 1,2,2":              "b",
			"--like a --like-rule 25,1,1 -k 2":        "b d",
			"--query red --rm3":                       "d a b c",
			"--query red --rm3=1,5,0.5 -k 9":          "d a",
			"--query red --rm3=10,2,0 --mode and":     "d a b",
			"--query none --rm3 --syntax literal":     "",
			"--like a --like-rule 25,2,2 --mode and ": "b c",
		} {
			if got := names(must(t, append([]string{"search", path, "--no-header", "--format", "tsv"}, strings.Fields(args)...)...)); got != want {
				t.Errorf("%s %s: %q, want %q", path, args, got, want)
			}
		}
		for mode, args := range map[string]string{"mode=or": "--like a --like-rule 25,2,2 --mode and", "mode=and": "--query red --rm3 --mode and"} {
			if r := heddle(t, append([]string{"search", path, "--format", "tsv"}, strings.Fields(args)...)...); r.code != 0 || !strings.Contains(r.stdout+r.stderr, mode+" ") {
				t.Errorf("%s %s: %+v, want %s", path, args, r, mode)
			}
		}
		if got := must(t, "search", path, "--queries", "q.tsv", "--rm3", "--format", "tsv", "--no-header", "-k", "2"); !strings.HasPrefix(got, "q1\t1\td\t") || strings.Count(got, "\n") != 2 {
			t.Errorf("%s: %q", path, got)
		}
		for args, want := range map[string]string{
			"--like none":                    "none",
			"--like a --like-rule 1,2":       "want three whole numbers",
			"--like a --like-rule 9,9,9":     "document \"a\" has no word 9 times",
			"--query red --rm3=1,2,3":        "the weight of the query is 3",
			"--query red --rm3=1":            "want three numbers",
			"--query +red --rm3":             "omit operators",
			"--query red --like a":           "--like excludes --query",
			"--query red --rm3 --all":        "exclude --all",
			"--query red --rm3 --synonyms x": "exclude --synonyms",
			"--query red --like-rule 9,9,9":  "--like-rule is for --like",
			"--query red --rm3=":             "want three numbers",
			"--like a --like-rule=":          "want three whole numbers",
			"--like a --total":               "that --like leaves out",
			"--like a -k 0":                  "-k must be at least 1",
			"--query red --rm3 -k 0":         "-k must be at least 1",
		} {
			if r := heddle(t, append([]string{"search", path}, strings.Fields(args)...)...); r.code != exitUsage || !strings.Contains(r.stderr, want) {
				t.Errorf("%s %s: %+v, want %s", path, args, r, want)
			}
		}
	}
	must(t, "cluster", "split", "-o", "d.shards", "--shards", "2", "d.hdl")
	maps := []*layout.Map{placed(t, "d.shards", "n")}
	nodes := map[string]*serving{"n": serve(t, "--drain-delay", "0s", "--shards", "d.shards/manifest.json")}
	writeFile(t, "s.txt", "red, loom\n")
	writeFile(t, "h.toml", "[server]\nsynonyms = \"d=s.txt\"\n")
	front := serveCluster(t, "cluster.json", nodes, maps)
	own := serve(t, "--config", "h.toml", "--drain-delay", "0s", "--index", "d=d.hdl", "--index", "e=d", "--index", "bare=bare.hdl")
	for body, want := range map[string]string{
		`"like":{"doc":"a","documents":2}`:                                 "b c",
		`"k":2,"like":{"doc":"a","frequency":1,"documents":1}`:             "b d",
		`"query":"red","feedback":{}`:                                      "d a b c",
		`"query":"red","k":9,"feedback":{"documents":1,"terms":5}`:         "d a",
		`"query":"red","mode":"and","feedback":{"terms":2,"weight":0}`:     "d a b",
		`"query":"red","feedback":{},"filter":{"docs":{"ids":[30,31,33]}}`: "d a b",
	} {
		var first string
		for _, at := range []struct {
			s     *serving
			index string
		}{{own, "d"}, {own, "e"}, {front, "d"}} {
			got := at.s.ask("/v1/indexes/"+at.index+"/search", "{"+body+"}")
			var names []string
			for _, m := range regexp.MustCompile(`"doc":"(.*?)"`).FindAllStringSubmatch(got, -1) {
				names = append(names, m[1])
			}
			if strings.Join(names, " ") != want || first != "" && got != first {
				t.Errorf("%s of %s: %s, want %s, as in %s", body, at.index, got, want, first)
			}
			first = got
		}
	}
	for body, want := range map[string]string{
		`"like":{"doc":"a"},"query":"red"`:           "like excludes query",
		`"like":{"doc":"a"},"offset":1`:              "like has no pages",
		`"like":{"doc":"a"},"k":0`:                   "k must be at least 1",
		`"like":{"doc":"none"}`:                      "not_found",
		`"query":"red","feedback":{"documents":101}`: "feedback.documents is 101, want at most 100",
		`"query":"red loom*","feedback":{}`:          "omit operators",
	} {
		if got := own.ask("/v1/indexes/d/search", "{"+body+"}"); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
	const missing = "the index stores no texts, which snippets, like and feedback read: build the index, or create the collection, with --store text or source"
	for _, body := range []string{`"query":"red","feedback":{}`, `"like":{"doc":"a"}`, `"query":"red","snippet":{}`} {
		if got := own.ask("/v1/indexes/bare/search", "{"+body+"}"); !strings.Contains(got, missing) {
			t.Errorf("%s without texts: %s", body, got)
		}
	}
	for _, args := range []string{"--query red --rm3", "--like a", "--query red --snippet 50"} {
		if r := heddle(t, append([]string{"search", "bare.hdl"}, strings.Fields(args)...)...); r.code != exitUsage || !strings.Contains(r.stderr, "heddle search: "+missing) {
			t.Errorf("%s without texts: %+v", args, r)
		}
	}
}
