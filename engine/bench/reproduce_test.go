package bench

import (
	"bytes"
	"context"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heddle/engine/bench/harness"
	"heddle/engine/bench/harness/harnesstest"
	"heddle/engine/bench/measure"
)

// TestSteps: the steps have every exhibit of the papers, once.
func TestSteps(t *testing.T) {
	var want, got []string
	for _, e := range Exhibits() {
		if slices.ContainsFunc([]string{"Ao et al. 2011", "Wu et al. 2010", "Ding et al. 2009", "Nelson et al. 2020"}, func(p string) bool { return strings.HasPrefix(e.Source, p) }) {
			want = append(want, e.Name)
		}
	}
	for _, s := range steps {
		for _, name := range strings.Fields(s.exhibits) {
			got = append(got, name)
			opt := harness.Options{Figures: []string{name}}
			if !strings.Contains(name, "-fig") {
				opt = harness.Options{Tables: []string{name}}
			}
			if err := s.family.Check(opt); err != nil {
				t.Error(err)
			}
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("steps have %v, want %v", got, want)
	}
}

// TestRequest: a folder holds the rows of one commit, machine and set of options, and keeps the
// date on which it was begun.
func TestRequest(t *testing.T) {
	dir := t.TempDir()
	first := request{"2026-11-29", "abc", "h200", harness.Options{Runs: 5}}
	if got, err := begin(dir, first); err != nil || got.Begun != first.Begun {
		t.Fatal(got, err)
	}
	later := first
	later.Begun = "2026-11-30"
	if got, err := begin(dir, later); err != nil || got.Begun != first.Begun {
		t.Error(got, err)
	}
	for _, other := range []request{{"2026-11-29", "abd", "h200", first.Options}, {"2026-11-29", "abc", "h100", first.Options}, {"2026-11-29", "abc", "h200", harness.Options{Runs: 4}}} {
		if _, err := begin(dir, other); err == nil || !strings.Contains(err.Error(), "name another folder") {
			t.Errorf("%+v: %v", other, err)
		}
	}
}

// TestReproduce measures all exhibits of the papers in a tiny form, on the device of the tests
// if there is one. An interrupt behind the first part leaves its rows, which the next call keeps.
func TestReproduce(t *testing.T) {
	if os.Getenv("HEDDLE_TEST_FULL") == "" {
		t.Skip("takes ten seconds, with a device minutes: set HEDDLE_TEST_FULL=1")
	}
	opt := harnesstest.Tiny()
	if device := os.Getenv("HEDDLE_TEST_DEVICE"); device != "" {
		opt.Backend, opt.Device = "auto", device
	}
	opt.Threshold, opt.Runs, opt.Queries = 0, 1, 40
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	interrupt := writerFunc(func(p []byte) {
		if bytes.HasPrefix(p, []byte("part 2 ")) {
			cancel()
		}
	})
	if _, err := Reproduce(ctx, dir, "abc1234", "here", opt, io.Discard, interrupt); err == nil {
		t.Fatal("no interrupt")
	}
	kept := stamps(t, dir)
	if len(kept) == 0 {
		t.Fatal("an interrupted run keeps nothing")
	}
	var log bytes.Buffer
	path, err := Reproduce(t.Context(), dir, "abc1234", "here", opt, io.Discard, &log)
	if err != nil {
		t.Fatalf("%v\n%s", err, &log)
	}
	all := stamps(t, dir)
	for name, stamp := range kept {
		if all[name] != stamp {
			t.Errorf("%s was measured again", name)
		}
	}
	t.Logf("%d parts, %d of them kept", len(all), len(kept))
	for _, s := range steps {
		for _, name := range strings.Fields(s.exhibits) {
			if !slices.ContainsFunc(slices.Collect(maps.Keys(all)), func(part string) bool { return part == name+".jsonl" || strings.HasPrefix(part, name+"-") }) {
				t.Errorf("%s has no part", name)
			}
		}
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := measure.ReadRows(f)
	if err != nil {
		t.Fatal(err)
	}
	page, err := harness.Papers(Exhibits(), []harness.Recorded{{Name: filepath.Base(path), Rows: rows}}, "plots")
	if err != nil || !bytes.Contains(page.Text, []byte("Measured: abc1234 here;")) {
		t.Errorf("%v\n%.2000s", err, page.Text)
	}
	if opt.Backend == "auto" && bytes.Contains(page.Text, []byte("\nNot recorded.\n")) {
		t.Error("an exhibit is not recorded")
	}
}

// stamps returns the times of the parts of a folder by name.
func stamps(t *testing.T, dir string) map[string]int64 {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "parts", "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]int64)
	for _, path := range files {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(path)] = info.ModTime().UnixNano()
	}
	return all
}

type writerFunc func(p []byte)

func (f writerFunc) Write(p []byte) (int, error) { f(p); return len(p), nil }
