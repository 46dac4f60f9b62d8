package harness

import (
	"slices"
	"testing"

	"heddle/engine/bench/measure"
)

// sampleReadings returns two series at two places, with every kind of column.
func sampleReadings() []Reading {
	row := func(v float64) measure.Row {
		return measure.Row{Median: v, Min: v * 0.9, Max: v * 1.1, Runs: 3, Unit: "queries/s"}
	}
	first, second := row(91382), row(0.5)
	first.PeakFraction, first.Baseline, first.Ratio = 0.42, "roaring", 1.5
	first.Backend, first.Device, first.Metric = "opencl", "NVIDIA H200", "throughput"
	second.Runs = 1
	return []Reading{
		{Panel: "p", Series: "hs16", At: "1 M", X: 1 << 20, Paper: 91382, Row: first},
		{Panel: "p", Series: "bs", At: "1 M", X: 1 << 20, Row: row(12.34)},
		{Panel: "p", Series: "hs16", At: "2 M", X: 2 << 20, Row: second},
	}
}

func TestGrid(t *testing.T) {
	want := [][]string{
		{"threshold", "hs16", "paper", "÷ paper", "÷ paper per bandwidth", "of peak", "× roaring", "bs"},
		{"1 M", "91382 ±10%", "91382", "1.00", "0.0370", "42.0 %", "1.50", "12.3 ±10%"},
		{"2 M", "0.500", "", "", "", "", "", ""},
	}
	got := grid("threshold", sampleReadings(), card{"GTX 480", 177.4, ""})
	if len(got) != len(want) {
		t.Fatalf("%q", got)
	}
	for i := range want {
		if !slices.Equal(got[i], want[i]) {
			t.Errorf("line %d: %q, want %q", i, got[i], want[i])
		}
	}
}

func TestFileName(t *testing.T) {
	if got := fileName("clustered, NVIDIA H200 (S = 132)"); got != "clustered-nvidia-h200-s-132" {
		t.Error(got)
	}
}
