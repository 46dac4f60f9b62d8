// Command tally runs checks and counts passes, failures and skips with their reasons. The
// scripts beside it record every check through it, so that a run ends in one total.
//
//	tally test LABEL COMMAND…        a command that prints `go test -json`
//	tally check LABEL NAME COMMAND…  any command: passed if it exits 0
//	tally skip LABEL NAME REASON     a check that could not run
//	tally skipped LABEL PACKAGE      a pattern for go test -run: the tests of the package that
//	                                 skipped themselves, in whole or in part
//	tally total [LABEL…]             the table; all labels by default
//	tally measure PROGRAM ARG…       for go test -exec: runs a test, then prints its CPU time
//
// Results lie in .build/results/LABEL.json, one object per line, with the whole output in
// LABEL.log. tally appends to both; the start of a stage removes them.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const dir = ".build/results"

// result is one check: a test, or a command.
type result struct {
	Action  string // pass, fail, skip; or cost, the CPU time of a package
	Package string `json:",omitempty"`
	Test    string
	Reason  string  `json:",omitempty"` // of a skip
	Elapsed float64 // seconds
}

func main() {
	if len(os.Args) >= 3 && os.Args[1] == "measure" {
		os.Exit(measure(os.Args[2:]))
	}
	ok, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "tally:", err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

func run(args []string) (ok bool, err error) {
	switch {
	case len(args) >= 3 && args[0] == "test":
		return record(args[1], func(log io.Writer) ([]result, error) { return test(log, args[2:]) })
	case len(args) >= 4 && args[0] == "check":
		return record(args[1], func(log io.Writer) ([]result, error) { return check(log, args[2], args[3:]) })
	case len(args) == 4 && args[0] == "skip":
		fmt.Printf("  skip  %s: %s\n", args[2], args[3])
		return record(args[1], func(io.Writer) ([]result, error) {
			return []result{{Action: "skip", Test: args[2], Reason: args[3]}}, nil
		})
	case len(args) == 3 && args[0] == "skipped":
		return true, skipped(os.Stdout, args[1], args[2])
	case len(args) >= 1 && args[0] == "total":
		return total(os.Stdout, args[1:])
	}
	return false, fmt.Errorf("usage: tally test|check|skip|skipped|total …")
}

// record appends the results of f to the files of a label; ok is false if one failed.
func record(label string, f func(log io.Writer) ([]result, error)) (ok bool, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return false, err
	}
	open := func(ext string) (*os.File, error) {
		return os.OpenFile(filepath.Join(dir, label+ext), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	}
	log, err := open(".log")
	if err != nil {
		return false, err
	}
	defer log.Close()
	out, err := open(".json")
	if err != nil {
		return false, err
	}
	defer out.Close()
	results, err := f(log)
	if err != nil {
		return false, err
	}
	ok = true
	enc := json.NewEncoder(out)
	for _, r := range results {
		ok = ok && r.Action != "fail"
		if err := enc.Encode(r); err != nil {
			return false, err
		}
	}
	if !ok {
		fmt.Printf("  the complete output is in %s\n", log.Name())
	}
	return ok, nil
}

// check runs a command and shows its output only if it failed.
func check(log io.Writer, name string, command []string) ([]result, error) {
	start := time.Now()
	out, err := exec.Command(command[0], command[1:]...).CombinedOutput()
	took := time.Since(start)
	fmt.Fprintf(log, "$ %s\n%s", strings.Join(command, " "), out)
	r := result{Action: "pass", Test: name, Elapsed: took.Seconds()}
	if err != nil {
		r.Action = "fail"
		fmt.Printf("  FAIL  %s: %v\n        %s\n%s", name, err, strings.Join(command, " "), out)
	} else {
		fmt.Printf("  ok    %s  %.1fs\n", name, took.Seconds())
	}
	return []result{r}, nil
}

// test runs a command that prints test2json events. It prints a line per package and the
// output of failed tests, and returns the leaves: a test with subtests counts as its
// subtests.
func test(log io.Writer, command []string) ([]result, error) {
	start := time.Now()
	command, err := measured(command)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(command[0], command[1:]...)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	cmd.Stderr = cmd.Stdout
	fmt.Fprintf(log, "$ %s\n", strings.Join(command, " "))
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	e := newEvents(log, os.Stdout)
	lines := bufio.NewReader(stdout)
	for {
		line, err := lines.ReadBytes('\n')
		e.line(line)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	err = cmd.Wait()
	results := e.leaves()
	failed := false
	for _, r := range results {
		failed = failed || r.Action == "fail"
	}
	switch {
	case err != nil && !failed: // it died outside any test
		fmt.Printf("  FAIL  %v: %s\n", err, strings.Join(command, " "))
		results = append(results, result{Action: "fail", Test: strings.Join(command, " ")})
	case len(results) == 0:
		fmt.Printf("  FAIL  no test ran: %s\n", strings.Join(command, " "))
		results = append(results, result{Action: "fail", Test: strings.Join(command, " ")})
	}
	printCosts(os.Stdout, e.costs)
	fmt.Printf("  %.0fs\n", time.Since(start).Seconds())
	return append(results, e.costs...), nil
}
