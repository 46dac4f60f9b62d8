package bench

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle/engine/bench/harness"
)

// TestPapers: PAPERS.md and its pictures are the page of the kept rows, and these carry every
// sentence but those whose figures spread too far.
func TestPapers(t *testing.T) {
	files, err := os.ReadDir("results")
	if err != nil {
		t.Fatal(err)
	}
	var runs []harness.Recorded
	for _, f := range files {
		runs = append(runs, harness.Recorded{Name: f.Name(), Rows: readRun(t, f.Name())})
	}
	page, err := harness.Papers(Exhibits(), runs, "plots")
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := page.Write("PAPERS.md", "plots"); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string][]byte{"PAPERS.md": page.Text}
	for name, svg := range page.Pictures {
		want[filepath.Join("plots", name)] = svg
	}
	for path, text := range want {
		if kept, err := os.ReadFile(path); err != nil || !bytes.Equal(kept, text) {
			t.Errorf("%s is not made from the kept rows (%v): go test ./engine/bench -run TestPapers -update", path, err)
		}
	}
	for line := range strings.Lines(string(page.Text)) {
		if strings.HasPrefix(line, "Result: not stated") && !strings.Contains(line, "no published figure") {
			t.Errorf("%s: mend the sentence of the exhibit", line)
		}
	}
	kept, err := filepath.Glob("plots/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range kept {
		if want[path] == nil {
			t.Errorf("PAPERS.md does not show %s", path)
		}
	}
}
