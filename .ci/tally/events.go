package main

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// event is one line of `go test -json` (go doc cmd/test2json).
type event struct {
	Action     string
	Package    string
	ImportPath string // of build output
	Test       string
	Output     string
	Elapsed    float64
}

// events follows a stream of events. Output is kept by test until the test
// ends, and shown only if it failed.
type events struct {
	log, screen io.Writer
	output      map[key]*strings.Builder
	results     []result
	counts      map[string]*[3]int // by package: passed, failed, skipped
	costs       []result           // CPU time by package
}

type key struct{ pkg, test string }

func newEvents(log, screen io.Writer) *events {
	return &events{log: log, screen: screen, output: map[key]*strings.Builder{}, counts: map[string]*[3]int{}}
}

func (e *events) line(line []byte) {
	if len(line) == 0 {
		return
	}
	var v event
	if line[0] != '{' || json.Unmarshal(line, &v) != nil {
		// A line that is no event comes from the go tool itself.
		fmt.Fprintf(e.log, "%s", line)
		fmt.Fprintf(e.screen, "  %s", line)
		return
	}
	k := key{v.Package, v.Test}
	switch v.Action {
	case "build-output":
		fmt.Fprint(e.log, v.Output)
		fmt.Fprintf(e.screen, "  %s", v.Output)
	case "output":
		fmt.Fprint(e.log, v.Output)
		if c, ok := cost(v.Package, v.Output); ok {
			e.costs = append(e.costs, c)
			return
		}
		if e.output[k] == nil {
			e.output[k] = &strings.Builder{}
		}
		e.output[k].WriteString(v.Output)
	case "pass", "fail", "skip":
		e.end(k, v)
		delete(e.output, k)
	}
}

func (e *events) end(k key, v event) {
	out := ""
	if b := e.output[k]; b != nil {
		out = b.String()
	}
	n := e.counts[v.Package]
	if n == nil {
		n = &[3]int{}
		e.counts[v.Package] = n
	}
	if v.Test != "" {
		r := result{Action: v.Action, Package: v.Package, Test: v.Test, Elapsed: v.Elapsed}
		switch v.Action {
		case "pass":
			n[0]++
		case "fail":
			n[1]++
			fmt.Fprintf(e.screen, "  FAIL  %s %s\n%s", v.Package, v.Test, foldStacks(out))
		case "skip":
			n[2]++
			r.Reason = skipReason(out)
		}
		e.results = append(e.results, r)
		return
	}
	switch {
	case v.Action == "fail":
		fmt.Fprintf(e.screen, "  FAIL  %s  %.1fs\n", v.Package, v.Elapsed)
		if died := e.unfinished(v.Package); died || n[1] == 0 { // or it did not build
			fmt.Fprint(e.screen, foldStacks(out))
			e.results = append(e.results, result{Action: "fail", Package: v.Package, Test: "(package)"})
		}
	case v.Action == "pass" && *n == [3]int{}: // no test files
	case v.Action == "pass":
		fmt.Fprintf(e.screen, "  ok    %s  %.1fs\n", v.Package, v.Elapsed)
	}
}

// unfinished shows the output of the tests that were running when their process died, for
// example from a fault inside a driver or at the time-out. It reports whether there were any.
func (e *events) unfinished(pkg string) (died bool) {
	for k, b := range e.output {
		if k.pkg == pkg && k.test != "" {
			fmt.Fprint(e.screen, foldStacks(b.String()))
			died = true
		}
	}
	return died
}

var location = regexp.MustCompile(`^\s+\S+\.go:\d+: (.*)$`)

// skipReason is the last line of a test before it skipped.
func skipReason(out string) string {
	reason := "no reason given"
	for line := range strings.Lines(out) {
		if m := location.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil && m[1] != "" {
			reason = m[1]
		}
	}
	return reason
}

// leaves are the results without the tests that have subtests, whose outcome is in the
// subtests; a failure of the parent alone stays.
func (e *events) leaves() []result {
	parent, failed := map[key]bool{}, map[key]bool{}
	for _, r := range e.results {
		for t := r.Test; ; {
			i := strings.LastIndexByte(t, '/')
			if i < 0 {
				break
			}
			t = t[:i]
			parent[key{r.Package, t}] = true
			if r.Action == "fail" {
				failed[key{r.Package, t}] = true
			}
		}
	}
	var leaves []result
	for _, r := range e.results {
		k := key{r.Package, r.Test}
		if !parent[k] || r.Action == "fail" && !failed[k] {
			leaves = append(leaves, r)
		}
	}
	return leaves
}
