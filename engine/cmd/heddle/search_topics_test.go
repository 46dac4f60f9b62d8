package main

import (
	"strings"
	"testing"
)

// TestQueryFilesAreText reads a file of questions as text, and its operators only with --syntax query.
func TestQueryFilesAreText(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "d.tsv", "a\tthe flock\nb\tsheep goats\nc\tgeneral secretary\nd\tmilk honey\n")
	must(t, "index", "build", "-o", "x.hdl", "d.tsv")
	writeFile(t, "q.tsv", "q1\tWhat is title:the flock?\nq2\tsheep (and goats\nq3\twho was the secretary -general\nq4\tmilk, honey: a land\n")
	search := []string{"search", "x.hdl", "--queries", "q.tsv", "--format", "tsv", "--no-header"}
	names := func(args ...string) string {
		var all []string
		for line := range strings.Lines(must(t, append(search, args...)...)) {
			f := strings.Split(line, "\t")
			all = append(all, f[0]+f[2])
		}
		return strings.Join(all, " ")
	}
	if got, want := names(), "q1a q2b q3c q3a q4d"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, other := names("--syntax", "literal"), names(); got != other {
		t.Errorf("literal: %s", got)
	}
	r := heddle(t, append(search, "--syntax", "query")...)
	if r.code != exitFailure || strings.Contains(r.stdout, "q3\t1\tc") || !strings.Contains(r.stderr, "q.tsv:1: ") ||
		strings.Count(r.stderr, "warning: q.tsv:2: the ( at byte 7 of the query is no operator there, and so text") != 1 || !strings.Contains(r.stdout, "q2\t1\tb") {
		t.Errorf("with operators: %+v", r)
	}
	if got := must(t, "search", "x.hdl", "--query", "secretary -general", "--count"); got != "1\t0\n" {
		t.Errorf("a query of the command line: %q", got)
	}
}

// TestTopicsOfTracks searches topics in XML and chooses their text.
func TestTopicsOfTracks(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "d.tsv", "a\tshepherd flock\nb\tmilk honey\nc\twho keeps where\n")
	must(t, "index", "build", "-o", "x.hdl", "d.tsv")
	writeFile(t, "q.xml", `<?xml version="1.0" encoding="UTF-8"?>
<topics task="Example" batch="1">
  <topic number="1">
    <query>shepherd &amp; flock</query>
    <question>who keeps</question>
  </topic>
  <topic number="2">
    <query>milk honey</query>
    <question>where</question>
  </topic>
</topics>
`)
	search := []string{"search", "x.hdl", "--queries", "q.xml", "--format", "jsonl", "--no-header", "-k", "1"}
	got := must(t, search...)
	for _, want := range []string{`{"query":"1","text":"shepherd & flock","docs":["a"]`, `{"query":"2","text":"milk honey","docs":["b"]`} {
		if !strings.Contains(got, want) || strings.Count(got, "\n") != 2 {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if got := must(t, append(search, "--topic-field", "question")...); strings.Count(got, `"docs":["c"]`) != 2 {
		t.Errorf("questions: %s", got)
	}
	if r := heddle(t, append(search, "--topic-field", "title")...); r.code != exitFailure || !strings.Contains(r.stderr, "q.xml:3: no field title: the topic has query, question") {
		t.Errorf("no such field: %+v", r)
	}
	writeFile(t, "page.html", "<html>\n<body>milk\n</body></html>\n")
	wantFailure(t, heddle(t, "search", "x.hdl", "--queries", "page.html"), exitCorrupt, "page.html:2: text outside of the elements")
}

// TestRepeated reports queries with one ID, and documents that have one name in a run.
func TestRepeated(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "d.tsv", "a b\tred\na_b\tred\nc\tred\nc\tred\nd\tblue\n")
	r := heddle(t, "index", "build", "-o", "x.hdl", "d.tsv")
	if r.code != 0 || !strings.Contains(r.stderr, `documents with the name of an earlier document: 1; the first: \"c\"`) && !strings.Contains(r.stderr, `documents with the name of an earlier document: 1; the first: "c"`) {
		t.Errorf("%+v", r)
	}
	writeFile(t, "q.tsv", "q 3\tblue\nq_3\tblue\n\tblue\n \tblue\n")
	if r := heddle(t, "search", "x.hdl", "--queries", "q.tsv", "--format", "trec"); !strings.Contains(r.stderr, "warning: q.tsv: 2 queries have the ID of an earlier one; the first: q_3 on lines 1 and 2\n") {
		t.Errorf("IDs that a run makes equal: %+v", r)
	}
	if r := heddle(t, "search", "x.hdl", "--queries", "q.tsv", "--format", "tsv"); strings.Contains(r.stderr, "warning") {
		t.Errorf("IDs that differ: %+v", r)
	}
	writeFile(t, "q.tsv", "1\tred\n2\tblue\n1\tblue\n1\tred\n")
	r = heddle(t, "search", "x.hdl", "--queries", "q.tsv", "--format", "trec", "--no-header")
	for _, want := range []string{"warning: q.tsv: 2 queries have the ID of an earlier one; the first: 1 on lines 1 and 3\n",
		`warning: 4 documents of the run have the name of another one of the same query; the first: query 1: "a b" and "a_b"` + "\n"} {
		if r.code != 0 || !strings.Contains(r.stderr, want) {
			t.Errorf("%+v, want %q", r, want)
		}
	}
}

// TestEveryDocument: a filter alone, * and NOT alone are queries, and -k 0 prints no documents.
func TestEveryDocument(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "d.jsonl", `{"id":"a","text":"red loom","year":1999,"lang":"de"}`+"\n"+`{"id":"b","text":"blue loom","year":2004,"lang":""}`+"\n"+`{"id":"c","text":"red sheep","year":2010}`+"\n")
	must(t, "index", "build", "-o", "x.hdl", "--attributes", "x.hdb", "d.jsonl")
	must(t, "collection", "create", "c", "--attribute", "year=int", "--attribute", "lang=string")
	heddle(t, "collection", "add", "c", "d.jsonl")
	for _, base := range [][]string{{"search", "x.hdl", "--table", "x.hdb"}, {"search", "c"}} {
		for args, want := range map[string]string{
			"--where|year >= 2000":                                  "b c",
			"--where|year >= 2000|--syntax|boolean":                 "b c",
			"--query|*|--all|--where|TRUE":                          "a b c",
			"--query|NOT red|--where|TRUE":                          "b",
			"--query|-red|--all|--where|year > 0":                   "b",
			"--query|*|--where|year < 2000":                         "a",
			"--query|loom|-k|0|--where|TRUE":                        "",
			"--query|loom|-k|0|--facets|lang|--facet-values|9":      "facet\tlang\t\"\"\t1 facet\tlang\tde\t1",
			"--query|*|-k|0|--facets|lang|--where|year >= 2004":     "facet\tlang\t\"\"\t1 facet\tlang\t\t1",
			"--query|red OR NOT loom|--syntax|boolean|--where|TRUE": "a c",
		} {
			r := heddle(t, append(append(base[:len(base):len(base)], strings.Split(args, "|")...), "--no-header")...)
			var got []string
			for line := range strings.Lines(r.stdout) {
				line = strings.TrimSuffix(line, "\n")
				if !strings.HasPrefix(line, "facet") {
					f := strings.Fields(line)
					line = f[len(f)-1]
				}
				got = append(got, line)
			}
			if strings.Join(got, " ") != want || r.code != 0 {
				t.Errorf("%s: %q, want %q; %+v", args, got, want, r)
			}
		}
	}
}
