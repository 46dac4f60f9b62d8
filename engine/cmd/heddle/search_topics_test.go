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
	writeFile(t, "q.tsv", "q1\tWhat is \"the\" flock?\nq2\tsheep (and goats\nq3\twho was the secretary -general\nq4\tmilk, honey: a land\n")
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
	if r.code != exitFailure || strings.Contains(r.stdout, "q3\t1\tc") || !strings.Contains(r.stderr, "q.tsv:1: ") {
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
