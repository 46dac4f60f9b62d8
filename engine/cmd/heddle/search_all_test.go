package main

import (
	"slices"
	"strings"
	"testing"
)

// TestSearchOnAll compares the answers of all processors together with the answers of one
// backend, for every mode and query format.
func TestSearchOnAll(t *testing.T) {
	chooseDevice(t)
	buildCollection(t)
	all := backendEnv()
	all = slices.DeleteFunc(slices.Clone(all), func(v string) bool { return strings.HasPrefix(v, "HEDDLE_DEVICES_BACKEND=") })
	all = append(all, "HEDDLE_DEVICES_BACKEND=all")
	in := strings.Join(someQueries(), "\n") + "\n"
	for _, args := range []string{"--count", "--all", "--mode or --no-header -k 3", "--no-header"} {
		ask := append([]string{"search", "c.hdl", "--queries", "-"}, strings.Fields(args)...)
		want := heddleWith(t, in, nil, append(ask, "--backend", "host")...)
		if want.code != 0 || want.stdout == "" {
			t.Fatalf("%v", want)
		}
		for _, policy := range []string{"cooperative", "device-first", "wu", "wu-async", "wu-sync", "ding"} {
			if got := heddleWith(t, in, all, append(ask, "--policy", policy)...); got.code != 0 || got.stdout != want.stdout {
				t.Errorf("%s, %s: %v, want %v", args, policy, got, want)
			}
		}
		r := heddleWith(t, in, all, append(ask, "--explain", "--policy", "wu-async")...)
		if r.code != 0 || r.stdout != want.stdout || strings.Count(r.stderr, "  scheduled async, class ") != strings.Count(in, "\n") {
			t.Errorf("%s --explain: %v", args, r)
		}
	}
	twice := heddleWith(t, in+in, append(all, "HEDDLE_SCHEDULE_RESULTS=1MiB"), "search", "c.hdl", "--queries", "-", "--count", "--explain")
	if twice.code != 0 || strings.Contains(twice.stderr, " in 0.0 µs") || strings.Count(twice.stderr, "  from the result cache") < strings.Count(in, "\n") {
		t.Errorf("the same queries again, answers kept: %v", twice)
	}
	if files := files(t); strings.Contains(files, ".cost") {
		t.Errorf("a search wrote %s", files)
	}
	for _, explain := range []string{"--no-header", "--explain"} { // the same error message
		r := heddleWith(t, "w0~3\n", all, "search", "c.hdl", "--queries", "-", "--syntax", "query", "--no-header", explain)
		if r.code != exitFailure || !strings.HasPrefix(r.stderr, "-:1: column 3: 3 edits") {
			t.Errorf("%+v", r)
		}
	}
	wantFailure(t, heddleWith(t, in, all, "search", "c.hdl", "--queries", "-", "--policy", "never"), exitUsage, "cooperative, device-first, wu")
}

// TestBitmapOnAll compares the rows of all processors together with the rows of one backend.
func TestBitmapOnAll(t *testing.T) {
	chooseDevice(t)
	buildTrips(t)
	for _, w := range tripWheres {
		args := []string{"bitmap", "query", "trips.hdb", "--where", w.where, "--rows"}
		want := heddleWith(t, "", nil, append(args, "--backend", "host")...)
		got := heddleWith(t, "", nil, append(args, "--backend", "all")...)
		if want.code != 0 || got != want {
			t.Errorf("%s: %+v, want %+v", w.where, got, want)
		}
	}
}
