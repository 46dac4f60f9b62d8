package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"heddle/engine/cmd/heddle/internal/machine"
	"heddle/engine/plan/testneeds"
)

// asCommand is the variable that makes this test binary run as the command, for tests of
// signals, exit codes and start-up.
const asCommand = "HEDDLE_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) == "1" {
		main()
	}
	os.Exit(m.Run())
}

// isCore tells that the command is built with the tag core.
var isCore = valueFormats["parquet"] == nil

// needsAll skips a test of what the core lacks.
func needsAll(t *testing.T) {
	t.Helper()
	if isCore {
		t.Skip("the core lacks it")
	}
}

// process prepares the command as a separate process.
func process(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), processEnv()...)
	return cmd
}

// processEnv returns the additional environment of a process.
func processEnv() []string {
	// The race detector's runtime would sleep for a second at exit.
	return append(backendEnv(), asCommand+"=1", "GORACE=atexit_sleep_ms=0")
}

// result is the result of one run of the command.
type result struct {
	code           int
	stdout, stderr string
}

// heddle runs the command in this process with the backend under test.
func heddle(t *testing.T, args ...string) result {
	t.Helper()
	return heddleWith(t, "", backendEnv(), args...)
}

func heddleWith(t *testing.T, stdin string, environ []string, args ...string) result {
	t.Helper()
	var out, err bytes.Buffer
	a := &App{Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &err, Machine: machine.Machine{Environ: environ}}
	code := a.Run(t.Context(), args)
	return result{code, out.String(), err.String()}
}

// note matches a line that names the unknown terms of a query without documents.
var note = regexp.MustCompile(`(?m)^query .*: (in no document: .*|no word is left; .*|the query is empty)\n`)

// must runs the command and fails the test unless it succeeds without messages, except for
// notes.
func must(t *testing.T, args ...string) string {
	t.Helper()
	r := heddle(t, args...)
	if r.code != 0 || note.ReplaceAllString(r.stderr, "") != "" {
		t.Fatalf("heddle %s: exit code %d\n%s", strings.Join(args, " "), r.code, r.stderr)
	}
	return r.stdout
}

// wantFailure checks the exit code, and that the output is one line on standard error
// that contains all parts of the message.
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

// onBackend is true while a test runs the command on the backend under test, and onDevice while a
// test chooses the device by flags.
var onBackend, onDevice bool

// useBackend makes the test run the command on the backend under test. Without it, a test runs
// the command on the host, because each run would open the device again.
func useBackend(t *testing.T) {
	testneeds.Sequential(t) // one command at a time
	onBackend = true
	t.Cleanup(func() { onBackend = false })
}

// useDevice skips a test without a device, and returns a part of the device's name.
func useDevice(t *testing.T) string {
	device := testneeds.Device(t)
	chooseDevice(t)
	return device
}

// chooseDevice makes a test run on the host and on a device: it chooses the device by flags.
func chooseDevice(t *testing.T) {
	onDevice = true
	t.Cleanup(func() { onDevice = false })
}

// backendEnv returns the variables that select the backend.
func backendEnv() []string {
	if !onBackend {
		return []string{"HEDDLE_DEVICES_BACKEND=host"}
	}
	backend, device := testneeds.Backend()
	env := []string{"HEDDLE_DEVICES_BACKEND=" + backend}
	if device != "" {
		env = append(env, "HEDDLE_DEVICES_DEVICE="+device)
	}
	return env
}

// inTempDir changes to an empty working directory. On a device, it skips a test that runs the
// command on the host.
func inTempDir(t *testing.T) {
	t.Helper()
	if !onBackend && !onDevice {
		testneeds.Host(t)
	}
	t.Chdir(t.TempDir())
}

func writeFile(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// files lists the working directory with hidden files.
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

// corpus is a set of documents with known words: the probability of word "wN" falls
// with N. Some words occur twice.
type corpus struct {
	names []string
	words [][]string
}

func makeCorpus(docs int) *corpus {
	r := rand.New(rand.NewPCG(1, 2))
	c := &corpus{}
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

func (c *corpus) text() string {
	var b strings.Builder
	for d, name := range c.names {
		fmt.Fprintf(&b, "%s\t%s\n", name, strings.Join(c.words[d], " "))
	}
	return b.String()
}

// freq returns the number of occurrences of a word in a document.
func (c *corpus) freq(d int, word string) (n int) {
	for _, w := range c.words[d] {
		if w == word {
			n++
		}
	}
	return n
}

// matches returns the documents with all words of a query.
func (c *corpus) matches(query string) (docs []int) {
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
func buildCollection(t *testing.T) *corpus {
	t.Helper()
	inTempDir(t)
	c := makeCorpus(700)
	writeFile(t, "c.tsv", c.text())
	must(t, "index", "build", "-o", "c.hdl", "c.tsv")
	return c
}
