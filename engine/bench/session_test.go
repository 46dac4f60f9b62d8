package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heddle/cl"
	"heddle/codec"
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

// tiny is a workload that is measured in a moment.
func tiny() Options {
	return Options{Backend: "host", Short: true, docs: smallDocs, Orders: []Order{Uniform}, Queries: 60, Runs: 2,
		Layouts: []Layout{LayoutRaw, Layout(codec.ParaPFor)}, Algorithms: []plan.Algorithm{plan.HS16, plan.Auto}, Threshold: 5000,
		Sweep: []uint64{4 << 10, 8 << 10}, Docs: 20_000, Rows: 20_000}
}

func TestLog(t *testing.T) {
	opt := tiny()
	opt.Tables, opt.Peers = []string{"log"}, true
	opt.JSON = filepath.Join(t.TempDir(), "rows.json")
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
	// Four setups, and the peer beside the two layouts.
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

// TestRunDevice runs on an OpenCL device where there is one: its rows must have
// times, bytes and the share of the peak.
func TestRunDevice(t *testing.T) {
	if os.Getenv("HEDDLE_TEST_BACKEND") != "opencl" {
		t.Skip("HEDDLE_TEST_BACKEND is not opencl")
	}
	path := filepath.Join(t.TempDir(), "rows.json")
	opt := Options{Backend: "opencl", Device: os.Getenv("HEDDLE_TEST_DEVICE"), Short: true, docs: smallDocs, Orders: []Order{Uniform}, Queries: 60, Runs: 1,
		Layouts: []Layout{LayoutAuto}, Algorithms: []plan.Algorithm{plan.Auto}, JSON: path, Tables: []string{"log"}}
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
	if want := []string{"throughput", "response", "kernel", "upload", "download", "kernel throughput"}; !slices.Equal(metrics, want) {
		t.Errorf("metrics %v, want %v", metrics, want)
	}
}

// TestBenchTuning measures a device with the rows of a file.
func TestBenchTuning(t *testing.T) {
	if os.Getenv("HEDDLE_TEST_BACKEND") != "opencl" {
		t.Skip("HEDDLE_TEST_BACKEND is not opencl")
	}
	device := os.Getenv("HEDDLE_TEST_DEVICE")
	devices, err := cl.Devices(device)
	if err != nil || len(devices) == 0 {
		t.Fatal(devices, err)
	}
	row := devices[0].Tuning()
	row.Name, row.Match = "mine", nil
	var text bytes.Buffer
	if err := cl.WriteTuning(&text, row); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "tuning.toml")
	if err := os.WriteFile(path, text.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	s := &session{opt: Options{Backend: "opencl", Device: device, Tuning: path}, log: io.Discard}
	if err := s.meet(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := s.contestants[0].info.Tuning; got != "mine" {
		t.Errorf("row %q is in force", got)
	}
	if err := s.closeDevices(); err != nil {
		t.Error(err)
	}
}

func TestInts(t *testing.T) {
	opt := tiny()
	opt.Tables = []string{"ints"}
	opt.JSON = filepath.Join(t.TempDir(), "rows.json")
	var out bytes.Buffer
	if err := Decode(context.Background(), opt, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	codecs := len(encoders()) - 1 // no bitset
	rows := readRows(t, opt.JSON)
	if len(rows) != 2*codecs {
		t.Fatalf("%d rows", len(rows))
	}
	for _, r := range rows {
		if r.Bench != "decode" || r.Unit != "G ints/s" || r.Median <= 0 || r.Bytes == 0 || r.PeakFraction <= 0 {
			t.Errorf("row %+v", r)
		}
	}
}

func TestOptions(t *testing.T) {
	for _, bad := range []Options{{Backend: "cuda"}, {Runs: -1}, {Queries: -1}, {Threads: -1}} {
		if err := Lists(context.Background(), bad, io.Discard, io.Discard); err == nil {
			t.Errorf("%+v: no error", bad)
		}
	}
	if err := Lists(context.Background(), Options{JSON: filepath.Join(t.TempDir(), "no", "such")}, io.Discard, io.Discard); err == nil {
		t.Error("a JSON file in no folder: no error")
	}
	o, err := Options{}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	if o.queries("gpu") != gpuQueries || o.queries("cpu") != cpuQueries || len(o.thresholds("gpu")) != 11 || len(o.thresholds("cpu")) != 8 ||
		o.queriesAt("gpu", 0) != gpuQueries || o.queriesAt("gpu", 8<<10) != 4096 || o.queriesAt("gpu", 1<<20) != gpuQueries || o.themes() != MaxThemes {
		t.Errorf("defaults %+v", o)
	}
	if o, err = (Options{Short: true}).withDefaults(); err != nil || o.queries("gpu") != shortQueries || o.themes() != 1 || len(o.thresholds("gpu")) != 2 {
		t.Errorf("short defaults %+v, %v", o, err)
	}
}

// TestMissingDevice: a device that is asked for and not there is an error, one
// that is not asked for is left out.
func TestMissingDevice(t *testing.T) {
	opt := Options{Backend: "opencl", Device: "no device has this name", Short: true, docs: smallDocs, Orders: []Order{Uniform}, Queries: 10, Runs: 1,
		Layouts: []Layout{LayoutRaw}, Algorithms: []plan.Algorithm{plan.Auto}, Tables: []string{"log"}}
	var out bytes.Buffer
	opt.JSON = filepath.Join(t.TempDir(), "rows.json")
	if err := Lists(context.Background(), opt, &out, &out); !errors.Is(err, plan.ErrNoDevice) || out.Len() > 0 {
		t.Errorf("opencl: %v, and before that\n%s", err, &out)
	}
	if left, err := filepath.Glob(opt.JSON + "*"); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	opt.JSON = ""
	opt.Backend = "auto"
	var log bytes.Buffer
	if err := Lists(context.Background(), opt, io.Discard, &log); err != nil || !strings.Contains(log.String(), "opencl left out") {
		t.Errorf("auto: %v\n%s", err, &log)
	}
}

func TestJSONToStdout(t *testing.T) {
	opt := tiny()
	opt.Tables, opt.JSON = []string{"ao-table4"}, "-"
	var out, log bytes.Buffer
	if err := Lists(context.Background(), opt, &out, &log); err != nil {
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

// TestJSONFile: what lies at the path stays until the rows are complete; after an
// error it stays for good, and the rows so far are beside it.
func TestJSONFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.json")
	if err := os.WriteFile(path, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, failure := range []error{errors.New("stopped"), nil} {
		w, err := openRows(path, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.write(Row{Bench: "lists"}, Row{Bench: "decode"}); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != "old" {
			t.Fatalf("before the end: %q, %v", got, err)
		}
		if err := w.close(failure); !errors.Is(err, failure) {
			t.Fatalf("close: %v, want %v", err, failure)
		}
		done := path
		if failure != nil {
			done += unfinished
		}
		if rows := readRows(t, done); len(rows) != 2 || rows[1].Bench != "decode" {
			t.Fatalf("after %v: %+v", failure, rows)
		}
	}
	if _, err := os.Stat(path + unfinished); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the unfinished file: %v", err)
	}
}
