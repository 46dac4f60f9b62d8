package engine

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"heddle/engine/index/hdl"
	"heddle/engine/plan"
)

// held counts the resources that a process must get back: goroutines, and on Linux
// descriptors and mappings of index files.
type held struct{ goroutines, files, maps int }

func holding(t *testing.T) held {
	t.Helper()
	h := held{goroutines: runtime.NumGoroutine()}
	if runtime.GOOS != "linux" {
		return h
	}
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	h.files, h.maps = len(files), strings.Count(string(maps), ".hdl")+strings.Count(string(maps), ".hdb")
	return h
}

// comeBack waits until no more is held than before: goroutines end a moment after
// their work.
func comeBack(t *testing.T, before held) {
	t.Helper()
	var now held
	for range 12_000 { // a minute
		if now = holding(t); now.goroutines <= before.goroutines && now.files <= before.files && now.maps <= before.maps {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	stacks := make([]byte, 1<<16)
	t.Errorf("held %+v, now %+v\n%s", before, now, stacks[:runtime.Stack(stacks, true)])
}

// TestNoLeaks opens and closes an index many times, with queries, with cancelled
// ones, with none.
func TestNoLeaks(t *testing.T) {
	path := indexFile(t)
	qs := testCorpus().queries(20)
	cycle := func(i int) {
		x, err := open(t.Context(), path, opening().with(Options{BatchCandidates: 1, Workers: 3}))
		if err != nil {
			t.Fatal(err)
		}
		var out plan.Results
		if i%2 == 0 {
			if err := x.searchMany(t.Context(), qs, searchOptions{}, &out); err != nil {
				t.Error(err)
			}
		}
		if i%3 == 0 {
			ctx, stop := context.WithTimeout(t.Context(), 500*time.Microsecond)
			if err := x.searchMany(ctx, qs, searchOptions{}, &out); err != nil && !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
			stop()
		}
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	}
	first, cycles := 6, 100
	if !onHost() {
		first, cycles = 1, pick(10, 3) // each builds the kernels and tests the device
	}
	for i := range first {
		cycle(i) // goroutines that libraries start once stay
	}
	before := holding(t)
	for i := range cycles {
		cycle(i)
	}
	comeBack(t, before)
}

// TestNoLeaksOnErrors fails to open, over and over.
func TestNoLeaksOnErrors(t *testing.T) {
	good, bad := indexFile(t), indexFile(t)
	flip(t, bad, sectionOf(t, bad, "meta").Offset)
	broken := &faulty{name: "broken", load: broken(plan.ErrOutOfMemory, "broken")}
	lost := &faulty{name: "lost", batch: after(2, plan.ErrDeviceLost, "lost")}
	cycle := func() {
		if _, err := open(t.Context(), bad, Options{Backend: "host"}); !errors.Is(err, hdl.ErrCorrupt) {
			t.Error(err)
		}
		if _, err := open(t.Context(), good, Options{Backend: "abacus"}); err == nil {
			t.Error("an unknown backend was opened")
		}
		if _, err := open(t.Context(), good, faultyOptions(broken)); !errors.Is(err, plan.ErrOutOfMemory) {
			t.Error(err)
		}
		lost.batches.Store(0)
		x, err := open(t.Context(), good, faultyOptions(lost))
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			_, err = x.search(t.Context(), Query{Text: "t000"}, searchOptions{})
		}
		if !errors.Is(err, plan.ErrDeviceLost) {
			t.Error(err)
		}
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	}
	cycle()
	before := holding(t)
	for range 100 {
		cycle()
	}
	comeBack(t, before)
	nothingOpen(t, broken, lost)
}
