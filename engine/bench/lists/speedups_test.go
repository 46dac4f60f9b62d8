package lists

import (
	"bytes"
	"path/filepath"
	"slices"
	"testing"

	"heddle/engine/bench/harness/harnesstest"
	"heddle/engine/plan/testneeds"
)

// TestCollections: Tables 3 and 7 have a column for each wanted collection, with the figures
// of the paper beside its own.
func TestCollections(t *testing.T) {
	testneeds.Long(t)
	opt := harnesstest.Tiny()
	opt.Short, opt.GOVDocs, opt.Themes, opt.Queries, opt.Runs, opt.WarmUp = false, 5000, 1, 10, 1, 1
	opt.Sets, opt.Tables = []string{"BDR", "GOVR", "GOV2"}, []string{"ao-table3", "ao-table7"} // GOV2 is not in uniform order
	opt.JSON = filepath.Join(t.TempDir(), "rows.jsonl")
	var out, log bytes.Buffer
	if err := Family.Run(t.Context(), opt, &out, &log); err != nil {
		t.Fatalf("%v\n%s", err, &log)
	}
	var columns []string
	paper := make(map[[3]string]float64) // by exhibit, collection and algorithm
	for _, r := range harnesstest.ReadRows(t, opt.JSON) {
		if p := r.Place; !slices.Contains(columns, p.Series) {
			columns = append(columns, p.Series)
		}
		if r.Metric == "speedup" || r.Metric == "throughput" {
			paper[[3]string{r.Place.Exhibit, r.Place.Series, r.Place.At}] = r.Place.Paper
		}
	}
	if !slices.Equal(columns, []string{"GOVR", "BDR"}) {
		t.Errorf("columns %v", columns)
	}
	for key, want := range map[[3]string]float64{
		{"ao-table3", "GOVR", "HS16"}: 22.01, {"ao-table3", "BDR", "HS16"}: 12.96, {"ao-table3", "BDR", "HS128.LRC"}: 8.81,
		{"ao-table7", "GOVR", "SegLRC"}: 48078, {"ao-table7", "BDR", "HS256.LRC"}: 195520, {"ao-table7", "BDR", "HS128.LRC"}: 0,
	} {
		if got, ok := paper[key]; !ok || got != want {
			t.Errorf("%v: the paper's figure is %v (measured: %v), want %v", key, got, ok, want)
		}
	}
}
