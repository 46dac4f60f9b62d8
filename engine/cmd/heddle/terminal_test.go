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

// TestControlCharacters checks that control characters in names, terms, texts and column names
// reach standard output and standard error only as escapes.
func TestControlCharacters(t *testing.T) {
	inTempDir(t)
	evil := "\x1b[2J\u202e\u009b"
	inJSON := `\u001b[2J\u202e\u009b`
	writeFile(t, "d.jsonl", `{"id":"a`+inJSON+`","text":"loom `+inJSON+`"}`+"\n")
	writeFile(t, "v.jsonl", `{"id":"a`+inJSON+`","vector":{"loom`+inJSON+`":1}}`+"\n")
	writeFile(t, "c.csv", "x"+evil+",y\nb"+evil+",1\n")
	writeFile(t, "q.tsv", "q"+evil+"\tloom"+evil+"\nr"+evil+"\t\"x"+evil+"\n")
	writeFile(t, "run.txt", "q"+evil+" Q0 d 1 1 tag\n")
	writeFile(t, "qrels.txt", "q"+evil+" 0 d 1\n")
	must(t, "index", "build", "-o", "d.hdl", "--store", "text", "d.jsonl")
	must(t, "index", "build", "-o", "v.hdl", "v.jsonl")
	must(t, "bitmap", "build", "-o", "c.hdb", "c.csv")
	for _, args := range [][]string{
		{"search", "d.hdl", "--query", "loom"}, {"search", "d.hdl", "--query", "loom", "--all"}, {"search", "d.hdl", "--query", "loom", "--explain"},
		{"search", "d.hdl", "--query", "loom", "--format", "tsv"}, {"search", "d.hdl", "--query", "loom", "--format", "trec"},
		{"search", "v.hdl", "--queries", "q.tsv"}, {"search", "v.hdl", "--queries", "q.tsv", "--count", "--explain"}, {"search", "v.hdl", "--query", "nosuch" + evil},
		{"index", "dump", "v.hdl"}, {"index", "dump", "d.hdl", "--doc", "0"}, {"index", "dump", "d.hdl", "--term", evil}, {"index", "info", "v.hdl"},
		{"bitmap", "info", "c.hdb"}, {"bitmap", "query", "c.hdb", "--where", "nosuch" + evil}, {"bitmap", "query", "c.hdb", "--where", "y = 'a'", "--explain"},
		{"eval", "run.txt", "qrels.txt", "-q"}, {"search", "none" + evil, "--query", "a"}, {"search" + evil}, {"search", "--flag" + evil},
	} {
		r := heddle(t, args...)
		for _, text := range []string{r.stdout, r.stderr} {
			if strings.ContainsAny(text, "\x1b\u202e\u009b") {
				t.Errorf("%q prints %q", args, text)
			}
		}
		if r.stdout+r.stderr == "" {
			t.Errorf("%q prints nothing", args)
		}
	}
	if got := must(t, "search", "d.hdl", "--query", "loom", "--all"); got != `a\x1b[2J\u202e\u009b`+"\n" {
		t.Errorf("a name becomes %q", got)
	}
}
