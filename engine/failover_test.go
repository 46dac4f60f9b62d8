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

	"heddle/engine/plan"
)

// answerAll asks qs in batches and checks that each is answered once and right.
func answerAll(t *testing.T, x *Index, qs []Query) error {
	t.Helper()
	times := make([]atomic.Int32, len(qs))
	err := x.SearchBatches(t.Context(), qs, SearchOptions{}, func(first int, r *plan.Results) error {
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

// TestFailover has one device that fails in each of the ways there are, and a
// second one that takes over.
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
		"out of memory later":  {batch: after(7, plan.ErrOutOfMemory, "first")},
		"build fails in a run": {batch: after(3, plan.ErrBuild, "first")},
		"wrapped, deeper": {batch: func(context.Context, int64) error {
			return fmt.Errorf("outer: %w", broken(plan.ErrDeviceLost, "first"))
		}},
		"joined with a closing": {load: errors.Join(broken(plan.ErrDeviceLost, "first"), errors.New("and closing failed"))},
	} {
		t.Run(name, func(t *testing.T) {
			first.name = "first"
			second := &faulty{name: "second"}
			third := &faulty{name: "third"}
			var log logged
			opt := faultyOptions(first, second, third)
			opt.Log = log.logger()
			x := openMemory(t, opt)
			if atStart := first.batch == nil; (x.Backend().Device == "second") != atStart {
				t.Errorf("at the start queries run on %s", x.Backend().Device)
			}
			if err := answerAll(t, x, qs); err != nil {
				t.Fatal(err)
			}
			if x.Backend().Device != "second" || x.Backend().Kind != "faulty" {
				t.Errorf("in the end queries run on %+v", x.Backend())
			}
			if n := first.answered.Load() + second.answered.Load(); n < int64(len(qs)) {
				t.Errorf("%d queries were answered by devices, of %d", n, len(qs))
			}
			if first.opens.Load() != 1 || second.opens.Load() != 1 || third.opens.Load() != 0 {
				t.Errorf("opened %d, %d, %d times", first.opens.Load(), second.opens.Load(), third.opens.Load())
			}
			if first.batch == nil {
				log.expect(t, "warn", "first", "a fault was asked for")
				if first.backends.Load() != 0 {
					t.Error("the device that did not load stays open")
				}
			} else {
				log.expect(t, "error", "first", "a fault was asked for")
			}
			log.expect(t, "info", "second", "lists resident")
			if err := x.Close(); err != nil {
				t.Error(err)
			}
			nothingOpen(t, first, second, third)
		})
	}
}

// TestRankFailover has devices fail in batches of ranked queries, between the two
// passes of AndOr too, until one is left.
func TestRankFailover(t *testing.T) {
	c := rankedCorpus(300)
	qs := rankedQueries(pick(200, 100))
	sound := c.open(t, 0, Options{Backend: "host"})
	for _, mode := range Modes() {
		opt := RankOptions{Mode: mode, K: 8}
		var want, got Rankings
		if err := sound.RankMany(t.Context(), qs, opt, &want); err != nil {
			t.Fatal(err)
		}
		a := &faulty{name: "a", batch: after(4, plan.ErrDeviceLost, "a")}
		b := &faulty{name: "b", batch: after(1, plan.ErrOutOfMemory, "b")}
		d := &faulty{name: "d", batch: after(7, plan.ErrBuild, "d")}
		last := &faulty{name: "last"}
		o := faultyOptions(a, b, d, last)
		o.BatchPostings = 500
		x := c.open(t, 0, o)
		if err := x.RankMany(t.Context(), qs, opt, &got); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Offsets, want.Offsets) || !slices.Equal(got.Docs, want.Docs) || !slices.Equal(got.Scores, want.Scores) {
			t.Errorf("%s: rankings differ from those of a sound device", mode)
		}
		if got.Stats.Queries != uint64(len(qs)) || x.Backend().Device != "last" {
			t.Errorf("%s: %d queries, at last on %s", mode, got.Stats.Queries, x.Backend().Device)
		}
		if err := x.Close(); err != nil {
			t.Error(err)
		}
		nothingOpen(t, a, b, d, last)
	}
}

// TestFailoverChain goes through devices that all fail in time, down to pure Go.
func TestFailoverChain(t *testing.T) {
	a := &faulty{name: "a", batch: after(3, plan.ErrDeviceLost, "a")}
	b := &faulty{name: "b", open: broken(plan.ErrBuild, "b")}
	c := &faulty{name: "c", batch: after(1, plan.ErrOutOfMemory, "c")}
	d := &faulty{name: "d", load: broken(plan.ErrOutOfMemory, "d")}
	opt := faultyOptions(a, b, c, d)
	opt.backends = append(opt.backends, hostCandidate(opt))
	x := openFile(t, opt)
	if err := answerAll(t, x, testCorpus().queries(200)); err != nil {
		t.Fatal(err)
	}
	if x.Backend().Kind != "host" {
		t.Errorf("in the end queries run on %+v", x.Backend())
	}
	if err := x.Close(); err != nil {
		t.Error(err)
	}
	nothingOpen(t, a, b, c, d)
}

// TestNoFailover keeps the device where the query or the caller is at fault.
func TestNoFailover(t *testing.T) {
	damage := errors.New("list 7 is damaged")
	first := &faulty{name: "first", batch: func(_ context.Context, n int64) error {
		if n == 1 {
			return damage
		}
		return nil
	}}
	second := &faulty{name: "second"}
	x := openMemory(t, faultyOptions(first, second))
	if _, err := x.Search(t.Context(), Query{Text: "t000"}, SearchOptions{}); !errors.Is(err, damage) {
		t.Errorf("%v, want the error of the list", err)
	}
	verify(t, x, Query{Text: "t000 t001"})
	if second.opens.Load() != 0 || x.Backend().Device != "first" {
		t.Errorf("queries run on %s", x.Backend().Device)
	}
}

// TestAllFailAtStart joins the errors of all devices.
func TestAllFailAtStart(t *testing.T) {
	a := &faulty{name: "a", open: broken(plan.ErrNoDevice, "a")}
	b := &faulty{name: "b", load: broken(plan.ErrOutOfMemory, "b")}
	c := &faulty{name: "c", open: &plan.DeviceError{Kind: plan.ErrBuild, Device: "c", Op: "building", Log: "line 3: what?"}}
	src, dict := inMemory(t)
	x, err := New(t.Context(), src, dict, faultyOptions(a, b, c))
	if x != nil || err == nil {
		t.Fatalf("an index without a backend: %v, %v", x, err)
	}
	for _, want := range []error{plan.ErrNoDevice, plan.ErrOutOfMemory, plan.ErrBuild} {
		if !errors.Is(err, want) {
			t.Errorf("%v is not %v", err, want)
		}
	}
	var device *plan.DeviceError
	if !errors.As(err, &device) || device.Device != "a" {
		t.Errorf("the first error is of %+v", device)
	}
	nothingOpen(t, a, b, c)

	path := indexFile(t)
	if x, err := Open(t.Context(), path, faultyOptions(b)); x != nil || !errors.Is(err, plan.ErrOutOfMemory) {
		t.Errorf("open: %v, %v", x, err)
	}
	nothingOpen(t, b)
}

// TestAllFailInARun gives the error of the run and of those that did not start,
// then that of the run alone, and closes in the end.
func TestAllFailInARun(t *testing.T) {
	a := &faulty{name: "a", batch: after(3, plan.ErrDeviceLost, "a")}
	b := &faulty{name: "b", load: broken(plan.ErrOutOfMemory, "b")}
	opt := faultyOptions(a, b)
	opt.Workers, opt.BatchCandidates = 1, 1
	x := openMemory(t, opt)
	qs := testCorpus().queries(20)
	err := answerAll(t, x, qs)
	if !errors.Is(err, plan.ErrDeviceLost) || !errors.Is(err, plan.ErrOutOfMemory) {
		t.Errorf("all devices failed: %v", err)
	}
	for range 2 {
		_, err := x.Search(t.Context(), qs[0], SearchOptions{})
		var device *plan.DeviceError
		if !errors.As(err, &device) || device.Kind != plan.ErrDeviceLost || errors.Is(err, plan.ErrNoDevice) {
			t.Errorf("after that: %v", err)
		}
	}
	if b.opens.Load() != 1 {
		t.Errorf("the device that does not load was opened %d times", b.opens.Load())
	}
	if err := x.Close(); err != nil {
		t.Error(err)
	}
	nothingOpen(t, a, b)
}

// TestConcurrentFailover has many callers while one device after another fails.
func TestConcurrentFailover(t *testing.T) {
	a := &faulty{name: "a", batch: after(20, plan.ErrDeviceLost, "a")}
	b := &faulty{name: "b", open: broken(plan.ErrSelfTest, "b")}
	c := &faulty{name: "c", batch: after(30, plan.ErrOutOfMemory, "c")}
	d := &faulty{name: "d"}
	x := openMemory(t, faultyOptions(a, b, c, d))
	var wg sync.WaitGroup
	for caller := range 8 {
		wg.Go(func() {
			qs := testCorpus().queries(40 + caller)
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
	if x.Backend().Device != "d" {
		t.Errorf("in the end queries run on %s", x.Backend().Device)
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

// TestCancelFailover ends the wait for a slow backend: for who starts it and for
// who waits behind. The backend is tried again for the next caller.
func TestCancelFailover(t *testing.T) {
	a := &faulty{name: "a", batch: after(1, plan.ErrDeviceLost, "a")}
	slow := &faulty{name: "slow", wait: make(chan struct{})}
	x := openMemory(t, faultyOptions(a, slow))
	q := Query{Text: "t000 t120"}

	starting, stop := context.WithCancel(t.Context())
	first := make(chan error, 1)
	go func() {
		_, err := x.Search(starting, q, SearchOptions{})
		first <- err
	}()
	for slow.opens.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	waiting, stopWaiting := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer stopWaiting()
	if _, err := x.Search(waiting, q, SearchOptions{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("who waits behind a slow start: %v", err)
	}
	stop()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("who starts a slow backend: %v", err)
	}
	close(slow.wait)
	verify(t, x, q)
	if x.Backend().Device != "slow" || slow.opens.Load() != 2 {
		t.Errorf("queries run on %s, which was opened %d times", x.Backend().Device, slow.opens.Load())
	}
	if err := x.Close(); err != nil {
		t.Error(err)
	}
	nothingOpen(t, a, slow)
}

// TestCancelAsItStarts keeps a backend that has started although the context
// ended meanwhile: it must not get lost, open.
func TestCancelAsItStarts(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	f := &faulty{name: "f"}
	opt := faultyOptions(f)
	open := opt.backends[0].open
	var late candidate
	late.open = func(c context.Context) (plan.Backend, error) {
		b, err := open(c)
		return &lateBackend{b, stop}, err
	}
	opt.backends[0] = late
	src, dict := inMemory(t)
	x, err := New(ctx, src, dict, opt)
	if err == nil {
		verify(t, x, Query{Text: "t000"})
		err = x.Close()
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	nothingOpen(t, f)
}

// lateBackend ends the context when its store is ready.
type lateBackend struct {
	plan.Backend
	stop func()
}

func (b *lateBackend) Load(ctx context.Context, src *plan.Source) (plan.Store, error) {
	s, err := b.Backend.Load(ctx, src)
	b.stop()
	return s, err
}

// TestCancelBlocked ends a batch that the device does not answer.
func TestCancelBlocked(t *testing.T) {
	f := &faulty{name: "f", batch: func(ctx context.Context, n int64) error {
		if n > 4 {
			return nil
		}
		<-ctx.Done()
		return ctx.Err()
	}}
	opt := faultyOptions(f)
	opt.Workers = 3
	x := openMemory(t, opt)
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer stop()
	if _, err := x.Search(ctx, Query{Text: "t000"}, SearchOptions{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Search: %v", err)
	}
	ctx, stop = context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, stop)
	if err := x.SearchMany(ctx, testCorpus().queries(100), SearchOptions{}, &plan.Results{}); !errors.Is(err, context.Canceled) {
		t.Errorf("SearchMany: %v", err)
	}
	f.batches.Store(4)
	verify(t, x, Query{Text: "t000"})
}

// TestTooLarge: what is too large for a device is answered by the last candidate, and the
// device goes on answering the rest. When it is lost, the others take over in order.
func TestTooLarge(t *testing.T) {
	qs := testCorpus().queries(pick(300, 100))
	first := &faulty{name: "first", batch: func(_ context.Context, n int64) error {
		if n%3 == 0 {
			return broken(plan.ErrTooLarge, "first")
		}
		return nil
	}}
	second, last := &faulty{name: "second"}, &faulty{name: "last"}
	x := openMemory(t, faultyOptions(first, second, last))
	for range 2 {
		if err := answerAll(t, x, qs); err != nil {
			t.Fatal(err)
		}
	}
	if x.Backend().Device != "first" || last.opens.Load() != 1 || second.opens.Load() != 0 || first.answered.Load() == 0 || last.answered.Load() == 0 {
		t.Errorf("in the end queries run on %+v; first answered %d, last %d of %d opened", x.Backend(), first.answered.Load(), last.answered.Load(), last.opens.Load())
	}
	for _, loses := range []*faulty{first, second} {
		loses.batch = after(0, plan.ErrDeviceLost, loses.name)
		if err := answerAll(t, x, qs); err != nil {
			t.Fatal(err)
		}
	}
	if x.Backend().Device != "last" || second.opens.Load() != 1 || last.opens.Load() != 1 {
		t.Errorf("in the end queries run on %+v", x.Backend())
	}
	last.batch = after(0, plan.ErrTooLarge, "last")
	if err := answerAll(t, x, qs); !errors.Is(err, plan.ErrTooLarge) {
		t.Errorf("too large for all: %v", err)
	}
	if err := x.Close(); err != nil {
		t.Error(err)
	}
	nothingOpen(t, first, second, last)

	alone := &faulty{name: "alone", batch: after(0, plan.ErrTooLarge, "alone")}
	x = openMemory(t, faultyOptions(alone, &faulty{name: "gone", load: broken(plan.ErrOutOfMemory, "gone")}))
	for range 2 { // the other is tried again: it may have room by then
		if err := answerAll(t, x, qs); !errors.Is(err, plan.ErrTooLarge) || !errors.Is(err, plan.ErrOutOfMemory) {
			t.Errorf("too large, and nothing beside: %v", err)
		}
	}
}
