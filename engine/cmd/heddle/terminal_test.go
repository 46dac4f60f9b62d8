package main

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"heddle/config"
)

// TestLog: messages go to standard error in the form that was asked for, and do
// not touch the answers.
func TestLog(t *testing.T) {
	buildCollection(t)
	args := []string{"search", "c.hdl", "--query", "w0 w1", "--count"}
	quiet := must(t, args...)
	r := heddleWith(t, "", append(backendEnv(), "HEDDLE_LOG_FORMAT=json", "HEDDLE_LOG_LEVEL=info"), args...)
	if r.code != 0 || r.stdout != quiet || r.stderr == "" {
		t.Fatalf("%+v", r)
	}
	for line := range strings.Lines(r.stderr) {
		var m struct{ Level, Message, Time string }
		if err := json.Unmarshal([]byte(line), &m); err != nil || m.Level == "" || m.Message == "" || m.Time == "" {
			t.Errorf("line %q: %v", line, err)
		}
	}
	r = heddle(t, append(args, "--log-level", "info")...)
	if r.code != 0 || r.stdout != quiet || !strings.Contains(r.stderr, "INF") || strings.Contains(r.stderr, "\x1b") {
		t.Errorf("%+v", r)
	}
}

// TestLevels: every level of the configuration is one of the logger's.
func TestLevels(t *testing.T) {
	k, _ := config.Lookup("log.level")
	for _, level := range k.Values {
		if got := (&App{Stderr: os.Stderr}).logger(config.Log{Level: level, Format: "json"}).GetLevel().String(); got != level {
			t.Errorf("level %s becomes %s", level, got)
		}
	}
}

// TestNoProgress: where there is no terminal there is no bar, and that is fine.
func TestNoProgress(t *testing.T) {
	inTempDir(t)
	f, err := os.Create("err")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p := (&App{Stderr: f}).newProgress("working", unitBytes, 100, false)
	p.to(50)
	p.end()
	if st, err := f.Stat(); err != nil || st.Size() != 0 {
		t.Errorf("a bar was drawn into a file (%v)", err)
	}
}

// TestProgressUnit: a bar says what it counts.
func TestProgressUnit(t *testing.T) {
	for unit, want := range map[string]bool{unitValues: true, unitBytes: false} {
		for _, total := range []int64{0, 1 << 30} {
			var out bytes.Buffer
			p := newBar(&out, "working", unit, total)
			p.to(1 << 20)
			if got := out.String(); !strings.Contains(got, "working") || strings.Contains(got, " values/") != want {
				t.Errorf("a bar of %d %s: %q", total, unit, got)
			}
			p.end()
		}
	}
}
