package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"heddle/config"
)

// TestLog checks that messages go to standard error in the configured format and leave
// the answers unchanged.
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

// TestLevels checks that the logger knows every level of the configuration.
func TestLevels(t *testing.T) {
	k, _ := config.Lookup("log.level")
	for _, level := range k.Values {
		if got := (&App{Stderr: os.Stderr}).logger(config.Log{Level: level, Format: "json"}).GetLevel().String(); got != level {
			t.Errorf("level %s becomes %s", level, got)
		}
	}
}
