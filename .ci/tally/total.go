package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// total prints a line per label with the CPU time of its tests, every reason for a skip with its
// count, the failures, and the sum. ok is true if nothing failed and something passed.
func total(w io.Writer, labels []string) (ok bool, err error) {
	if len(labels) == 0 {
		files, err := filepath.Glob(filepath.Join(dir, "*.json"))
		if err != nil {
			return false, err
		}
		for _, f := range files {
			labels = append(labels, strings.TrimSuffix(filepath.Base(f), ".json"))
		}
	}
	var sum [3]int
	var failures []string
	reasons := map[string]int{}
	fmt.Fprintf(w, "\n%-18s %8s %8s %8s %8s\n", "", "passed", "failed", "skipped", "CPU s")
	for _, label := range labels {
		results, err := read(label)
		if err != nil {
			return false, err
		}
		var n [3]int
		var cpu float64
		for _, r := range results {
			switch r.Action {
			case "pass":
				n[0]++
			case "fail":
				n[1]++
				failures = append(failures, strings.Join(strings.Fields(label+": "+r.Package+" "+r.Test), " "))
			case "skip":
				n[2]++
				reasons[label+": "+r.Reason]++
			case "cost":
				cpu += r.Elapsed
			}
		}
		fmt.Fprintf(w, "%-18s %8d %8d %8d %8.0f\n", label, n[0], n[1], n[2], cpu)
		for i := range sum {
			sum[i] += n[i]
		}
	}
	if len(reasons) > 0 {
		fmt.Fprintln(w, "\nskipped, and why:")
		byCount := slices.SortedFunc(maps.Keys(reasons), func(a, b string) int {
			return cmp.Or(cmp.Compare(reasons[b], reasons[a]), cmp.Compare(a, b))
		})
		for _, r := range byCount {
			fmt.Fprintf(w, "%6d  %s\n", reasons[r], r)
		}
	}
	if len(failures) > 0 {
		fmt.Fprintln(w, "\nfailed:")
		for _, f := range failures {
			fmt.Fprintf(w, "        %s\n", f)
		}
	}
	fmt.Fprintf(w, "\n%d passed, %d failed, %d skipped\n", sum[0], sum[1], sum[2])
	return sum[1] == 0 && sum[0] > 0, nil
}

// read returns the results of a label, none if it recorded nothing.
func read(label string) ([]result, error) {
	f, err := os.Open(filepath.Join(dir, label+".json"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var results []result
	for dec := json.NewDecoder(f); ; {
		var r result
		if err := dec.Decode(&r); err == io.EOF {
			return results, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
		results = append(results, r)
	}
}

// skipped prints a pattern that matches the tests of a package with a skip in the results of a
// label, and nothing if there is none.
func skipped(w io.Writer, label, pkg string) error {
	results, err := read(label)
	if err != nil {
		return err
	}
	tests := map[string]bool{}
	for _, r := range results {
		if r.Action == "skip" && r.Package == pkg {
			top, _, _ := strings.Cut(r.Test, "/")
			tests[regexp.QuoteMeta(top)] = true
		}
	}
	if len(tests) > 0 {
		fmt.Fprintf(w, "^(%s)$\n", strings.Join(slices.Sorted(maps.Keys(tests)), "|"))
	}
	return nil
}
