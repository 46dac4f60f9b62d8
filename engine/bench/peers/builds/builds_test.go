package builds

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"heddle/engine/bench/measure"
)

// TestRun measures small inputs with heddle alone, twice, as before and now.
func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	dir := t.TempDir()
	heddle := filepath.Join(dir, "heddle")
	build := exec.Command("go", "build", "-o", heddle, "./engine/cmd/heddle")
	build.Dir = "../../../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	rows := filepath.Join(dir, "rows.jsonl")
	opt, err := Parse([]string{"--heddle", heddle + "," + heddle, "--work", filepath.Join(dir, "work"), "--workloads", "json-lines,csv",
		"--systems", "heddle before,heddle", "--lines", "100000", "--words", "1000", "--rows", "1000", "--runs", "2", "--json", rows})
	if err != nil {
		t.Fatal(err)
	}
	var out, log bytes.Buffer
	if err := Run(t.Context(), opt, &out, &log); err != nil {
		t.Fatalf("%v: %s", err, &log)
	}
	f, err := os.Open(rows)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := measure.ReadRows(f)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]float64{}
	for _, r := range all {
		if r.Metric == "files" {
			files[r.Workload+" "+r.Row] = r.Median
		}
		if r.Metric == "cpu" && (r.Runs != 2 || r.Median <= 0) {
			t.Errorf("%+v", r)
		}
	}
	for _, w := range []string{"json-lines", "csv"} {
		if a, b := files[w+" heddle before/build"], files[w+" heddle/build"]; a == 0 || a != b {
			t.Errorf("%s: the same program makes files of %v and %v bytes", w, a, b)
		}
	}
	if !strings.Contains(out.String(), "| heddle | IN 5000 |") {
		t.Errorf("the table is %s, the log %s", &out, &log)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "work", "*.hd?")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	opt.JSON, opt.Systems = "", []string{"heddle"} // writes no file of rows
	out.Reset()
	if err := Run(t.Context(), opt, &out, &log); err != nil || !strings.Contains(out.String(), "| heddle | IN 5000 |") {
		t.Errorf("without --json: %v, %s", err, &out)
	}
}

// TestLines: both files of an input have the same documents, whose words are different.
func TestLines(t *testing.T) {
	b := &bench{opt: Options{Work: t.TempDir(), Lines: 50_000, Words: 300}, log: new(bytes.Buffer)}
	paths, err := b.lines(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	asJSON, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	plain, err := os.ReadFile(paths[1])
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSpace(string(plain)), "\n")
	for i, line := range strings.Split(strings.TrimSpace(string(asJSON)), "\n") {
		var doc struct{ ID, Text string }
		if err := json.Unmarshal([]byte(line), &doc); err != nil || strings.TrimSpace(doc.ID+"\t"+doc.Text) != strings.TrimSpace(want[i]) {
			t.Fatalf("document %d is %q and %q, %v", i, line, want[i], err)
		}
	}
	if n := len(asJSON); n < 50_000 || n > 60_000 {
		t.Errorf("%d bytes of JSON lines", n)
	}
	seen := map[string]bool{}
	for i := range 100_000 {
		var w strings.Builder
		if appendWord(&w, i); seen[w.String()] {
			t.Fatalf("word %d is %q again", i, w.String())
		}
		seen[w.String()] = true
	}
}

func TestParse(t *testing.T) {
	for _, wrong := range [][]string{
		{}, {"--heddle", "a"}, {"--heddle", "a,b,c", "--work", "w"}, {"--heddle", "a", "--work", "w", "--runs", "0"},
		{"--heddle", "a", "--work", "w", "--workloads", "csvs"},
	} {
		if opt, err := Parse(wrong); err == nil {
			t.Errorf("%q gives %+v", wrong, opt)
		}
	}
	opt, err := Parse([]string{"--heddle", "a,b", "--work", "w"})
	if err != nil || opt.Runs != 3 || opt.Rows != 20_000_000 || len(opt.Workloads) != 4 || !filepath.IsAbs(opt.Work) {
		t.Errorf("%+v, %v", opt, err)
	}
}

// TestProcess: a failure names the command and the end of its messages, and a step keeps its answer.
func TestProcess(t *testing.T) {
	b := &bench{opt: Options{Work: t.TempDir(), Limit: 1 << 40}}
	f, err := b.process(t.Context(), one("version", false, "go", "version"))
	if err != nil || f.cpu <= 0 || !strings.HasPrefix(f.answer, "go version") {
		t.Errorf("%+v, %v", f, err)
	}
	if _, err := b.process(t.Context(), one("none", false, "go", "nonesuch")); err == nil || !strings.Contains(err.Error(), "go nonesuch") {
		t.Errorf("a failure is %v", err)
	}
}
