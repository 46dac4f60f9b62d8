//go:build !core

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"heddle/engine/bench/measure"
	"heddle/engine/plan/testneeds"
)

func TestBenchUsage(t *testing.T) {
	inTempDir(t)
	for _, test := range []struct{ args, message string }{
		{"bench list", `unknown command "list" (nearest: lists)`},
		{"bench lists now", `takes no argument`},
		{"bench lists --orders random", `unknown order "random"`},
		{"bench lists --sets GOV,GOW", `unknown collection "GOW" (one of GOV`},
		{"bench lists --themes 17", "--themes is from 1 to 16"},
		{"bench schedule --logs list", `unknown log "list" (one of lists, ranked)`},
		{"bench lists --layouts raw,zip", `unknown layout "zip"`},
		{"bench lists --algorithms hs16,hs17", `unknown algorithm "hs17"`},
		{"bench lists --runs -1", `cannot be negative`},
		{"bench lists --backend gpu", `flag --backend: "gpu" is not one of`},
		{"bench lists --figure ao-fig99", `unknown figure "ao-fig99" (one of ao-fig1`},
		{"bench lists --table ao-fig5", `unknown table "ao-fig5" (one of log`},
		{"bench decode --table log", `unknown table "log"`},
		{"bench decode --algorithms hs16", `unknown flag: --algorithms`},
		{"bench rank --table log", `unknown table "log" (one of gov2`},
		{"bench rank -k 0", `-k 0 is not from 1 to 10000`},
		{"bench rank --docs 10", `--docs 10 is less than 1000`},
		{"bench rank --codec bitset", `bitset is for dense lists`},
		{"bench bitmap --table log", `unknown table "log" (one of `},
		{"bench schedule --table log", `unknown table "log" (one of capacity`},
		{"bench schedule --docs 10", `--docs 10 is less than 1000`},
		{"bench export", `folder is missing`},
		{"bench papers", `file of rows or more is missing`},
		{"bench papers --run rows --machine a-b", `not of letters and digits`},
		{"bench papers --run rows --runs -1", `cannot be negative`},
		{"bench export --orders random d", `unknown order "random"`},
	} {
		t.Run(test.args, func(t *testing.T) {
			wantFailure(t, heddle(t, strings.Fields(test.args)...), exitUsage, test.message)
		})
	}
	wantFailure(t, heddleWith(t, "", []string{"HEDDLE_DEVICES_BACKEND=all"}, "bench", "lists", "--short"), exitUsage, "backend all is for search, calibrate and bitmap query")
	wantFailure(t, heddle(t, "demo", "--text", "none.gz"), exitFailure, "none.gz", "no such file")
	wantFailure(t, heddle(t, "demo", "now"), exitUsage, "takes no argument")
	if f := files(t); f != "" {
		t.Errorf("left behind: %s", f)
	}
}

// TestBenchExamples checks that the examples, which would run for a long time, are valid,
// and that an interrupt ends them at once.
func TestBenchExamples(t *testing.T) {
	testneeds.Long(t)
	inTempDir(t)
	if err := os.Mkdir("data", 0o777); err != nil { // named by an example
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range newBench(&App{}).Commands() {
		if c.Example == "" {
			t.Errorf("%s has no example", c.CommandPath())
		}
		for example := range strings.Lines(c.Example) {
			var stdout, stderr bytes.Buffer
			a := &App{Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr}
			code := a.Run(ctx, strings.Fields(example)[1:])
			if code != exitFailure || !strings.HasSuffix(stderr.String(), ": interrupted\n") {
				t.Errorf("%s: exit code %d, %s", strings.TrimSpace(example), code, stderr.String())
			}
		}
	}
}

// TestBenchMissingDevice checks that a missing device ends the run before any work, and
// that a file of rows stays as it was.
func TestBenchMissingDevice(t *testing.T) {
	inTempDir(t)
	if err := os.WriteFile("rows.jsonl", []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, bench := range []string{"lists", "decode", "rank", "bitmap", "schedule"} {
		r := heddle(t, "bench", bench, "--backend", "opencl", "--device", "no device has this name", "--json", "rows.jsonl")
		wantFailure(t, r, exitDevice, "no such device")
		if strings.Contains(r.stderr, "generated") || r.stdout != "" {
			t.Errorf("%+v", r)
		}
	}
	if left, err := os.ReadFile("rows.jsonl"); err != nil || string(left) != "old" || files(t) != "rows.jsonl" {
		t.Errorf("%q, %v; files %s", left, err, files(t))
	}
	wantFailure(t, heddle(t, "bench", "lists", "--real", "none"), exitFailure, "none: no such file or directory")
}

// TestBenchLists runs a few queries and reads the rows.
func TestBenchLists(t *testing.T) {
	if testing.Short() {
		t.Skip("generates a sixteenth of the workload")
	}
	inTempDir(t)
	r := heddleWith(t, "", nil, "bench", "lists", "--short", "--table", "log", "--backend", "host", "--orders", "uniform", "--layouts", "raw",
		"--algorithms", "bs,hs16", "--queries", "20", "--runs", "1", "--json", "rows.jsonl")
	if r.code != 0 || !strings.Contains(r.stdout, "raw/hs16") {
		t.Fatalf("%+v", r)
	}
	data, err := os.ReadFile("rows.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for line := range bytes.Lines(data) {
		var row measure.Row
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		seen[row.Row+" "+row.Metric] = row.Backend == "host" && row.Median > 0
	}
	if !seen["raw/hs16 throughput"] || !seen["raw/bs throughput"] {
		t.Errorf("rows %v", seen)
	}
}

// TestBenchPapers writes the page of the papers from rows of a figure.
func TestBenchPapers(t *testing.T) {
	inTempDir(t)
	row := `{"bench":"decode","workload":"w","row":"r","metric":"m","unit":"ratio","median":3,"min":3,"max":3,"runs":1,` +
		`"place":{"exhibit":"ao-fig7","panel":"all lists","series":"pfd","at":"10 %","x":10,"paper":1.5}}`
	if err := os.WriteFile("rows.jsonl", []byte(row), 0o666); err != nil {
		t.Fatal(err)
	}
	if r := heddle(t, "bench", "papers", "rows.jsonl", "--report", "page.md", "--plot", "figures"); r.code != 0 {
		t.Fatalf("%+v", r)
	}
	page, err := os.ReadFile("page.md")
	if err != nil || !strings.Contains(string(page), "(figures/ao-fig7-all-lists.svg)") || !strings.Contains(string(page), "2.00") {
		t.Errorf("%v\n%s", err, page)
	}
	if svg, err := os.ReadFile("figures/ao-fig7-all-lists.svg"); err != nil || !strings.Contains(string(svg), "<svg") {
		t.Errorf("%v: %.80s", err, svg)
	}
	wantFailure(t, heddle(t, "bench", "papers", "none.jsonl"), exitFailure, "none.jsonl")
}
