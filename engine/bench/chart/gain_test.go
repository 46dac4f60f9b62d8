package chart

import (
	"io"
	"testing"

	"heddle/engine/bench/measure"
)

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
	if err := Gain(io.Discard, []measure.Row{row}); err == nil {
		t.Error("nothing to draw: no error")
	}
}
