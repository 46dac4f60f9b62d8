//go:build !core

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle/engine/plan/testneeds"
)

// tree gives the names and contents of the files of a folder.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	names, err := filepath.Glob(dir + "/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&all, "%s %q\n", filepath.Base(name), data)
	}
	return all.String()
}

// TestClusterSplit: a build of shards equals a build and a split, for settings that change the
// lengths, the lists and the texts of an index. A table follows the cuts of its index.
func TestClusterSplit(t *testing.T) {
	testneeds.Sequential(t)
	testneeds.Waits(t)
	inTempDir(t)
	var tsv, csv strings.Builder
	csv.WriteString("n,word\n")
	for i := range 400 {
		fmt.Fprintf(&tsv, "d%d\t%s\n", i, strings.Repeat(fmt.Sprintf("loom w%d x%d ", i%7, i%90), 1+i%60))
		fmt.Fprintf(&csv, "%d,w%d\n", i*i, i%9)
	}
	for name, text := range map[string]string{"d.tsv": tsv.String(), "d.csv": csv.String(), "few.tsv": "a\tb\n"} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, settings := range []string{"--store text", "--lengths lucene --stopwords lucene --stem porter", "--impacts 8 --codec lrcseg", "--build-memory 900MiB"} {
		for _, input := range []string{"d.tsv", "few.tsv"} {
			build := func(more ...string) {
				must(t, append(append(strings.Fields("index build "+settings), more...), input)...)
			}
			build("-o", "shards.hdl")
			must(t, "cluster", "split", "-o", "split", "--shards", "3", "shards.hdl")
			build("-o", "shards/", "--shards", "3")
			if got, want := tree(t, "shards"), tree(t, "split"); got != want || strings.Count(got, "\n") != 4 {
				t.Errorf("%s, %s: the shards of a build differ from the shards of a split\n%.300s\n%.300s", settings, input, got, want)
			}
		}
	}
	must(t, "index", "build", "-o", "d.hdl", "d.tsv")
	must(t, "bitmap", "build", "-o", "d.hdb", "d.csv")
	lines := func(manifest string) (all []string) {
		for _, line := range strings.Split(manifest, "\n")[1:] {
			if _, numbers, found := strings.Cut(line, "  "); found {
				all = append(all, numbers[:strings.LastIndex(numbers, ",")])
			}
		}
		return all
	}
	index := lines(must(t, "cluster", "split", "-o", "i", "--at", "0,100,101", "d.hdl"))
	table := lines(must(t, "cluster", "split", "-o", "t", "--like", "i", "d.hdb"))
	if want := "[first 0, 0 documents first 0, 100 documents first 100, 1 documents first 101, 299 documents]"; fmt.Sprint(index) != want || fmt.Sprint(table) != want {
		t.Errorf("cuts of the index %s, of the table %s, want %s", index, table, want)
	}
	if got := must(t, "cluster", "split", "--json", "-o", "t", "--shards", "1", "d.hdb"); !strings.Contains(got, `"sha256"`) || !strings.Contains(got, `"kind":"table"`) {
		t.Error(got)
	}
	wantFailure(t, heddle(t, "cluster", "split", "-o", ".", "--shards", "2", "d.hdl"), exitFailure, "--force")
	wantFailure(t, heddle(t, "cluster", "split", "-o", "x", "--shards", "2", "d.tsv"), exitCorrupt, "d.tsv")
	wantFailure(t, heddle(t, "cluster", "split", "-o", "x", "--shards", "2", "--at", "3", "d.hdl"), exitUsage, "exactly one of")
	wantFailure(t, heddle(t, "cluster", "split", "-o", "x", "--like", "few.tsv", "d.hdl"), exitFailure, "few.tsv")
	wantFailure(t, heddle(t, "index", "build", "-o", "x", "--shards", "65", "d.tsv"), exitUsage, "65")
}

// TestClusterPlan prints a plan, and refuses values out of range.
func TestClusterPlan(t *testing.T) {
	if got := must(t, "cluster", "plan", "--docs", "50e9", "--qps", "100e3"); !strings.HasPrefix(got, "shards                500 of 1e+08 documents, 50 GB each") {
		t.Error(got)
	}
	if got := must(t, "cluster", "plan", "--replicas", "1", "--docs", "1e6", "--json"); !strings.Contains(got, `"machines":1,`) {
		t.Error(got)
	}
	wantFailure(t, heddle(t, "cluster", "plan", "--load", "1"), exitUsage, "load is 1")
}
