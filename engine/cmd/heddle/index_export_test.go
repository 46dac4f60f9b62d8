package main

import (
	"strings"
	"testing"
)

// TestExportedAnalysis: queries of an index from inverted lists are analysed as the texts
// were, where the build names the analysis.
func TestExportedAnalysis(t *testing.T) {
	inTempDir(t)
	writeFile(t, "d.tsv", "a\tthe Weavers' cafés\nb\ta weaver\nc\tthe\n")
	analysis := []string{"--stem", "porter", "--stopwords", "lucene", "--fold", "--lengths", "lucene"}
	must(t, append([]string{"index", "build", "-o", "d.hdl", "d.tsv"}, analysis...)...)
	hits := func(index, query string) string {
		var names []string
		for line := range strings.Lines(heddle(t, "search", index, "--backend", "host", "--format", "trec", "--query", query).stdout) {
			f := strings.Fields(line)
			names = append(names, f[2]+" "+f[4])
		}
		return strings.Join(names, "|")
	}
	for format, out := range map[string]string{"ciff": "e.ciff", "pisa": "e"} {
		must(t, "index", "export", "d.hdl", "--format", format, "-o", out)
		must(t, append([]string{"index", "build", "-o", "again.hdl", "--format", format, out}, analysis...)...)
		for _, query := range []string{"WEAVERS", "the Café", "weaver's CAFES"} {
			if got, want := hits("again.hdl", query), hits("d.hdl", query); got != want || want == "" {
				t.Errorf("%s: %q finds %q, want %q", format, query, got, want)
			}
		}
	}
}

// TestIndexExport builds an index again from each export, and compares dumps.
func TestIndexExport(t *testing.T) {
	inTempDir(t)
	writeFile(t, "d.tsv", threeDocuments)
	must(t, "index", "build", "-o", "d.hdl", "d.tsv")
	want := must(t, "index", "dump", "d.hdl")
	for format, out := range map[string]string{"ciff": "e.ciff", "pisa": "e", "jsonl": "e.jsonl"} {
		must(t, "index", "export", "d.hdl", "--format", format, "-o", out)
		must(t, "index", "build", "-o", "again.hdl", "--format", format, out)
		if got := must(t, "index", "dump", "again.hdl"); got != want {
			t.Errorf("%s: terms\n%s\nwant\n%s", format, got, want)
		}
		if got := must(t, "index", "dump", "again.hdl", "--doc", "0"); got != "a\t6\n" {
			t.Errorf("%s: document %q", format, got)
		}
		wantFailure(t, heddle(t, "index", "export", "d.hdl", "--format", format, "-o", out), exitFailure, "exists: choose another output")
		must(t, "index", "export", "d.hdl", "--format", format, "-o", out, "--force")
	}
	first, _, _ := strings.Cut(must(t, "index", "export", "d.hdl", "--format", "jsonl"), "\n")
	if wantLine := `{"id":"a","vector":{"loom":1,"red":2,"the":2,"warp":1}}`; first != wantLine {
		t.Errorf("line %s, want %s", first, wantLine)
	}
	wantFailure(t, heddle(t, "index", "export", "d.hdl"), exitUsage, "--format is missing")
	wantFailure(t, heddle(t, "index", "export", "d.hdl", "--format", "csv"), exitUsage, "not one of ciff, pisa, jsonl")
	wantFailure(t, heddle(t, "index", "export", "d.hdl", "--format", "pisa"), exitUsage, "--output (-o) is missing")
}
