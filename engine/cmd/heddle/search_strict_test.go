package main

import (
	"slices"
	"strings"
	"testing"

	"heddle/engine/index/trec"
)

// TestStrictScores: equal scores become strictly decreasing as floats of 32 bits, in the same
// order of documents.
func TestStrictScores(t *testing.T) {
	inTempDir(t)
	writeFile(t, "in.tsv", "a\tloom red\nb\tloom red\nc\tloom red\nd\tloom loom\n")
	if r := heddle(t, "index", "build", "-o", "x.hdl", "--format", "text", "in.tsv"); r.code != 0 {
		t.Fatalf("%+v", r)
	}
	writeFile(t, "q.txt", "b\tloom\n")
	run := func(args ...string) []trec.Retrieved {
		t.Helper()
		r := heddle(t, append([]string{"search", "x.hdl", "--queries", "q.txt", "--format", "trec", "--no-header"}, args...)...)
		read, err := trec.ReadRun("run", strings.NewReader(r.stdout))
		if err != nil || r.code != 0 {
			t.Fatal(err, r)
		}
		return read.Queries["b"]
	}
	plain, strict := run(), run("--strict-scores")
	if len(plain) != 4 || plain[1].Score != plain[3].Score || plain[1].Doc != "c" { // ties by descending name
		t.Fatalf("%v", plain)
	}
	for i, want := range []string{"d", "a", "b", "c"} { // ties by document
		if strict[i].Doc != want || i > 0 && float32(strict[i].Score) >= float32(strict[i-1].Score) {
			t.Errorf("%v", strict)
		}
	}
	for _, k := range []string{"2", "10"} {
		others := run("--exclude-self", "-k", k)
		if len(others) != map[string]int{"2": 2, "10": 3}[k] || slices.ContainsFunc(others, func(d trec.Retrieved) bool { return d.Doc == "b" }) {
			t.Errorf("k %s: %v", k, others)
		}
	}
	if others := run("--exclude-self", "-k", "2"); len(others) != 2 || others[0].Doc != "d" || others[1].Doc != "a" {
		t.Errorf("%v", others)
	}
	if r := heddle(t, "search", "x.hdl", "--query", "loom", "--all", "--exclude-self"); r.code != exitUsage {
		t.Errorf("%+v", r)
	}
}
