// Command report reads the output of `go test -json` and prints a line a package and the output of failed
// tests, each at once. It fails if a test fails, or if none runs.
//
//	go test -json PACKAGES | report RESULTS LABEL
//
// It appends the whole output to RESULTS/LABEL.log, and to RESULTS/LABEL.tsv a line a test: pass, fail or skip,
// the package, the name, and the reason of a skip, between tabs. A test with subtests counts as its subtests.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// event is a line of `go test -json` (go doc cmd/test2json).
type event struct {
	Action, Package, Test, Output string

	Elapsed float64 // seconds
}

type key struct{ pkg, test string } // no test: the package itself

// report follows the events of one command.
type report struct {
	label               string
	screen, log, record io.Writer
	output              map[key]*strings.Builder // output of the tests that run
	parents             map[key]bool             // the tests with subtests
	failed              map[key]bool             // the tests and packages of which a part failed
	passed, failures    int
}

func main() {
	ok, err := run(os.Args[1:], os.Stdin, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

func run(args []string, in io.Reader, screen io.Writer) (ok bool, err error) {
	if len(args) != 2 {
		return false, errors.New("usage: report RESULTS LABEL")
	}
	var files [2]*os.File
	for i, ext := range []string{".log", ".tsv"} {
		files[i], err = os.OpenFile(filepath.Join(args[0], args[1]+ext), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			return false, err
		}
		defer files[i].Close()
	}
	r := newReport(args[1], screen, files[0], files[1])
	for lines := bufio.NewReader(in); ; {
		line, err := lines.ReadString('\n')
		r.line(line)
		if err == io.EOF {
			return r.passed > 0 && r.failures == 0, nil
		} else if err != nil {
			return false, err
		}
	}
}

func newReport(label string, screen, log, record io.Writer) *report {
	return &report{label: label, screen: screen, log: log, record: record,
		output: map[key]*strings.Builder{}, parents: map[key]bool{}, failed: map[key]bool{}}
}

func (r *report) line(line string) {
	var e event
	if !strings.HasPrefix(line, "{") || json.Unmarshal([]byte(line), &e) != nil {
		e = event{Action: "build-output", Output: line} // output of the go tool itself
	}
	k := key{e.Package, e.Test}
	switch e.Action {
	case "build-output":
		fmt.Fprint(r.log, e.Output)
		fmt.Fprint(r.screen, e.Output)
	case "output":
		fmt.Fprint(r.log, e.Output)
		if r.output[k] == nil {
			r.output[k] = &strings.Builder{}
		}
		r.output[k].WriteString(e.Output)
	case "pass", "fail", "skip":
		out := ""
		if b := r.output[k]; b != nil {
			out = b.String()
		}
		delete(r.output, k)
		if e.Test != "" {
			r.test(k, e.Action, out)
		} else {
			r.pkg(k, e, out)
		}
	}
}

// test records the end of a test. Its subtests have ended before.
func (r *report) test(k key, action, out string) {
	up := key{pkg: k.pkg}
	if i := strings.LastIndexByte(k.test, '/'); i >= 0 {
		up.test = k.test[:i]
	}
	r.parents[up] = true
	own := !r.parents[k] || action == "fail" && !r.failed[k] // a failure of the parent alone counts
	if action == "fail" {
		r.failed[up] = true
		fmt.Fprintf(r.screen, "FAIL  %s  %s %s\n%s", r.label, k.pkg, k.test, out)
	}
	if own {
		r.count(k, action, out)
	}
}

// pkg prints the end of a package, and nothing if it has no tests.
func (r *report) pkg(k key, e event, out string) {
	switch {
	case e.Action == "fail":
		text := fmt.Sprintf("FAIL  %s  %s  %.1fs\n", r.label, k.pkg, e.Elapsed)
		died := false // the process, within a test: by a fault or at the time-out
		for running, b := range r.output {
			if running.pkg == k.pkg {
				text, died = text+b.String(), true
			}
		}
		if died || !r.failed[k] { // or it did not build
			text += out
			r.count(key{k.pkg, "(package)"}, "fail", "")
		}
		fmt.Fprint(r.screen, text)
	case e.Action == "pass" && r.parents[k]:
		cached := ""
		if strings.Contains(out, "(cached)") {
			cached = " (cached)"
		}
		fmt.Fprintf(r.screen, "ok    %s  %s  %.1fs%s\n", r.label, k.pkg, e.Elapsed, cached)
	}
}

var location = regexp.MustCompile(`(?m)^\s+\S+\.go:\d+: (.+)$`)

// count records a result. The reason of a skip is the last line that the test has logged.
func (r *report) count(k key, action, out string) {
	reason := ""
	switch action {
	case "pass":
		r.passed++
	case "fail":
		r.failures++
	case "skip":
		reason = "no reason given"
		if lines := location.FindAllStringSubmatch(out, -1); lines != nil {
			reason = lines[len(lines)-1][1]
		}
	}
	fmt.Fprintf(r.record, "%s\t%s\t%s\t%s\n", action, k.pkg, k.test, reason)
}
