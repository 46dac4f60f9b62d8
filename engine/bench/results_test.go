package bench

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestResults: RESULTS.md names every kept run, every name is a file, and the rows are
// complete.
func TestResults(t *testing.T) {
	record, err := os.ReadFile("RESULTS.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir("results")
	if err != nil || len(files) == 0 {
		t.Fatal(len(files), err)
	}
	for _, f := range files {
		if !strings.Contains(string(record), "results/"+f.Name()) {
			t.Errorf("RESULTS.md does not name results/%s", f.Name())
		}
		for i, r := range readRun(t, f.Name()) {
			if r.Bench == "" || r.Workload == "" || r.Row == "" || r.Metric == "" || r.Unit == "" {
				t.Errorf("%s, row %d: %+v", f.Name(), i+1, r)
			}
		}
	}
	for _, word := range strings.FieldsFunc(string(record), func(r rune) bool { return strings.ContainsRune(" `\n(),;", r) }) {
		if strings.HasPrefix(word, "results/") && strings.HasSuffix(word, ".jsonl") {
			if _, err := os.Stat(filepath.FromSlash(word)); err != nil {
				t.Error(err)
			}
		}
	}
}
