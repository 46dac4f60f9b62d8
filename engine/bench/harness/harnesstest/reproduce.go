package harnesstest

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heddle/engine/bench/benchtest"
	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
	"heddle/engine/plan/testneeds"
)

// Reproduce runs all exhibits of a family on the host with a tiny workload. Each
// exhibit must have complete rows, a section in the report, and pictures. The exhibits
// in others need a device or a foreign program, and must have no figures.
func Reproduce(t *testing.T, f harness.Family, others ...string) {
	t.Helper()
	testneeds.Long(t)
	dir := t.TempDir()
	opt := Tiny()
	opt.Threshold, opt.Peers, opt.Runs, opt.Real = 0, true, 1, benchtest.Data(t)
	opt.JSON, opt.Plot, opt.Report = filepath.Join(dir, "rows.json"), filepath.Join(dir, "plots"), filepath.Join(dir, "report.md")
	var out, log bytes.Buffer
	if err := f.Run(t.Context(), opt, &out, &log); err != nil {
		t.Fatalf("%v\n%s", err, &log)
	}
	for _, r := range ReadRows(t, opt.JSON) {
		if r.Bench != f.Name || r.Workload == "" || r.Row == "" || r.Metric == "" || r.Unit == "" || r.Runs < 1 ||
			!(r.Min <= r.Median && r.Median <= r.Max) || (r.Baseline == "") != (r.Ratio == 0) {
			t.Errorf("row %+v", r)
		}
	}
	report, err := os.ReadFile(opt.Report)
	if err != nil {
		t.Fatal(err)
	}
	exhibits := f.Exhibits(new(harness.Runner))
	sections := strings.Split(string(report), "\n## ")
	if len(sections) != len(exhibits)+1 {
		t.Fatalf("%d sections for %d exhibits", len(sections)-1, len(exhibits))
	}
	for i, e := range exhibits {
		section, onHost := sections[i+1], !slices.Contains(others, e.Name)
		if !strings.HasPrefix(section, e.Heading()+"\n") {
			t.Errorf("section %d is %.50q, want %s", i, section, e.Name)
		}
		if onHost == strings.Contains(section, "Nothing of this could be measured") {
			t.Errorf("%s: on the host\n%s", e.Name, section)
		}
		if strings.Contains(section, "NaN") || strings.Contains(section, "Inf") {
			t.Errorf("%s: not a number\n%s", e.Name, section)
		}
		if e.IsFigure() && onHost && (strings.Contains(section, ".svg)") || !strings.Contains(section, "not published")) { // a busy machine spreads all figures
			benchtest.CheckPictures(t, dir, section)
		}
	}
	for _, left := range []string{opt.JSON, opt.Report} {
		if _, err := os.Stat(left + measure.Unfinished); err == nil {
			t.Errorf("%s%s is left behind", left, measure.Unfinished)
		}
	}
}
