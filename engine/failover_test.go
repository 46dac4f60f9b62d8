package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"heddle/engine/internal/backend"
	"heddle/engine/plan"
)

// answerAll asks qs in batches and checks that each is answered once and right.
func answerAll(t *testing.T, x *served, qs []Query) error {
	t.Helper()
	times := make([]atomic.Int32, len(qs))
	err := x.searchBatches(t.Context(), qs, searchOptions{}, func(first int, r *plan.Results) error {
		for i := range len(r.Offsets) - 1 {
			times[first+i].Add(1)
			if err := testCorpus().check(qs[first+i], r.Count(i), r.Query(i), false); err != nil {
				t.Error(err)
			}
		}
		return nil
	})
	for i := range times {
		if n := times[i].Load(); err == nil && n != 1 || n > 1 {
			t.Errorf("query %d was answered %d times", i, n)
		}
	}
	return err
}

// reserved gives options with a host in reserve of devices, of which the first one that
// opens is taken.
func reserved(host *faulty, devices ...*faulty) Options {
	opt := faultyOptions(devices...)
	host.host = true
	opt.candidates = append(opt.candidates, reserve(host.candidate()))
	return opt
}

// TestFailover has a device that fails in each of the ways there are, and a host in
// reserve that takes over.
func TestFailover(t *testing.T) {
	qs := testCorpus().queries(pick(300, 100))
	for name, first := range map[string]*faulty{
		"no device":            {open: broken(plan.ErrNoDevice, "first")},
		"build fails":          {open: broken(plan.ErrBuild, "first")},
		"self-test fails":      {open: broken(plan.ErrSelfTest, "first")},
		"untyped error":        {open: errors.New("a fault was asked for")},
		"load: out of memory":  {load: broken(plan.ErrOutOfMemory, "first")},
		"load: lost":           {load: broken(plan.ErrDeviceLost, "first")},
		"lost at once":         {batch: after(1, plan.ErrDeviceLost, "first")},
		"lost on the way":      {batch: after(5, plan.ErrDeviceLost, "first")},
		"out of memory":        {batch: after(1, plan.ErrOutOfMemory, "first")},
		"out of memory later":  {batch: after(4, plan.ErrOutOfMemory, "first")},
		"build fails in a run": {batch: after(3, plan.ErrBuild, "first")},
		"wrapped, deeper": {batch: func(context.Context, int64) error {
			return fmt.Errorf("outer: %w", broken(plan.ErrDeviceLost, "first"))
		}},
		"joined with a closing": {load: errors.Join(broken(plan.ErrDeviceLost, "first"), errors.New("and closing failed"))},
	} {
		t.Run(name, func(t *testing.T) {
			first.name = "first"
			second, third := &faulty{name: "second"}, &faulty{name: "third"}
			var opt Options
			if first.open == nil {
				opt = reserved(second, first)
			} else {
				opt = reserved(third, first, second)
			}
			var log logged
			opt.Log = log.logger()
			x := openMemory(t, opt)
			if err := answerAll(t, x, qs); err != nil {
				t.Fatal(err)
			}
			for range 5 {
				verify(t, x, qs[0])
			}
			if second.answered.Load() == 0 || third.answered.Load() != 0 {
				t.Errorf("in the end queries run on %+v", x.Backend())
			}
			if n := first.answered.Load() + second.answered.Load(); n < int64(len(qs)) {
				t.Errorf("%d queries were answered by devices, of %d", n, len(qs))
			}
			if first.opens.Load() != 1 || second.opens.Load() != 1 {
				t.Errorf("opened %d and %d times", first.opens.Load(), second.opens.Load())
			}
			if first.batch == nil {
				log.expect(t, "warn", "first", "a fault was asked for")
			} else {
				log.expect(t, "error", "first", "a fault was asked for")
				if x.Backend().Device != "second" {
					t.Errorf("in the end queries run on %+v", x.Backend())
				}
			}
			log.expect(t, "info", "second", "lists resident")
			if err := x.Close(); err != nil {
				t.Error(err)
			}
			nothingOpen(t, first, second, third)
		})
	}
}

// TestRankFailover has devices side by side fail in batches of ranked queries, between the
// two passes of AndOr too, until one is left.
func TestRankFailover(t *testing.T) {
	c := rankedCorpus(300)
	qs := rankedQueries(pick(400, 200))
	sound := c.open(t, 0, Options{Backend: "host"})
	for _, mode := range Matches() {
		opt := rankOptions{Mode: mode, K: 8}
		var want, got rankings
		if err := sound.rankMany(t.Context(), qs, opt, &want); err != nil {
			t.Fatal(err)
		}
		a := &faulty{name: "a", batch: after(4, plan.ErrDeviceLost, "a")}
		b := &faulty{name: "b", batch: after(1, plan.ErrSelfTest, "b")}
		d := &faulty{name: "d", batch: after(3, plan.ErrBuild, "d")}
		last := &faulty{name: "last"}
		o := side(faultyOptions(a, b, d, last))
		o.BatchPostings = 500
		x := c.open(t, 0, o)
		for range 10 {
			if err := x.rankMany(t.Context(), qs, opt, &got); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Offsets, want.Offsets) || !slices.Equal(got.Docs, want.Docs) || !slices.Equal(got.Scores, want.Scores) {
				t.Errorf("%s: rankings differ from those of a sound device", mode)
			}
			if got.Stats.Queries != uint64(len(qs)) {
				t.Errorf("%s: %d queries", mode, got.Stats.Queries)
			}
		}
		if x.Backend().Device != "last" {
			t.Errorf("%s: at last on %s", mode, x.Backend().Device)
		}
		if err := x.Close(); err != nil {
			t.Error(err)
		}
		nothingOpen(t, a, b, d, last)
	}
}

// TestFailoverChain tries devices that do not open, then one that fails in time, down to pure
// Go.
func TestFailoverChain(t *testing.T) {
	a := &faulty{name: "a", open: broken(plan.ErrBuild, "a")}
	b := &faulty{name: "b", batch: after(3, plan.ErrDeviceLost, "b")}
	c := &faulty{name: "c"}
	host := &faulty{name: "host"}
	x := openFile(t, reserved(host, a, b, c))
	if err := answerAll(t, x, testCorpus().queries(200)); err != nil {
		t.Fatal(err)
	}
	if x.Backend().Kind != "host" || c.opens.Load() != 0 {
		t.Errorf("in the end queries run on %+v", x.Backend())
	}
	if err := x.Close(); err != nil {
		t.Error(err)
	}
	nothingOpen(t, a, b, c, host)
}

// TestNoFailover keeps the device where the query or the caller is at fault, and restores it
// by the next Reload where it was not.
func TestNoFailover(t *testing.T) {
	damage := errors.New("list 7 is damaged")
	first := &faulty{name: "first", batch: func(_ context.Context, n int64) error {
		if n == 1 {
			return damage
		}
		return nil
	}}
	x := openMemory(t, faultyOptions(first))
	if _, err := x.search(t.Context(), Query{Text: "t000"}, searchOptions{}); !errors.Is(err, damage) {
		t.Errorf("%v, want the error of the list", err)
	}
	verify(t, x, Query{Text: "t000 t001"})
	if x.Backend().Device != "first" {
		t.Errorf("queries run on %s", x.Backend().Device)
	}
}

// TestRestored: a device that was removed answers again when it has loaded the next file.
func TestRestored(t *testing.T) {
	path := indexFile(t)
	var lost atomic.Bool
	first, host := &faulty{name: "first"}, &faulty{name: "host"}
	first.batch = func(context.Context, int64) error {
		if lost.Load() {
			return broken(plan.ErrDeviceLost, "first")
		}
		return nil
	}
	x, err := open(t.Context(), path, reserved(host, first))
	closed(t, x, err)
	lost.Store(true)
	verify(t, x, Query{Text: "t000 t001"})
	if x.Backend().Device != "host" || !errors.Is(x.Stats().Processors[0].Removed, plan.ErrDeviceLost) && !errors.Is(x.Stats().Processors[1].Removed, plan.ErrDeviceLost) {
		t.Errorf("queries run on %+v", x.Backend())
	}
	lost.Store(false)
	if err := x.Reload(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	before := host.answered.Load()
	if err := answerAll(t, x, testCorpus().queries(50)); err != nil {
		t.Error(err)
	}
	verify(t, x, Query{Text: "t000 t001"})
	if x.Backend().Device != "first" || host.answered.Load() != before {
		t.Errorf("after Reload queries run on %+v", x.Backend())
	}
}

// TestAllFailAtStart joins the errors of all devices.
func TestAllFailAtStart(t *testing.T) {
	a := &faulty{name: "a", open: broken(plan.ErrNoDevice, "a")}
	b := &faulty{name: "b", load: broken(plan.ErrOutOfMemory, "b")}
	c := &faulty{name: "c", open: &plan.DeviceError{Kind: plan.ErrBuild, Device: "c", Op: "building", Log: "line 3: what?"}}
	src, dict := inMemory(t)
	x, err := openSource(t.Context(), src, dict, faultyOptions(a, c))
	if x != nil || err == nil {
		t.Fatalf("an index without a backend: %v, %v", x, err)
	}
	for _, want := range []error{plan.ErrNoDevice, plan.ErrBuild} {
		if !errors.Is(err, want) {
			t.Errorf("%v is not %v", err, want)
		}
	}
	var device *plan.DeviceError
	if !errors.As(err, &device) || device.Device != "a" {
		t.Errorf("the first error is of %+v", device)
	}
	nothingOpen(t, a, c)
	path := indexFile(t)
	if x, err := open(t.Context(), path, faultyOptions(a, b)); x != nil || !errors.Is(err, plan.ErrOutOfMemory) || CodeOf(err) != OutOfMemory {
		t.Errorf("open: %v, %v", x, err)
	}
	nothingOpen(t, a, b)
}

// TestAllFailInARun gives the error of the device, again and again, and closes in the end.
func TestAllFailInARun(t *testing.T) {
	a := &faulty{name: "a", batch: after(3, plan.ErrDeviceLost, "a")}
	opt := faultyOptions(a)
	opt.Workers, opt.BatchCandidates = 1, 1
	x := openMemory(t, opt)
	qs := testCorpus().queries(20)
	if err := answerAll(t, x, qs); !errors.Is(err, plan.ErrDeviceLost) || CodeOf(err) != NoDevice {
		t.Errorf("all devices failed: %v", err)
	}
	for range 2 {
		_, err := x.search(t.Context(), qs[0], searchOptions{})
		var device *plan.DeviceError
		if !errors.As(err, &device) || device.Kind != plan.ErrDeviceLost || CodeOf(err) != NoDevice {
			t.Errorf("after that: %v", err)
		}
	}
	if err := x.Close(); err != nil {
		t.Error(err)
	}
	nothingOpen(t, a)
}

// TestConcurrentFailover has many callers while one device after another fails.
func TestConcurrentFailover(t *testing.T) {
	a := &faulty{name: "a", batch: after(20, plan.ErrDeviceLost, "a")}
	b := &faulty{name: "b", open: broken(plan.ErrSelfTest, "b")}
	c := &faulty{name: "c", batch: after(30, plan.ErrDeviceLost, "c")}
	d := &faulty{name: "d"}
	x := openMemory(t, side(faultyOptions(a, b, c, d)))
	var wg sync.WaitGroup
	for caller := range 8 {
		wg.Go(func() {
			qs := testCorpus().queries(60 + caller)
			if caller%2 == 0 {
				for _, q := range qs {
					verify(t, x, q)
				}
			} else if err := answerAll(t, x, qs); err != nil {
				t.Errorf("caller %d: %v", caller, err)
			}
		})
	}
	wg.Wait()
	for x.Backend().Device != "d" { // until all have had their batches; on few cores some get one every two seconds
		if err := answerAll(t, x, testCorpus().queries(60)); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []*faulty{a, b, c, d} {
		if f.opens.Load() != 1 {
			t.Errorf("%s was opened %d times", f.name, f.opens.Load())
		}
	}
	if err := x.Close(); err != nil {
		t.Error(err)
	}
	nothingOpen(t, a, b, c, d)
}

// TestCancelAsItStarts keeps nothing open where the context ends while lists are loaded.
func TestCancelAsItStarts(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	f := &faulty{name: "f"}
	opt := faultyOptions(f)
	start := opt.candidates[0].Open
	opt.candidates[0] = backend.Candidate{Name: "f", Open: func(c context.Context) (plan.Backend, error) {
		b, err := start(c)
		return &lateBackend{b, stop}, err
	}}
	src, dict := inMemory(t)
	x, err := openSource(ctx, src, dict, opt)
	if err == nil {
		verify(t, x, Query{Text: "t000"})
		err = x.Close()
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	nothingOpen(t, f)
}

// TestCancelBlocked ends a query that the device does not answer.
func TestCancelBlocked(t *testing.T) {
	release := make(chan struct{})
	f := &faulty{name: "f", batch: func(context.Context, int64) error {
		<-release
		return nil
	}}
	opt := faultyOptions(f)
	opt.Workers = 3
	x := openMemory(t, opt)
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer stop()
	if _, err := x.search(ctx, Query{Text: "t000"}, searchOptions{}); !errors.Is(err, context.DeadlineExceeded) || CodeOf(err) != Deadline {
		t.Errorf("Search: %v", err)
	}
	ctx, stop = context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, stop)
	if err := x.searchMany(ctx, testCorpus().queries(100), searchOptions{}, &plan.Results{}); !errors.Is(err, context.Canceled) || CodeOf(err) != Canceled {
		t.Errorf("SearchAll: %v", err)
	}
	close(release)
	verify(t, x, Query{Text: "t000"})
}

// TestTooLarge: a batch that is too large for a device is answered by the host in reserve,
// and the device goes on with the rest. When it is lost, the host takes over.
func TestTooLarge(t *testing.T) {
	qs := testCorpus().queries(pick(300, 100))
	first := &faulty{name: "first", batch: func(_ context.Context, n int64) error {
		if n%3 == 0 {
			return broken(plan.ErrTooLarge, "first")
		}
		return nil
	}}
	last := &faulty{name: "last"}
	x := openMemory(t, reserved(last, first))
	for range 2 {
		if err := answerAll(t, x, qs); err != nil {
			t.Fatal(err)
		}
	}
	if x.Backend().Device != "first" || first.answered.Load() == 0 || last.answered.Load() == 0 {
		t.Errorf("in the end queries run on %+v; first answered %d, last %d", x.Backend(), first.answered.Load(), last.answered.Load())
	}
	first.batch = after(0, plan.ErrDeviceLost, "first")
	if err := answerAll(t, x, qs); err != nil {
		t.Fatal(err)
	}
	if x.Backend().Device != "last" {
		t.Errorf("in the end queries run on %+v", x.Backend())
	}
	last.batch = after(0, plan.ErrTooLarge, "last")
	if err := answerAll(t, x, qs); !errors.Is(err, plan.ErrTooLarge) || CodeOf(err) != Unsupported {
		t.Errorf("too large for all: %v", err)
	}
	if err := x.Close(); err != nil {
		t.Error(err)
	}
	nothingOpen(t, first, last)
}
