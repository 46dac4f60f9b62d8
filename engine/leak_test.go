package engine

import (
	"context"
	"errors"
	"os"
	"runtime"
	"testing"
	"time"
	"weak"

	"heddle/engine/internal/backend"
	"heddle/engine/internal/lists"
	"heddle/engine/internal/schedule"
	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
	"heddle/hostfallback"
)

// TestEngineNoLeaks starts, asks, reloads and closes an engine 1,000 times: in the end the
// process holds no goroutine, file, mapping, backend or store more than before.
func TestEngineNoLeaks(t *testing.T) {
	paths := [2]string{shortIndexFile(t), shortIndexFile(t)}
	qs := testCorpus().queries(20)
	d := &faulty{name: "device"}
	var opt Options
	cycles := pick(1000, 100)
	if onHost() {
		opt.candidates = []backend.Candidate{hostCandidate(hostfallback.Options{Threads: 2}), d.candidate()}
		if testneeds.Race {
			cycles = 100
		}
	} else {
		opt.Backends = processorsOf(t) // TestNoLeaks opens the device over and over
		cycles = pick(50, 10)
	}
	opt.BatchCandidates, opt.Workers, opt.Results = 500, 2, 1<<16
	cycle := func(i int) {
		e, err := startFile(t.Context(), paths[i%2], opt)
		if err != nil {
			t.Fatal(err)
		}
		ask := func(ctx context.Context, allowed error) {
			var out plan.Results
			err := e.searchMany(ctx, qs, searchOptions{}, &out, calling{})
			_, single := e.search(ctx, qs[i%len(qs)], searchOptions{}, calling{Mode: schedule.Mode(i % 3)})
			_, ranked := e.rank(ctx, qs[i%len(qs)], rankOptions{K: 3}, calling{Mode: schedule.Mode(i % 3)})
			for _, err := range []error{err, single, ranked} {
				if err != nil && !errors.Is(err, allowed) {
					t.Error(err)
				}
			}
		}
		if i%2 == 0 {
			ask(t.Context(), nil)
		}
		if i%3 == 0 {
			ctx, stop := context.WithTimeout(t.Context(), 200*time.Microsecond)
			ask(ctx, context.DeadlineExceeded)
			stop()
		}
		if i%5 != 0 {
			if err := e.Reload(t.Context(), paths[1-i%2]); err != nil {
				t.Error(err)
			}
			ask(t.Context(), nil)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
	for i := range 6 {
		cycle(i) // goroutines that libraries start once stay
	}
	before := holding(t)
	for i := range cycles {
		cycle(i)
	}
	comeBack(t, before)
	nothingOpen(t, d)
	if onHost() && d.batches.Load() == 0 {
		t.Error("the device was never asked")
	}
	for _, path := range paths { // costs are kept, and no copy of them
		if all, err := os.ReadDir(path[:len(path)-len("/corpus.hdl")]); err != nil || len(all) > 2 {
			t.Errorf("%v: %v, %v", path, all, err)
		}
	}
}

// TestEngineReloadMemory reloads an index over and over on a device with room for three:
// the previous index gives its memory back.
func TestEngineReloadMemory(t *testing.T) {
	if onHost() {
		t.Skip("pure Go has no memory of its own; TestEngineNoLeaks counts its stores")
	}
	opt := opening()
	opt.Placement = "replicas"
	path := shortIndexFile(t)
	start := func() *served {
		e, err := startFile(t.Context(), path, opt)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	e := start()
	opt.DeviceMemory = 3 * e.Stats().Processors[0].Memory
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = start()
	for range 10 {
		if err := e.Reload(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		if _, err := e.search(t.Context(), Query{Text: "t000 t120"}, searchOptions{}, calling{}); err != nil {
			t.Error(err)
		}
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// TestReloadFreesGenerations: nothing keeps a generation of an index after its last query, neither the queues
// of the scheduler nor its batches.
func TestReloadFreesGenerations(t *testing.T) {
	e, err := startFile(t.Context(), shortIndexFile(t), backendOptions(t))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	var generations []weak.Pointer[lists.Generation]
	for range 8 {
		for _, mode := range []schedule.Mode{schedule.Async, schedule.Sync} {
			_, match := e.search(t.Context(), Query{Text: "t000 t120"}, searchOptions{}, calling{Mode: mode})
			_, rank := e.rank(t.Context(), Query{Text: "t000 t120"}, rankOptions{K: 3}, calling{Mode: mode})
			if err := errors.Join(match, rank); err != nil {
				t.Fatal(err)
			}
		}
		g, err := e.Internal().Acquire()
		if err != nil {
			t.Fatal(err)
		}
		generations = append(generations, weak.Make(g))
		g.Release()
		if err := e.Reload(t.Context(), shortIndexFile(t)); err != nil {
			t.Fatal(err)
		}
	}
	runtime.GC()
	kept := 0
	for _, g := range generations {
		if g.Value() != nil {
			kept++
		}
	}
	if kept > 1 { // a goroutine may still leave the last one
		t.Errorf("%d of %d generations are kept", kept, len(generations))
	}
}
