package main

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"heddle/engine/cmd/heddle/internal/report"
	"heddle/engine/internal/cost"
	"heddle/engine/plan/testneeds"
)

// TestCalibrate fits all kinds on the backend under test, and checks that search reads
// the file.
func TestCalibrate(t *testing.T) {
	testneeds.Long(t)
	buildCollection(t)
	out := must(t, "calibrate", "c.hdl", "--time", "1ms")
	for _, k := range cost.Kinds() {
		if !strings.Contains(out, "\n"+k.String()+" on ") && !strings.HasPrefix(out, k.String()+" on ") {
			t.Errorf("nothing of %q: %s", k, out)
		}
	}
	for _, want := range []string{"metric  R²", "\n* ", "  uboct ", "per docID of the second shortest list\n", " batches: error ", "\nwritten to c.hdl.cost\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q: %s", want, out)
		}
	}
	all := []string{"HEDDLE_DEVICES_BACKEND=all"}
	if r := heddleWith(t, "", all, "search", "c.hdl", "--query", "w0", "--count"); r.code != 0 || r.stderr != "" {
		t.Errorf("%v", r)
	}
	// A damaged file causes a warning, and calibrate replaces it.
	writeFile(t, "c.hdl.cost", "{")
	damaged := append(all, "HEDDLE_SCHEDULE_COSTS=c.hdl.cost")
	if r := heddleWith(t, "", damaged, "search", "c.hdl", "--query", "w0", "--count"); r.code != 0 || !strings.Contains(r.stderr, "c.hdl.cost: no costs of queries, or damaged ones") {
		t.Errorf("%v", r)
	}
	if left, err := os.ReadFile("c.hdl.cost"); err != nil || string(left) != "{" {
		t.Errorf("a search changed the damaged file: %q, %v", left, err)
	}
	again := heddle(t, "calibrate", "c.hdl", "--time", "1ms", "--json", "--metric", "uboc").stdout
	var r report.Costs
	if err := json.Unmarshal([]byte(again), &r); err != nil || r.Index != "c.hdl" || r.Costs != "c.hdl.cost" || len(r.Kinds) != len(cost.Kinds()) {
		t.Fatalf("%v: %s", err, again)
	}
	for _, k := range r.Kinds {
		for _, p := range k.Processors {
			if p.Processor == "" || p.Queries < 12 || p.Batches < 12 || p.BatchError <= 0 || len(p.Metrics) != 1 {
				t.Errorf("%s: %+v", k.Kind, p)
				continue
			}
			if m := p.Metrics[0]; m.Metric != "uboc" || !m.InUse || m.Corrected <= 0 || m.R2 < 0 || m.R2 > 1 || len(m.Coefficients) != 1 {
				t.Errorf("%s: %+v", k.Kind, m)
			}
		}
	}
	if r := heddleWith(t, "", all, "search", "c.hdl", "--query", "w0", "--count"); r.code != 0 || r.stderr != "" {
		t.Errorf("%v", r)
	}
}

// TestCalibrateUsage runs queries of a file and checks the errors.
func TestCalibrateUsage(t *testing.T) {
	testneeds.Long(t)
	buildCollection(t)
	must(t, "calibrate", "--help")
	queries := strings.Repeat(strings.Join(someQueries(), "\n")+"\n", 5)
	env := append(backendEnv(), "HEDDLE_SCHEDULE_COSTS=elsewhere.cost")
	r := heddleWith(t, queries, env, "calibrate", "c.hdl", "--queries", "-", "--time", "1ms")
	if r.code != 0 || r.stderr != "" || !strings.Contains(r.stdout, "written to elsewhere.cost") {
		t.Errorf("%v", r)
	}
	if names := strings.Fields(files(t)); slices.Contains(names, "c.hdl.cost") || !slices.Contains(names, "elsewhere.cost") {
		t.Errorf("there are %v", names)
	}
	if err := os.Remove("elsewhere.cost"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args, stdin string
		code        int
		says        string
	}{
		{"", "", exitUsage, "index file is missing"},
		{"c.hdl --time 0s", "", exitUsage, "--time 0s"},
		{"c.hdl --metric length", "", exitUsage, "length"},
		{"c.hdl --queries - --queries-format xml", "", exitUsage, "--queries-format"},
		{"none.hdl", "", exitFailure, "none.hdl"},
		{"c.hdl --queries -", "", exitFailure, "contains no query"},
		{"c.hdl --queries - --time 1ms", someQueries()[0] + "\n", exitFailure, "at least 12 are needed"},
	} {
		args := append([]string{"calibrate"}, strings.Fields(c.args)...)
		wantFailure(t, heddleWith(t, c.stdin, backendEnv(), args...), c.code, c.says)
	}
	r = heddleWith(t, `{"id":"a","text":"heaven"}`+"\n\n"+`{"id":"b","vector":{"earth":-1}}`+"\n", backendEnv(), "calibrate", "c.hdl", "--queries", "-")
	if r.code != exitCorrupt || r.stdout != "" || !strings.Contains(r.stderr, "-:3: ") {
		t.Errorf("%v", r)
	}
	if strings.Contains(files(t), ".cost") {
		t.Errorf("a failure wrote costs: %s", files(t))
	}
}
