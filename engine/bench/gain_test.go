package bench

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle/engine/bench/chart"
	"heddle/engine/bench/measure"
)

var update = flag.Bool("update", false, "write gain.svg, PAPERS.md and its plots")

// gainFiles are the runs of gain.svg. RESULTS.md has the command that draws it.
var gainFiles = []string{
	"2026-11-22-2b3de86-h200-bitmap-16cores.jsonl",
	"2026-11-22-2b3de86-h200-bitmap.jsonl",
	"2026-11-30-045512d-h200-lists.jsonl",
	"2026-11-30-5ae3c97-h200-rank-text.jsonl",
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
	if err := chart.Gain(&svg, runs...); err != nil {
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
	for _, label := range []string{"AND of lists", "ranked OR", "ranked AND", "OR of 64 bitmaps"} {
		if !strings.Contains(svg.String(), label) {
			t.Errorf("no bar for %s", label)
		}
	}
}
