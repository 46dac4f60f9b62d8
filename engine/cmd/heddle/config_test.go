package main

import (
	"encoding/json"
	"strings"
	"testing"

	"heddle/config"
	"heddle/engine/cmd/heddle/internal/flags"
	"heddle/engine/plan/testneeds"
)

func TestConfigPrint(t *testing.T) {
	inTempDir(t)
	writeFile(t, "h.toml", "[search]\nk = 3\nformat = \"tsv\"\n[index]\nstem = \"english\"\n")
	env := []string{"HEDDLE_CONFIG=h.toml", "HEDDLE_SEARCH_FORMAT=jsonl", "HEDDLE_INDEX_STEM=none"}
	r := heddleWith(t, "", env, "config", "print", "--stem", "english", "--profiling")
	if r.code != 0 || r.stderr != "" {
		t.Fatalf("%+v", r)
	}
	for _, line := range []string{
		"k = 3  # h.toml:2\n",
		"format = \"jsonl\"  # environment HEDDLE_SEARCH_FORMAT\n",
		"stem = \"english\"  # flag --stem\n",
		"profiling = true  # flag --profiling\n",
		"mode = \"or\"  # default\n",
	} {
		if !strings.Contains(r.stdout, line) {
			t.Errorf("no line %q in\n%s", line, r.stdout)
		}
	}

	// The output is a configuration file with the same values.
	writeFile(t, "again.toml", r.stdout)
	again := heddleWith(t, "", nil, "config", "print", "--config", "again.toml")
	strip := func(s string) (lines []string) {
		for line := range strings.Lines(s) {
			setting, _, _ := strings.Cut(line, "  # ")
			lines = append(lines, strings.TrimSpace(setting))
		}
		return lines
	}
	if got, want := strings.Join(strip(again.stdout), "\n"), strings.Join(strip(r.stdout), "\n"); got != want || got == "" {
		t.Errorf("printed\n%s\nand read back\n%s", want, got)
	}

	var all map[string]struct {
		Value  any
		Origin string
	}
	r = heddleWith(t, "", env, "config", "print", "--json")
	if err := json.Unmarshal([]byte(r.stdout), &all); err != nil {
		t.Fatal(err)
	}
	if len(all) != len(config.Keys()) {
		t.Errorf("%d keys in JSON, want %d", len(all), len(config.Keys()))
	}
	if k := all["search.k"]; k.Value != 3.0 || k.Origin != "h.toml:2" {
		t.Errorf("search.k is %+v", k)
	}
}

// TestConfigPrintTakesEveryFlag checks that config print accepts every flag that sets a
// key.
func TestConfigPrintTakesEveryFlag(t *testing.T) {
	testneeds.Sequential(t)
	takes := newConfigPrint(&App{}).Flags()
	for _, name := range flags.Keys() {
		arg := "--" + name + "=" + takes.Lookup(name).DefValue
		if out := must(t, "config", "print", arg); !strings.Contains(out, "  # flag --"+name+"\n") {
			t.Errorf("config print %s does not show the flag:\n%s", arg, out)
		}
	}
}

func TestConfigErrors(t *testing.T) {
	inTempDir(t)
	writeFile(t, "bad.toml", "[devices]\nbakend = \"host\"\n")
	wantFailure(t, heddle(t, "config", "print", "--config", "bad.toml"), exitUsage,
		`bad.toml:2:1: unknown key "devices.bakend" (nearest: "devices.backend")`)
	wantFailure(t, heddle(t, "search", "x.hdl", "--query", "a", "--config", "bad.toml"), exitUsage, `bad.toml:2:1`)
	wantFailure(t, heddleWith(t, "", []string{"HEDDLE_CONFIG=bad.toml"}, "config", "print"), exitUsage, `bad.toml:2:1`)
	wantFailure(t, heddleWith(t, "", []string{"HEDDLE_SEARCH_KK=1"}, "config", "print"), exitUsage,
		`environment HEDDLE_SEARCH_KK: unknown variable (nearest: HEDDLE_SEARCH_K)`)
	// A file on the command line overrides the file of the environment.
	writeFile(t, "good.toml", "")
	if r := heddleWith(t, "", []string{"HEDDLE_CONFIG=bad.toml"}, "config", "print", "--config", "good.toml"); r.code != 0 {
		t.Errorf("%+v", r)
	}
}
