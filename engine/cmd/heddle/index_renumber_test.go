package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestIndexRenumber: a random numbering changes docIDs, not answers.
func TestIndexRenumber(t *testing.T) {
	inTempDir(t)
	var text strings.Builder
	for i := range 60 {
		fmt.Fprintf(&text, "doc%d\t%s\n", i, strings.Repeat("loom ", 1+i%7)+fmt.Sprint("w", i/20))
	}
	if err := os.WriteFile("d.tsv", []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	var answers []string
	for _, order := range []string{"none", "random"} {
		if r := heddle(t, "index", "build", "-o", order+".hdl", "--renumber", order, "d.tsv"); r.code != 0 {
			t.Fatalf("%+v", r)
		}
		r := heddle(t, "search", order+".hdl", "--backend", "host", "--query", "loom w1", "-k", "60")
		if r.code != 0 || !strings.Contains(r.stdout, "doc25") {
			t.Fatalf("%+v", r)
		}
		lines := strings.Split(r.stdout, "\n")
		var names []string
		for _, line := range lines {
			for _, word := range strings.Fields(line) {
				if strings.HasPrefix(word, "doc") {
					names = append(names, word)
				}
			}
		}
		slices.Sort(names)
		answers = append(answers, strings.Join(names, " "))
	}
	if answers[0] != answers[1] {
		t.Errorf("answers differ: %q and %q", answers[0], answers[1])
	}
	if none, random := readAll(t, "none.hdl"), readAll(t, "random.hdl"); bytes.Equal(none, random) {
		t.Error("both numberings give one file")
	}
}

func readAll(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
