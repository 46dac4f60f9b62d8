package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"heddle/engine/internal/backend"
	"heddle/engine/internal/cost"
	"heddle/engine/internal/schedule"
	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
	"heddle/hostfallback"
)

// reloadedAmidStreams changes between two indices below streams, single queries
// and views. Each is answered by one of the two, as a whole; damaged files change nothing.
func reloadedAmidStreams(t *testing.T, a attack) {
	c := testCorpus()
	paths := [2]string{indexFile(t), shortIndexFile(t)}
	damaged := filepath.Join(t.TempDir(), "damaged.hdl")
	data, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(damaged, data[:len(data)/2], 0o644); err != nil {
		t.Fatal(err)
	}
	e, err := startFile(t.Context(), paths[0], Options{Backends: a.backends, Results: 1 << 20, BatchCandidates: 2000})
	if err != nil {
		t.Fatal(err)
	}
	qs := c.queries(60)
	// of compares an answer with the answer over the first docs documents.
	of := func(docs uint32, i int, got []uint32) error {
		want := c.scan(qs[i])
		n, _ := slices.BinarySearch(want, docs)
		want = want[:n]
		if !slices.Equal(got, want) {
			return fmt.Errorf("query %d of %d documents: %v, want %v", i, docs, got, want)
		}
		return nil
	}
	done := make(chan struct{})
	var rounds atomic.Int64
	var callers sync.WaitGroup
	for g := range 4 {
		callers.Go(func() {
			for i := g; ; i++ {
				select {
				case <-done:
					return
				default:
				}
				err := func() error {
					v, err := e.view()
					if err != nil {
						return err
					}
					defer v.Close()
					docs, i := v.File().Docs(), i%len(qs)
					if g%2 == 0 {
						var out plan.Results
						if err := v.searchMany(t.Context(), qs, searchOptions{}, &out, calling{}); err != nil {
							return err
						}
						for i := range qs {
							if err := of(docs, i, out.Query(i)); err != nil {
								return err
							}
						}
						return nil
					}
					a, err := v.search(t.Context(), qs[i], searchOptions{}, calling{})
					if err != nil {
						return err
					}
					for _, d := range a.Docs {
						if name, err := v.File().DocName(d); err != nil || name != fmt.Sprint("doc", d) {
							return fmt.Errorf("document %d is %q, %w", d, name, err)
						}
					}
					return of(docs, i, a.Docs)
				}()
				if err != nil {
					t.Error(err)
					return
				}
				rounds.Add(1)
			}
		})
	}
	for i := range pick(8, 3) {
		if i%3 == 2 {
			if err := e.Reload(t.Context(), damaged); err == nil {
				t.Error("a damaged index is loaded")
			}
		}
		ended, stop := context.WithCancel(t.Context())
		stop()
		if err := e.Reload(ended, paths[0]); !errors.Is(err, context.Canceled) {
			t.Errorf("with a context that has ended: %v", err)
		}
		if err := e.Reload(t.Context(), paths[(i+1)%2]); err != nil {
			t.Error(err)
		}
		for before := rounds.Load(); rounds.Load() < before+8 && !t.Failed(); {
			time.Sleep(time.Millisecond)
		}
	}
	close(done)
	callers.Wait()
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// TestEngineChangesAtOnce has Reload and Close called by many at the same time.
func TestEngineChangesAtOnce(t *testing.T) {
	paths := [2]string{shortIndexFile(t), shortIndexFile(t)}
	before := holding(t)
	e, err := startFile(t.Context(), paths[0], Options{Backend: "host"})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 5 {
				if err := e.Reload(t.Context(), paths[i%2]); err != nil && !errors.Is(err, plan.ErrClosed) {
					t.Error(err)
				}
				e.Stats()
				if g == 0 && i == 3 {
					if err := e.Close(); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	comeBack(t, before)
}

// TestEngineReloadsInLittleRoom: devices that hold one index have the next one when the
// one before is closed, and the host answers meanwhile.
func TestEngineReloadsInLittleRoom(t *testing.T) {
	paths := [2]string{shortIndexFile(t), shortIndexFile(t)}
	d, other := &faulty{name: "device", room: 1}, &faulty{name: "other", room: 1}
	var opt Options
	opt.candidates = []backend.Candidate{hostCandidate(hostfallback.Options{}), d.candidate(), other.candidate()}
	e, err := startFile(t.Context(), paths[0], opt)
	if err != nil {
		t.Fatal(err)
	}
	v, err := e.view()
	if err != nil {
		t.Fatal(err)
	}
	reloaded := make(chan error)
	go func() { reloaded <- e.Reload(t.Context(), paths[1]) }()
	q := Query{Terms: []string{"t000", "t120"}}
	for e.resident() > 1 { // up to the time-out of the test
		time.Sleep(time.Millisecond)
	}
	if _, err := e.search(t.Context(), q, searchOptions{}, calling{}); err != nil {
		t.Error(err)
	}
	if n := e.resident(); n != 1 {
		t.Errorf("%d processors while the old index is held", n)
	}
	if _, err := v.search(t.Context(), q, searchOptions{}, calling{}); err != nil {
		t.Error(err)
	}
	v.Close()
	if err := <-reloaded; err != nil {
		t.Error(err)
	}
	for i := range 3 {
		if st := e.Stats(); e.resident() != 3 || d.stores.Load() != 1 {
			t.Errorf("after %d reloads: %+v", i, st.Processors)
		}
		if err := e.Reload(t.Context(), paths[i%2]); err != nil {
			t.Error(err)
		}
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	nothingOpen(t, d, other)
}

// TestEngineReloadsWhileItHangs reloads while a device hangs: the next index does not use
// the device and no caller waits for it. Once it comes back, the index after that uses it.
func TestEngineReloadsWhileItHangs(t *testing.T) {
	before := holding(t)
	testneeds.VirtualTime(t, func(t *testing.T) {
		f, d := new(fault), &faulty{name: "first"}
		d.batch = f.hang(5, nil)
		h := heard{}
		opt := Options{Observer: &h, Schedule: Schedule{Hang: 500 * time.Millisecond}}
		opt.candidates = []backend.Candidate{hostCandidate(hostfallback.Options{}), d.candidate()}
		path := shortIndexFile(t)
		e, err := startFile(t.Context(), path, opt)
		if err != nil {
			t.Fatal(err)
		}
		q := Query{Terms: []string{"t000", "t120"}}
		qs := make([]Query, 200)
		for i := range qs {
			qs[i] = q
		}
		ask := func(processors int) {
			t.Helper()
			var out plan.Results
			if err := e.searchMany(t.Context(), qs, searchOptions{BatchCandidates: 100}, &out, calling{}); err != nil {
				t.Error(err)
			}
			if n := e.resident(); n != processors {
				t.Errorf("%d processors, want %d", n, processors)
			}
		}
		reload := func() {
			t.Helper()
			if err := e.Reload(t.Context(), path); err != nil {
				t.Fatal(err)
			}
		}
		for f.hanging.Load() == 0 { // on few cores the device gets a block every two seconds
			ask(2)
		}
		ask(2)
		if !errors.Is(h.out["first"], schedule.ErrHung) {
			t.Fatalf("taken out: %v", h.out)
		}
		for range 2 {
			reload()
			ask(1)
		}
		if d.stores.Load() != 1 {
			t.Errorf("%d stores are open, want that which hangs", d.stores.Load())
		}
		close(f.release)
		for d.stores.Load() > 0 { // up to the time-out of the test
			time.Sleep(time.Millisecond)
		}
		reload()
		ask(2)
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		nothingOpen(t, d)
	})
	comeBack(t, before)
}

// TestEngineReloadKeepsCosts keeps learnt costs when the same index is loaded again, unless
// a new calibration has replaced them.
func TestEngineReloadKeepsCosts(t *testing.T) {
	path := shortIndexFile(t)
	e, err := startFile(t.Context(), path, Options{Backend: "host"})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	reload := func(path string) *cost.Book {
		t.Helper()
		if err := e.Reload(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		return costsOf(t, e)
	}
	first := costsOf(t, e)
	if reload(path) != first {
		t.Error("the same index: costs are forgotten")
	}
	if err := cost.NewBook(e.File().Checksum(), cost.Best).Save(cost.Path(path)); err != nil {
		t.Fatal(err)
	}
	measured := reload(path)
	if measured == first {
		t.Error("costs that were measured are not read")
	}
	if reload(path) != measured {
		t.Error("costs that were read are forgotten")
	}
	if reload(indexFile(t)) == measured {
		t.Error("costs of another index")
	}
}

// costsOf returns the cost models of the lists in use.
func costsOf(t *testing.T, x *served) *cost.Book {
	t.Helper()
	g, err := x.Internal().Acquire()
	if err != nil {
		t.Fatal(err)
	}
	defer g.Release()
	return g.Costs()
}
