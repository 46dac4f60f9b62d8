package main

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"

	"heddle/engine/bench/benchtest"
	"heddle/engine/bench/harness/harnesstest"
	"heddle/engine/bench/rank"
)

// TestBleve: of an AND bleve's best documents are ours, and rows name it as baseline.
func TestBleve(t *testing.T) {
	opt := harnesstest.Tiny()
	opt.Tables, opt.Runs, opt.Real = []string{"text"}, 1, benchtest.Data(t)
	opt.JSON = filepath.Join(t.TempDir(), "rows.json")
	var out, log bytes.Buffer
	if err := rank.WithLibrary(&bleveLibrary).Run(context.Background(), opt, &out, &log); err != nil {
		t.Fatalf("%v\n%s", err, &log)
	}
	count := make(map[string]int)
	for _, r := range harnesstest.ReadRows(t, opt.JSON) {
		count[r.Metric+" "+r.Baseline]++
		if r.Row == "and k=10" && r.Median != 100 {
			t.Errorf("row %+v", r)
		}
		if r.Baseline != "" && (r.Baseline != bleveName || r.Ratio <= 0 || r.Backend != "host") {
			t.Errorf("row %+v", r)
		}
	}
	for _, want := range []string{"throughput bleve", "p50 bleve", "p99 bleve", "throughput ", "documents in common with bleve "} {
		if count[want] == 0 {
			t.Errorf("no row of %q among %v", want, count)
		}
	}
}
