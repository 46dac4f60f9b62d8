package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heddle/engine/plan"
)

// readRows parses the lines of a JSON file and checks that no key is unknown.
func readRows(t *testing.T, path string) (rows []Row) {
	t.Helper()
	for _, line := range lines(t, path) {
		d := json.NewDecoder(strings.NewReader(line))
		d.DisallowUnknownFields()
		var r Row
		if err := d.Decode(&r); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		rows = append(rows, r)
	}
	return rows
}

func TestRunLists(t *testing.T) {
	dir := t.TempDir()
	opt := ListsOptions{Backend: "host", Short: true, docs: smallDocs, Orders: []Order{Uniform}, Queries: 60, Runs: 2, Peers: true,
		Layouts: []Layout{LayoutRaw, LayoutParaPFor}, Algorithms: []plan.Algorithm{plan.HS16, plan.Auto}, Threshold: 5000,
		JSON: filepath.Join(dir, "rows.json"), Plot: filepath.Join(dir, "plots"), Sweep: []uint64{4 << 10, 8 << 10}}
	var out, log bytes.Buffer
	if err := Lists(context.Background(), opt, &out, &log); err != nil {
		t.Fatalf("%v\n%s", err, &log)
	}
	for _, want := range []string{"gov-uniform seed 1, 1/16", "raw/hs16", "parapfor/auto", "roaring",
		"verified: 6 runs gave the same answers to all of up to 60 queries, 60 of them those of a plain merge"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("stdout does not say %q:\n%s", want, &out)
		}
	}
	count := make(map[string]int)
	for _, r := range readRows(t, opt.JSON) {
		if r.Bench != "lists" || r.Workload != "gov-uniform seed 1, 1/16" || r.Min > r.Median || r.Median > r.Max || r.Min <= 0 || r.Runs < 1 {
			t.Errorf("row %+v", r)
		}
		if r.Baseline == peerName && r.Ratio <= 0 {
			t.Errorf("a baseline without ratio: %+v", r)
		}
		count[r.Metric+" "+r.Baseline]++
	}
	// Four cells, each with the peer beside it, and two algorithms at two thresholds.
	if want := map[string]int{"throughput roaring": 4, "throughput ": 4 + 4, "response ": 4 + 4}; !equalCounts(count, want) {
		t.Errorf("rows %v, want %v", count, want)
	}
	for _, figure := range []string{"throughput", "response"} {
		base := filepath.Join(opt.Plot, "lists-uniform-raw-host-"+figure)
		f, err := os.Open(base + ".png")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := png.Decode(f); err != nil {
			t.Errorf("%s.png: %v", base, err)
		}
		f.Close()
		svg, err := os.ReadFile(base + ".svg")
		if err != nil || !bytes.Contains(svg, []byte("8K")) || !bytes.Contains(svg, []byte("hs16")) {
			t.Errorf("%s.svg: %v, %d bytes", base, err, len(svg))
		}
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

// TestRunDevice runs on an OpenCL device where there is one: its rows must have
// times, bytes and the share of the peak.
func TestRunDevice(t *testing.T) {
	if os.Getenv("HEDDLE_TEST_BACKEND") != "opencl" {
		t.Skip("HEDDLE_TEST_BACKEND is not opencl")
	}
	path := filepath.Join(t.TempDir(), "rows.json")
	opt := ListsOptions{Backend: "opencl", Device: os.Getenv("HEDDLE_TEST_DEVICE"), Short: true, docs: smallDocs, Orders: []Order{Uniform}, Queries: 60, Runs: 1,
		Layouts: []Layout{LayoutAuto}, Algorithms: []plan.Algorithm{plan.Auto}, JSON: path}
	if err := Lists(context.Background(), opt, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	var metrics []string
	for _, r := range readRows(t, path) {
		metrics = append(metrics, r.Metric)
		if r.Backend != "opencl" || r.Device == "" || r.Median <= 0 {
			t.Errorf("row %+v", r)
		}
		if r.Metric == "kernel" && (r.Bytes == 0 || r.PeakFraction <= 0) || (r.Metric == "upload" || r.Metric == "download") && r.Bytes == 0 {
			t.Errorf("row without bytes: %+v", r)
		}
	}
	if want := []string{"throughput", "response", "kernel", "upload", "download"}; !slices.Equal(metrics, want) {
		t.Errorf("metrics %v, want %v", metrics, want)
	}
}

func TestRunDecode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.json")
	var out bytes.Buffer
	if err := Decode(context.Background(), ListsOptions{Backend: "host", Short: true, Runs: 1, JSON: path}, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	rows := readRows(t, path)
	if len(rows) != 2 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, r := range rows {
		if r.Bench != "decode" || r.Unit != "G ints/s" || r.Median <= 0 || r.Bytes == 0 || r.PeakFraction <= 0 {
			t.Errorf("row %+v", r)
		}
	}
	if got := strings.Count(out.String(), "G ints/s"); got != 2 {
		t.Errorf("stdout:\n%s", &out)
	}
}

func TestOptions(t *testing.T) {
	for _, bad := range []ListsOptions{{Backend: "cuda"}, {Runs: -1}, {Queries: -1}, {Threads: -1}} {
		if err := Lists(context.Background(), bad, io.Discard, io.Discard); err == nil {
			t.Errorf("%+v: no error", bad)
		}
	}
	if err := Lists(context.Background(), ListsOptions{JSON: filepath.Join(t.TempDir(), "no", "such")}, io.Discard, io.Discard); err == nil {
		t.Error("a JSON file in no folder: no error")
	}
	o, err := ListsOptions{}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	if o.queries("gpu") != gpuQueries || o.queries("cpu") != cpuQueries || len(o.Sweep) != 7 || o.Sweep[6] != 8<<20 || o.themes() != MaxThemes {
		t.Errorf("defaults %+v", o)
	}
	if o, err = (ListsOptions{Short: true}).withDefaults(); err != nil || o.queries("gpu") != shortQueries || o.themes() != 1 {
		t.Errorf("short defaults %+v, %v", o, err)
	}
}

// TestMissingDevice: a device that is asked for and not there is an error, one
// that is not asked for is left out.
func TestMissingDevice(t *testing.T) {
	opt := ListsOptions{Backend: "opencl", Device: "no device has this name", Short: true, docs: smallDocs, Orders: []Order{Uniform}, Queries: 10, Runs: 1,
		Layouts: []Layout{LayoutRaw}, Algorithms: []plan.Algorithm{plan.Auto}}
	if err := Lists(context.Background(), opt, io.Discard, io.Discard); !errors.Is(err, plan.ErrNoDevice) {
		t.Errorf("opencl: %v", err)
	}
	opt.Backend = "auto"
	var log bytes.Buffer
	if err := Lists(context.Background(), opt, io.Discard, &log); err != nil || !strings.Contains(log.String(), "opencl left out") {
		t.Errorf("auto: %v\n%s", err, &log)
	}
}

func TestJSONToStdout(t *testing.T) {
	var out, log bytes.Buffer
	if err := Decode(context.Background(), ListsOptions{Backend: "host", Short: true, Runs: 1, JSON: "-"}, &out, &log); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		if !json.Valid([]byte(line)) {
			t.Errorf("stdout has %q", line)
		}
	}
	if !strings.Contains(log.String(), "G ints/s") {
		t.Error("the table is not on stderr")
	}
}
