package bench

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle/engine/bench/measure"
)

var update = flag.Bool("update", false, "write gain.svg")

// gainFiles are the runs of gain.svg. RESULTS.md has the command that draws it.
var gainFiles = []string{
	"2026-11-20-60b03f1-h200-peers.jsonl",
	"2026-11-20-9d13f0a-16cores-peers.jsonl",
	"2026-11-21-f883c0d-h200-rank-text.jsonl",
	"2026-11-22-2b3de86-h200-bitmap-16cores.jsonl",
	"2026-11-22-2b3de86-h200-bitmap.jsonl",
}

func readRun(t *testing.T, name string) []measure.Row {
	t.Helper()
	f, err := os.Open(filepath.Join("results", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := measure.ReadRows(f)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return rows
}

// TestGain: gain.svg is the picture of the kept runs, and every comparison has a bar.
func TestGain(t *testing.T) {
	var runs [][]measure.Row
	for _, name := range gainFiles {
		runs = append(runs, readRun(t, name))
	}
	var svg bytes.Buffer
	if err := DrawGain(&svg, runs...); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("gain.svg", svg.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile("gain.svg")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(svg.Bytes(), kept) {
		t.Error("gain.svg is not the picture of the kept runs: go test ./engine/bench -run TestGain -update")
	}
	for _, g := range gains {
		label, _, _ := strings.Cut(g.label, "\n")
		if !strings.Contains(svg.String(), label) {
			t.Errorf("no bar for %s", label)
		}
	}
}

// TestGainRatio: a ratio comes from a row, or from the row of the other library in the
// same run. Later runs replace earlier ones.
func TestGainRatio(t *testing.T) {
	row := measure.Row{Bench: "bitmap", Workload: "kdd, 64 bins", Row: "host: auto, wah64, counts", Backend: "host", Device: "pure Go", Metric: "time", Unit: "µs", Median: 2}
	peer := measure.Row{Bench: "bitmap", Workload: "kdd, 64 bins", Row: "roaring ParOr, counts", Metric: "time", Unit: "µs", Median: 10}
	g := gains[len(gains)-1]
	if !g.has(row) || g.has(peer) {
		t.Errorf("rows of %s", g.label)
	}
	if got := g.ratio(row, []measure.Row{row, peer}); got != 5 {
		t.Errorf("ratio %v, want 5", got)
	}
	if got := g.ratio(row, []measure.Row{row}); got != 0 {
		t.Errorf("ratio %v without the other library", got)
	}
	if err := DrawGain(io.Discard, []measure.Row{row}); err == nil {
		t.Error("nothing to draw: no error")
	}
}
