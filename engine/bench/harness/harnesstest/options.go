// Package harnesstest helps to test families of benchmarks.
package harnesstest

import (
	"os"
	"testing"

	"heddle/codec"
	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
	"heddle/engine/bench/workload"
	"heddle/engine/plan"
)

// ReadRows reads the rows of a JSON file.
func ReadRows(t *testing.T, path string) []measure.Row {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := measure.ReadRows(f)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return rows
}

// Tiny returns options for workloads that run in a moment, on the host.
func Tiny() harness.Options {
	return harness.Options{Backend: "host", Short: true, GOVDocs: workload.SmallDocs, Orders: []workload.Order{workload.Uniform}, Queries: 60, Runs: 2,
		Layouts: []workload.Layout{workload.LayoutRaw, workload.Layout(codec.ParaPFor)}, Algorithms: []plan.Algorithm{plan.HS16, plan.Auto}, Threshold: 5000,
		Sweep: []uint64{4 << 10, 8 << 10}, Docs: 20_000, Rows: 20_000}
}
