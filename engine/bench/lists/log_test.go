package lists

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heddle/engine/bench/harness"
	"heddle/engine/bench/harness/harnesstest"
	"heddle/engine/bench/workload"
	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
)

func TestLog(t *testing.T) {
	opt := harnesstest.Tiny()
	opt.Tables, opt.Peers = []string{"log"}, true
	opt.JSON = filepath.Join(t.TempDir(), "rows.json")
	var out, log bytes.Buffer
	if err := Family.Run(context.Background(), opt, &out, &log); err != nil {
		t.Fatalf("%v\n%s", err, &log)
	}
	for _, want := range []string{"gov-uniform seed 1, 1/16", "raw/hs16", "parapfor/auto", "roaring",
		"verified: 6 runs gave the same answers to all of up to 60 queries, 60 of them the answers of a plain merge"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("stdout does not say %q:\n%s", want, &out)
		}
	}
	count := make(map[string]int)
	for _, r := range harnesstest.ReadRows(t, opt.JSON) {
		if r.Bench != "lists" || r.Workload != "gov-uniform seed 1, 1/16" || r.Min > r.Median || r.Median > r.Max || r.Min <= 0 || r.Runs < 1 {
			t.Errorf("row %+v", r)
		}
		if r.Baseline == harness.PeerName && r.Ratio <= 0 {
			t.Errorf("a baseline without ratio: %+v", r)
		}
		count[r.Metric+" "+r.Baseline]++
	}
	// four setups, and the other library beside each of two layouts
	if want := map[string]int{"throughput roaring": 4, "throughput ": 2, "response ": 4}; !equalCounts(count, want) {
		t.Errorf("rows %v, want %v", count, want)
	}
}

func equalCounts(a, b map[string]int) bool {
	for k := range b {
		if a[k] != b[k] {
			return false
		}
	}
	return len(a) == len(b)
}

// TestRunDevice runs on an OpenCL device. Its rows must have times, bytes and fractions
// of the peak.
func TestRunDevice(t *testing.T) {
	device := testneeds.Device(t)
	testneeds.OneCaller(t)
	path := filepath.Join(t.TempDir(), "rows.json")
	opt := harness.Options{Backend: "opencl", Device: device, Short: true, GOVDocs: workload.SmallDocs, Orders: []workload.Order{workload.Uniform}, Queries: 60, Runs: 1,
		Layouts: []workload.Layout{workload.LayoutAuto}, Algorithms: []plan.Algorithm{plan.Auto}, JSON: path, Tables: []string{"log"}}
	if err := Family.Run(context.Background(), opt, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	var metrics []string
	for _, r := range harnesstest.ReadRows(t, path) {
		metrics = append(metrics, r.Metric)
		if r.Backend != "opencl" || r.Device == "" || r.Median <= 0 {
			t.Errorf("row %+v", r)
		}
		if r.Metric == "kernel" && (r.Bytes == 0 || r.PeakFraction <= 0) || (r.Metric == "upload" || r.Metric == "download") && r.Bytes == 0 {
			t.Errorf("row without bytes: %+v", r)
		}
	}
	if want := []string{"throughput", "response", "kernel", "decoding", "search", "gathering", "upload", "download", "kernel throughput"}; !slices.Equal(metrics, want) {
		t.Errorf("metrics %v, want %v", metrics, want)
	}
}

// TestMissingDevice: a missing device is an error if the options ask for it. Otherwise
// it is left out.
func TestMissingDevice(t *testing.T) {
	opt := harness.Options{Backend: "opencl", Device: "no device has this name", Short: true, GOVDocs: workload.SmallDocs, Orders: []workload.Order{workload.Uniform}, Queries: 10, Runs: 1,
		Layouts: []workload.Layout{workload.LayoutRaw}, Algorithms: []plan.Algorithm{plan.Auto}, Tables: []string{"log"}}
	var out bytes.Buffer
	opt.JSON = filepath.Join(t.TempDir(), "rows.json")
	if err := Family.Run(context.Background(), opt, &out, &out); !errors.Is(err, plan.ErrNoDevice) || out.Len() > 0 {
		t.Errorf("opencl: %v, and before that\n%s", err, &out)
	}
	if left, err := filepath.Glob(opt.JSON + "*"); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	opt.JSON = ""
	opt.Backend = "auto"
	var log bytes.Buffer
	if err := Family.Run(context.Background(), opt, io.Discard, &log); err != nil || !strings.Contains(log.String(), "opencl left out") {
		t.Errorf("auto: %v\n%s", err, &log)
	}
}

func TestJSONToStdout(t *testing.T) {
	opt := harnesstest.Tiny()
	opt.Tables, opt.JSON = []string{"ao-table4"}, "-"
	var out, log bytes.Buffer
	if err := Family.Run(context.Background(), opt, &out, &log); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		if !json.Valid([]byte(line)) {
			t.Errorf("stdout has %q", line)
		}
	}
	if !strings.Contains(log.String(), "Table 4") {
		t.Error("the table is not on stderr")
	}
}
