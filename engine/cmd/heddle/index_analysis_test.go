package main

import (
	"slices"
	"strings"
	"testing"

	"heddle/engine/index/analyze"
)

// TestStemmerNames: the configuration accepts every stemmer and no other name.
func TestStemmerNames(t *testing.T) {
	for _, name := range analyze.Stemmers() {
		must(t, "config", "print", "--stem", name)
	}
	wantFailure(t, heddle(t, "config", "print", "--stem", "klingon"), exitUsage, "klingon")
}

// TestStopwordLists builds indexes with named lists, with a file, and with a device.
func TestStopwordLists(t *testing.T) {
	inTempDir(t)
	writeFile(t, "docs.tsv", "a\tThe loom was theirs\nb\ta weaver of the loom\n")
	writeFile(t, "stop.txt", "weaver # not loom\n")
	for list, want := range map[string]string{
		"none": "a loom of the theirs was weaver", "lucene": "loom theirs weaver", "english": "loom weaver", "stop.txt": "a loom of the theirs was",
	} {
		must(t, "index", "build", "-o", "x.hdl", "--stopwords", list, "docs.tsv")
		var terms []string
		for line := range strings.Lines(must(t, "index", "dump", "x.hdl")) {
			terms = append(terms, strings.Fields(line)[0])
		}
		if got := strings.Join(terms, " "); got != want {
			t.Errorf("%s: terms %q, want %q", list, got, want)
		}
	}
	wantFailure(t, heddle(t, "index", "build", "-o", "y.hdl", "--stopwords", "/dev/zero", "docs.tsv"), exitFailure, "not a regular file")
}

// TestFold finds every spelling of a word in a folded index, and the exact one in another.
func TestFold(t *testing.T) {
	inTempDir(t)
	writeFile(t, "docs.tsv", "a\tCafé\nb\tcafe\nc\tCAFE\u0301\n")
	for flag, want := range map[string]string{"--fold": "a b c", "--fold=false": "b"} {
		must(t, "index", "build", "-o", "x.hdl", flag, "docs.tsv")
		for _, query := range []string{"cafe", "CAFE"} {
			var names []string
			for line := range strings.Lines(heddle(t, "search", "x.hdl", "--backend", "host", "--format", "trec", "--query", query).stdout) {
				names = append(names, strings.Fields(line)[2])
			}
			slices.Sort(names)
			if got := strings.Join(names, " "); got != want {
				t.Errorf("%s: %q finds %q, want %q", flag, query, got, want)
			}
		}
	}
	must(t, "index", "build", "-o", "x.hdl", "--fold", "--lengths", "lucene", "docs.tsv")
	info := must(t, "index", "info", "x.hdl")
	for _, want := range []string{"words, CJK bigrams, folded, stemmer none", "lengths lucene"} {
		if !strings.Contains(info, want) {
			t.Errorf("info has no %q:\n%s", want, info)
		}
	}
	wantFailure(t, heddle(t, "index", "build", "-o", "y.hdl", "--fold", "--tokenizer", "whitespace", "docs.tsv"), exitFailure, "stay as they are: folding")
}

// TestSingleCluster: a query of one cluster of a script without spaces finds every document
// that contains it.
func TestSingleCluster(t *testing.T) {
	inTempDir(t)
	writeFile(t, "d.tsv", "a\tภาษาไทย\nb\tพาสา\nc\tพาสาลาว ย\n")
	must(t, "index", "build", "-o", "d.hdl", "d.tsv")
	for query, want := range map[string]string{"ภ": "1", "ย": "2", "า": "3", "ไทย": "1", "ยไ": "0", "ล*": "1"} {
		if got := must(t, "search", "d.hdl", "--query", query, "--count", "--mode", "and"); got != "1\t"+want+"\n" && got != want+"\n" {
			t.Errorf("%s: %q, want %s", query, got, want)
		}
	}
}
