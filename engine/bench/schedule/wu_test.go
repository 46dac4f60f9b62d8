package schedule

import (
	"io"
	"math"
	"strings"
	"testing"

	"heddle/engine/bench/harness"
	"heddle/engine/bench/harness/harnesstest"
	"heddle/engine/plan/testneeds"
)

// TestWuOnDevice: exhibits that compare a device with the host, or with itself, have
// rows.
func TestWuOnDevice(t *testing.T) {
	device := testneeds.Device(t)
	testneeds.OneCaller(t)
	opt := harnesstest.Tiny()
	opt.Backend, opt.Device, opt.Runs, opt.Threshold = "opencl", device, 1, 0
	opt.JSON, opt.Plot = t.TempDir()+"/rows.json", t.TempDir()
	wuExhibits := newWu(harness.NewLogBench(new(harness.Runner))).exhibits()
	for _, e := range wuExhibits {
		if e.IsFigure() {
			opt.Figures = append(opt.Figures, e.Name)
		} else {
			opt.Tables = append(opt.Tables, e.Name)
		}
	}
	var log strings.Builder
	if err := Family.Run(t.Context(), opt, io.Discard, &log); err != nil {
		t.Fatalf("%v\n%s", err, &log)
	}
	shares, seen, rows := make(map[string]float64), make(map[string]int), make(map[string]bool)
	for _, r := range harnesstest.ReadRows(t, opt.JSON) {
		if key := r.Row + r.Metric + r.Device; rows[key] {
			t.Errorf("two rows of %+v", r)
		} else {
			rows[key] = true
		}
		exhibit, _, _ := strings.Cut(r.Row, " ")
		seen[exhibit]++
		switch r.Metric {
		case "share of queries":
			if exhibit == "wu-fig9" {
				exhibit, _, _ = strings.Cut(r.Row, " host less")
			}
			shares[exhibit] += r.Median
		case "throughput":
			if r.Median <= 0 || r.Device == "" {
				t.Errorf("row %+v", r)
			}
		case "kernels", "transfers", "preparation": // one device or both
			shares[r.Metric] += r.Median
		}
	}
	for _, e := range wuExhibits {
		if seen[e.Name] == 0 {
			t.Errorf("%s: no row", e.Name)
		}
	}
	for _, part := range []string{"kernels", "transfers", "preparation"} {
		if shares[part] <= 0 {
			t.Errorf("no time of %s", part)
		}
	}
	// One device answers all queries, two share them; both for two values of B.
	for name, want := range map[string]float64{"wu-fig9 bs": 100, "wu-fig9 auto": 100, "wu-fig9 host segstep and device bs": 100, "wu-table2": 400} {
		if got := shares[name]; math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %v %% of the queries, want %v (%v)", name, got, want, shares)
		}
	}
}
