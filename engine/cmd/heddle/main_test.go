package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// asCommand makes this test binary behave as the command itself, for tests of
// what only a process has: signals, exit, start-up.
const asCommand = "HEDDLE_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) == "1" {
		main()
	}
	os.Exit(m.Run())
}

// process prepares the command as a process of its own.
func process(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), processEnv()...)
	return cmd
}

// processEnv is what a process needs on top of the environment.
func processEnv() []string {
	// The race detector's runtime would sleep for a second at exit.
	return append(backendEnv(), asCommand+"=1", "GORACE=atexit_sleep_ms=0")
}

// result of a run of the command.
type result struct {
	code           int
	stdout, stderr string
}

// heddle runs the command in process with the backend under test.
func heddle(t *testing.T, args ...string) result {
	t.Helper()
	return heddleWith(t, "", backendEnv(), args...)
}

func heddleWith(t *testing.T, stdin string, environ []string, args ...string) result {
	t.Helper()
	var out, err bytes.Buffer
	a := &App{Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &err, Environ: environ}
	code := a.Run(t.Context(), args)
	return result{code, out.String(), err.String()}
}

// must runs the command and fails unless it succeeds in silence.
func must(t *testing.T, args ...string) string {
	t.Helper()
	r := heddle(t, args...)
	if r.code != 0 || r.stderr != "" {
		t.Fatalf("heddle %s: exit code %d\n%s", strings.Join(args, " "), r.code, r.stderr)
	}
	return r.stdout
}

// wantFailure checks the exit code and that one line, which contains every part
// of the message, is all that was said.
func wantFailure(t *testing.T, r result, code int, message ...string) {
	t.Helper()
	if r.code != code {
		t.Errorf("exit code %d, want %d", r.code, code)
	}
	if r.stdout != "" {
		t.Errorf("a failure wrote to standard output: %q", r.stdout)
	}
	if strings.Count(r.stderr, "\n") != 1 || !strings.HasSuffix(r.stderr, "\n") {
		t.Errorf("not one line: %q", r.stderr)
	}
	for _, m := range message {
		if !strings.Contains(r.stderr, m) {
			t.Errorf("no %q in %q", m, r.stderr)
		}
	}
}

// backendEnv sets the backend under test: HEDDLE_TEST_BACKEND, HEDDLE_TEST_DEVICE.
func backendEnv() []string {
	backend := os.Getenv("HEDDLE_TEST_BACKEND")
	if backend == "" {
		backend = "host"
	}
	env := []string{"HEDDLE_DEVICES_BACKEND=" + backend}
	if device := os.Getenv("HEDDLE_TEST_DEVICE"); device != "" && backend == "opencl" {
		env = append(env, "HEDDLE_DEVICES_DEVICE="+device)
	}
	return env
}

// inTempDir makes an empty working directory for the test.
func inTempDir(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
}

func writeFile(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// files lists what lies in the working directory, hidden files too.
func files(t *testing.T) string {
	t.Helper()
	names, err := filepath.Glob("*")
	if err != nil {
		t.Fatal(err)
	}
	hidden, err := filepath.Glob(".*")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(append(names, hidden...), " ")
}

// collection is documents with known words: word "wN" is in a document with a
// probability that falls with N. Some words stand twice.
type collection struct {
	names []string
	words [][]string
}

func makeCollection(docs int) *collection {
	r := rand.New(rand.NewPCG(1, 2))
	c := &collection{}
	for d := range docs {
		var words []string
		for n := range 30 {
			if r.Float64() < 0.9/float64(n+1) {
				for range 1 + d%2 {
					words = append(words, fmt.Sprintf("w%d", n))
				}
			}
		}
		c.names = append(c.names, fmt.Sprintf("doc-%d", d))
		c.words = append(c.words, words)
	}
	return c
}

func (c *collection) text() string {
	var b strings.Builder
	for d, name := range c.names {
		fmt.Fprintf(&b, "%s\t%s\n", name, strings.Join(c.words[d], " "))
	}
	return b.String()
}

// freq is how often a document has a word.
func (c *collection) freq(d int, word string) (n int) {
	for _, w := range c.words[d] {
		if w == word {
			n++
		}
	}
	return n
}

// matches are the documents that have every word of a query.
func (c *collection) matches(query string) (docs []int) {
	words := strings.Fields(query)
next:
	for d := range c.names {
		for _, w := range words {
			if c.freq(d, w) == 0 {
				continue next
			}
		}
		if len(words) > 0 {
			docs = append(docs, d)
		}
	}
	return docs
}

// buildCollection indexes a collection as c.hdl in a new working directory.
func buildCollection(t *testing.T) *collection {
	t.Helper()
	inTempDir(t)
	c := makeCollection(700)
	writeFile(t, "c.tsv", c.text())
	must(t, "index", "build", "-o", "c.hdl", "c.tsv")
	return c
}
