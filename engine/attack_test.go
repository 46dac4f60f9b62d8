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
	"heddle/engine/internal/schedule"
	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
	"heddle/hostfallback"
)

// attack holds open backends and the queries of an attack.
type attack struct {
	*asking
	backends []plan.Backend
}

// TestEngineAttacks treats engines as callers should not.
func TestEngineAttacks(t *testing.T) {
	a := attack{newAsking(t, 300, 40), processorsOf(t)}
	for name, by := range map[string]func(*testing.T, attack){
		"contexts end anywhere": contextsEndAnywhere,
		"closed amid callers":   closedAmidCallers,
		"a small queue":         smallQueue,
		"tiny timeouts":         tinyTimeouts,
		"many names":            manyNames,
		"slow deliveries":       slowDeliveries,
		"odd calls":             oddCalls,
		"reloaded amid streams": reloadedAmidStreams,
	} {
		t.Run(name, func(t *testing.T) { by(t, a) })
	}
}

// start gives an engine that is closed with the test.
func (a attack) start(t *testing.T, opt Options) *served {
	t.Helper()
	src, dict := a.source()
	opt.Backends = a.backends
	e, err := startSource(t.Context(), src, dict, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil && !errors.Is(err, plan.ErrClosed) {
			t.Error(err)
		}
	})
	return e
}

// countdown is a context that ends when it has been asked left times.
type countdown struct {
	context.Context
	left atomic.Int64
	stop context.CancelFunc
}

func (c *countdown) tick() {
	if c.left.Add(-1) == 0 {
		c.stop()
	}
}

func (c *countdown) Done() <-chan struct{}       { c.tick(); return c.Context.Done() }
func (c *countdown) Err() error                  { c.tick(); return c.Context.Err() }
func (c *countdown) Deadline() (time.Time, bool) { c.tick(); return c.Context.Deadline() }

// contextsEndAnywhere ends contexts at each place where they are looked at.
func contextsEndAnywhere(t *testing.T, a attack) {
	e := a.start(t, Options{BatchCandidates: 300})
	step := int64(1)
	if !onHost() {
		step = 5
	}
	for kind := range forms {
		for _, mode := range schedule.Modes() {
			for left := int64(0); left < 12; left += step {
				inner, stop := context.WithCancel(t.Context())
				ctx := &countdown{Context: inner, stop: stop}
				ctx.left.Store(left)
				call := calling{Mode: mode}
				one := a.qs[int(left)%len(a.qs)].one(ctx, e, kind, call)
				ctx.left.Store(left)
				many := a.many(ctx, e, kind, 0, 40, call)
				for _, err := range []error{one, many} {
					if err != nil && !errors.Is(err, context.Canceled) {
						t.Errorf("form %d, %v, %d: %v", kind, mode, left, err)
					}
				}
				stop()
			}
		}
	}
	if err := a.load(t, e, 300); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// closedAmidCallers closes an engine, twice at the same time, while many ask it.
func closedAmidCallers(t *testing.T, a attack) {
	waits, questions := pick(10, 4), 3000
	if !onHost() {
		waits, questions = 2, 600
	}
	for wait := range time.Duration(waits) {
		e := a.start(t, Options{BatchCandidates: 300})
		var closing sync.WaitGroup
		var closed atomic.Int64
		for range 2 {
			closing.Go(func() {
				time.Sleep(wait * time.Millisecond)
				if err := e.Close(); err == nil {
					closed.Add(1)
				} else if !errors.Is(err, plan.ErrClosed) {
					t.Error(err)
				}
			})
		}
		failed := a.load(t, e, questions)
		closing.Wait()
		for _, err := range failed {
			if !errors.Is(err, plan.ErrClosed) {
				t.Error(err)
			}
		}
		if closed.Load() != 1 {
			t.Errorf("closed %d times", closed.Load())
		}
	}
}

// smallQueue has a queue of one place: the engine refuses queries without a place at once
// and answers the rest.
func smallQueue(t *testing.T, a attack) {
	var h heard
	e := a.start(t, Options{Observer: &h, Schedule: Schedule{Queue: 1}})
	failed := a.load(t, e, 3000)
	for _, err := range failed {
		if full, ok := errors.AsType[*schedule.FullError](err); !ok || !errors.Is(err, schedule.ErrFull) || full.Room != 1 {
			t.Error(err)
		}
	}
	if n := h.queries.Load(); n != 3000 {
		t.Errorf("%d have ended of 3000", n)
	}
}

// tinyTimeouts asks with less time than anything takes: each query is answered,
// or late with the error that says so.
func tinyTimeouts(t *testing.T, a attack) {
	e := a.start(t, Options{})
	for timeout := time.Nanosecond; timeout < 10*time.Millisecond; timeout *= 3 {
		for kind := range forms {
			call := calling{Timeout: timeout}
			for _, err := range []error{a.qs[1].one(t.Context(), e, kind, call), a.many(t.Context(), e, kind, 0, 40, call)} {
				if err != nil && (!errors.Is(err, schedule.ErrDeadline) || !errors.Is(err, context.DeadlineExceeded)) {
					t.Errorf("within %v: %v", timeout, err)
				}
			}
		}
	}
}

// manyNames has thousands of callers, each with a query.
func manyNames(t *testing.T, a attack) {
	e := a.start(t, Options{})
	names := pick(2500, 250)
	if testneeds.Race {
		names = 250
	}
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range names {
				if err := a.qs[i%len(a.qs)].one(t.Context(), e, form(i%int(forms)), calling{Caller: fmt.Sprint(g, " ", i)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// slowDeliveries blocks the deliveries of streams: that is no fault of processors,
// and others are answered meanwhile, even from within a delivery.
func slowDeliveries(t *testing.T, a attack) {
	const hang = 5 * time.Second // more than a batch takes on a busy machine
	var h heard
	e := a.start(t, Options{Observer: &h, Schedule: Schedule{Hang: hang}, BatchCandidates: 300, Workers: 2})
	qs := make([]Query, 200)
	for i := range qs {
		qs[i] = a.qs[i%len(a.qs)].boolean
	}
	var delivered, waiting atomic.Int64
	release := make(chan struct{})
	var streams sync.WaitGroup
	for range 3 {
		streams.Go(func() {
			if err := e.searchBatches(t.Context(), qs, searchOptions{}, func(first int, r *plan.Results) error {
				waiting.Add(1)
				<-release
				delivered.Add(int64(len(r.Offsets) - 1))
				return a.qs[0].one(t.Context(), e, every, calling{})
			}); err != nil {
				t.Error(err)
			}
		})
	}
	for deadline := time.Now().Add(5 * time.Second); waiting.Load() < 5 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(hang * 5 / 4) // longer than a batch may take
	for i, q := range a.qs {
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		if err := q.one(ctx, e, form(i%int(forms)), calling{}); err != nil {
			t.Errorf("beside streams that are not taken: %v", err)
		}
		stop()
	}
	close(release)
	streams.Wait()
	if n := delivered.Load(); n != 3*int64(len(qs)) {
		t.Errorf("%d answers of %d were delivered", n, 3*len(qs))
	}
	if len(h.out) > 0 {
		t.Errorf("taken out: %v", h.out)
	}
}

// oddCalls sends empty and impossible queries.
func oddCalls(t *testing.T, a attack) {
	e := a.start(t, Options{})
	src, dict := a.source()
	x, err := openSource(t.Context(), src, dict, Options{Backend: "host"})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	none := func(int, *plan.Results) error { t.Error("nothing was delivered"); return nil }
	if err := e.searchBatches(t.Context(), nil, searchOptions{}, none); err != nil {
		t.Error(err)
	}
	r := rankings{Offsets: []uint64{0, 7}}
	if err := e.rankMany(t.Context(), []Query{}, rankOptions{K: 1}, &r, calling{}); err != nil || r.Queries() != 0 {
		t.Errorf("%v, %d rankings of no query", err, r.Queries())
	}
	for _, k := range []int{-1, 0, 1, 2, 299, 300, 301, plan.MaxK, plan.MaxK + 1, 1 << 40} {
		for _, mode := range Matches() {
			opt, q := rankOptions{Mode: mode, K: k}, a.qs[3].ranked
			want, wantErr := x.rank(t.Context(), q, opt)
			got, err := e.rank(t.Context(), q, opt, calling{})
			var many rankings
			errMany := e.rankMany(t.Context(), []Query{q}, opt, &many, calling{})
			if (err == nil) != (wantErr == nil) || (errMany == nil) != (wantErr == nil) {
				t.Errorf("k = %d: %v and %v, an index says %v", k, err, errMany, wantErr)
			}
			if !slices.Equal(got.Docs, want.Docs) || !slices.Equal(got.Scores, want.Scores) {
				t.Errorf("k = %d: %v, want %v", k, got, want)
			}
		}
	}
	var long Query
	for i := range 3000 {
		long.Terms = append(long.Terms, fmt.Sprint("t", i%rankedTerms))
	}
	if _, err := e.search(t.Context(), long, searchOptions{}, calling{}); err != nil {
		t.Error(err)
	}
	if _, err := e.search(t.Context(), Query{Terms: []string{"t1"}}, searchOptions{Algorithm: 200}, calling{}); err == nil {
		t.Error("an algorithm that there is not")
	}
	if err := a.load(t, e, 300); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// TestEngineWrongOptions: an engine that does not start leaves nothing open.
func TestEngineWrongOptions(t *testing.T) {
	d := &faulty{name: "device"}
	before := holding(t)
	for name, change := range map[string]func(*Options){
		"hang":     func(o *Options) { o.Schedule.Hang = -1 },
		"capacity": func(o *Options) { o.Schedule.Queue = -1 },
		"leave":    func(o *Options) { o.Schedule.Leave = 0.9 },
		"backend":  func(o *Options) { o.candidates, o.Backend = nil, "abacus" },
		"backends": func(o *Options) { o.Backends, o.Threads = []plan.Backend{hostfallback.New(hostfallback.Options{})}, 3 },
		"no memory": func(o *Options) {
			o.candidates = []backend.Candidate{(&faulty{name: "small", load: noRoom}).candidate()}
		},
		"none opens": func(o *Options) {
			o.candidates = []backend.Candidate{(&faulty{name: "gone", open: broken(plan.ErrNoDevice, "gone")}).candidate()}
		},
	} {
		opt := Options{}
		opt.candidates = []backend.Candidate{d.candidate()}
		change(&opt)
		if e, err := startFile(t.Context(), indexFile(t), opt); err == nil {
			t.Errorf("%s: it starts", name)
			e.Close()
		}
	}
	nothingOpen(t, d)
	comeBack(t, before)
}

// TestEngineOutlivesPanics: where the goroutine of a caller panics, as servers recover
// from, others go on.
func TestEngineOutlivesPanics(t *testing.T) {
	a := newAsking(t, 300, 40)
	panics := atomic.Bool{}
	d := &faulty{name: "host", host: true, batch: func(context.Context, int64) error {
		if panics.Load() {
			panic("a fault was asked for")
		}
		return nil
	}}
	c := d.candidate()
	opt := Options{Schedule: Schedule{Policy: "wu-async"}}
	opt.candidates = []backend.Candidate{c}
	src, dict := a.source()
	e, err := startSource(t.Context(), src, dict, opt)
	if err != nil {
		t.Fatal(err)
	}
	panics.Store(true)
	for kind := range forms {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			a.qs[2].one(t.Context(), e, kind, calling{})
		}()
	}
	panics.Store(false)
	if err := a.load(t, e, 300); err != nil {
		t.Error(err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	nothingOpen(t, d)
}
