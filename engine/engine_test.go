package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"heddle/engine/internal/query"
	"heddle/engine/internal/schedule"
	"heddle/engine/observe"
	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
	"heddle/hostfallback"
)

// processorsOf gives a host and a device for engines, both open until the test ends: the
// one that the environment asks for, or one in pure Go.
func processorsOf(t testing.TB) []plan.Backend {
	t.Helper()
	host := hostfallback.New(hostfallback.Options{Threads: 2})
	var device plan.Backend
	if onHost() {
		f := &faulty{name: "a device in pure Go"}
		b, err := f.candidate().Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		device = b
		t.Cleanup(func() {
			if err := b.Close(); err != nil {
				t.Error(err)
			}
			if n := f.stores.Load(); n != 0 {
				t.Errorf("%d stores are still open", n)
			}
		})
	} else {
		device = backendOptions(t).Backends[0]
	}
	t.Cleanup(func() {
		if err := host.Close(); err != nil {
			t.Error(err)
		}
	})
	return []plan.Backend{host, device}
}

// started gives an engine over the corpus in memory, closed with the test.
func started(t testing.TB, opt Options) *served {
	t.Helper()
	src, dict := inMemory(t)
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

// TestEngineSearch has many callers ask under every policy, some for counts, some for
// expressions, and looks at every answer and explanation.
func TestEngineSearch(t *testing.T) {
	backends, c := processorsOf(t), testCorpus()
	qs := c.queries(pick(600, 150))
	modes := map[string]string{"wu-async": "async", "wu-sync": "sync", "ding": "async"} // the mode of each policy with one mode
	for _, policy := range schedule.Policies() {
		t.Run(policy, func(t *testing.T) {
			e := started(t, Options{Backends: backends, Schedule: Schedule{Policy: policy}})
			var next atomic.Int64
			var wg sync.WaitGroup
			for caller := range 16 {
				wg.Go(func() {
					for i := int(next.Add(1) - 1); i < len(qs); i = int(next.Add(1) - 1) {
						var why observe.Explanation
						opt := searchOptions{CountOnly: i%3 == 0}
						a, err := e.search(t.Context(), qs[i], opt, calling{Caller: fmt.Sprint(caller % 3), Explain: &why})
						if err != nil {
							t.Error(err)
							return
						}
						if err := c.check(qs[i], a.Count, a.Docs, opt.CountOnly); err != nil {
							t.Errorf("query %d: %v", i, err)
						}
						if why.Processor == "" || why.Attempts != 1 || len(why.Estimates) != 2 || modes[policy] != "" && why.Mode != modes[policy] || why.Took <= 0 && runtime.GOOS != "windows" { // where the clock has steps
							t.Errorf("query %d: %+v", i, why)
						}
					}
				})
			}
			wg.Wait()
			if st := e.Stats(); st.Answered != uint64(len(qs)) || len(st.Processors) != 2 || st.Failed != 0 {
				t.Errorf("%+v", st)
			}
		})
	}
}

// TestEngineMany answers streams of queries, beside callers with one.
func TestEngineMany(t *testing.T) {
	c := testCorpus()
	e := started(t, Options{Backends: processorsOf(t), BatchCandidates: 500})
	qs := c.queries(pick(2000, 400))
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			var out plan.Results
			if err := e.searchMany(t.Context(), qs, searchOptions{}, &out, calling{}); err != nil {
				t.Error(err)
				return
			}
			for i, q := range qs {
				if err := c.check(q, out.Count(i), out.Query(i), false); err != nil {
					t.Errorf("query %d: %v", i, err)
				}
			}
		})
		wg.Go(func() {
			for _, q := range qs[:50] {
				a, err := e.search(t.Context(), q, searchOptions{}, calling{})
				if err != nil {
					t.Error(err)
					return
				}
				if err := c.check(q, a.Count, a.Docs, false); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	stop := errors.New("enough")
	if err := e.searchBatches(t.Context(), qs, searchOptions{}, func(int, *plan.Results) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("an error of deliver: %v", err)
	}
	wrong := append(slices.Clone(qs[:20]), Query{Terms: []string{"t1"}, Weights: []float64{-1}})
	var r rankings
	if err := e.rankMany(t.Context(), wrong, rankOptions{K: 3}, &r, calling{}); !errors.Is(err, plan.ErrNotRanked) {
		t.Errorf("lists without frequencies: %v", err)
	}
}

// TestEngineRank compares rankings with the rankings of an index, one by one and in streams.
func TestEngineRank(t *testing.T) {
	docs := rankedCorpus(pick(3000, 700))
	src, dict := docs.source(t, 0)
	backends := processorsOf(t)
	e, err := startSource(t.Context(), src, dict, Options{Backends: backends, Results: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	x := docs.open(t, 0, Options{Backends: []plan.Backend{backends[0]}})
	qs := rankedQueries(pick(200, 60))
	for _, mode := range Matches() {
		opt := rankOptions{Mode: mode, K: 7}
		var want, many rankings
		if err := x.rankMany(t.Context(), qs, opt, &want); err != nil {
			t.Fatal(err)
		}
		if err := e.rankMany(t.Context(), qs, opt, &many, calling{}); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for g := range 8 {
			wg.Go(func() {
				for i := g; i < len(qs); i += 8 {
					docs, scores := want.Query(i)
					if d, s := many.Query(i); !slices.Equal(d, docs) || !slices.Equal(s, scores) {
						t.Errorf("%v: query %d of many: %v %v, want %v %v", mode, i, d, s, docs, scores)
					}
					for range 3 { // the second may come from the cache of answers
						r, err := e.rank(t.Context(), qs[i], opt, calling{})
						if err != nil {
							t.Error(err)
						} else if !slices.Equal(r.Docs, docs) || !slices.Equal(r.Scores, scores) {
							t.Errorf("%v: query %d: %v, want %v %v", mode, i, r, docs, scores)
						}
					}
				}
			})
		}
		wg.Wait()
	}
	if st := e.Stats().Results; st.Hits == 0 {
		t.Errorf("%+v", st)
	}
	wrong := append(slices.Clone(qs[:20]), Query{Terms: []string{"t1"}, Weights: []float64{-1}})
	var r rankings
	err = e.rankMany(t.Context(), wrong, rankOptions{K: 3}, &r, calling{})
	if q, ok := errors.AsType[*query.Error](err); !ok || q.Query != 20 {
		t.Errorf("a weight below zero: %v", err)
	}
	if _, err := e.rank(t.Context(), wrong[20], rankOptions{K: 3}, calling{}); err == nil {
		t.Error("a weight below zero is ranked")
	}
	for range 2 { // the second from the cache of answers
		if r, err := e.rank(t.Context(), Query{Terms: []string{"unknown"}}, rankOptions{K: 3}, calling{}); err != nil || r.Docs == nil || r.Scores == nil || len(r.Docs) > 0 {
			t.Errorf("nothing found: %v, %v", r, err)
		}
	}
	if _, err := e.rank(t.Context(), qs[0], rankOptions{}, calling{}); err == nil {
		t.Error("no document is asked for")
	}
}

// TestEngineAnswersAreKept: a query that comes again is answered from the cache, whatever
// the order of its terms, and by each index for itself.
func TestEngineAnswersAreKept(t *testing.T) {
	e := started(t, Options{Backends: processorsOf(t), Results: 1 << 20})
	ask := func(call calling, q Query, opt searchOptions) (answer, bool) {
		var why observe.Explanation
		call.Explain = &why
		a, err := e.search(t.Context(), q, opt, call)
		if err != nil {
			t.Fatal(err)
		}
		return a, why.Cached
	}
	q, turned := Query{Terms: []string{"t000", "t001"}}, Query{Text: "t001 t000 t001"}
	first, cached := ask(calling{}, q, searchOptions{})
	if cached {
		t.Fatal("a first answer is cached")
	}
	if first.Stats.Matches == 0 {
		t.Fatal("the first query has no match")
	}
	again, cached := ask(calling{}, turned, searchOptions{})
	if again.Stats != (plan.Stats{}) {
		t.Errorf("an answer of the cache took %+v", again.Stats)
	}
	if !cached || !slices.Equal(first.Docs, again.Docs) || first.Count != again.Count {
		t.Errorf("cached %t: %v, want %v", cached, again, first)
	}
	clear(again.Docs) // the caller's
	if third, _ := ask(calling{}, q, searchOptions{}); !slices.Equal(third.Docs, first.Docs) {
		t.Error("an answer that was written to came again")
	}
	if _, cached := ask(calling{Fresh: true}, q, searchOptions{}); cached {
		t.Error("a fresh answer was asked for")
	}
	if n, cached := ask(calling{}, q, searchOptions{CountOnly: true}); cached || n.Count != first.Count {
		t.Errorf("count %d, cached %t", n.Count, cached)
	}
}

// TestEngineDeadlines: a query without time fails with the typed error, and so does one
// whose context has ended.
func TestEngineDeadlines(t *testing.T) {
	testneeds.Clock(t)
	e := started(t, Options{Backends: processorsOf(t), Timeout: time.Nanosecond})
	q := Query{Terms: []string{"t000", "t001"}}
	if _, err := e.search(t.Context(), q, searchOptions{}, calling{}); !errors.Is(err, schedule.ErrDeadline) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("after the deadline: %v", err)
	}
	if _, err := e.search(t.Context(), q, searchOptions{}, calling{Timeout: -1}); err != nil {
		t.Errorf("without a deadline: %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := e.search(ctx, q, searchOptions{}, calling{Timeout: -1}); !errors.Is(err, context.Canceled) {
		t.Errorf("of a context that has ended: %v", err)
	}
	if st := e.Stats(); st.Answered != 1 {
		t.Errorf("%+v", st)
	}
}

// TestEngineReload changes the index over and over below callers: every answer is right,
// none is lost.
func TestEngineReload(t *testing.T) {
	path := indexFile(t)
	e, err := startFile(t.Context(), path, Options{Backends: processorsOf(t)})
	if err != nil {
		t.Fatal(err)
	}
	c := testCorpus()
	qs := c.queries(40)
	done := make(chan struct{})
	var asked atomic.Int64
	var wg sync.WaitGroup
	for g := range 6 {
		wg.Go(func() {
			for i := g; ; i++ {
				select {
				case <-done:
					return
				default:
				}
				q := qs[i%len(qs)]
				a, err := e.search(t.Context(), q, searchOptions{}, calling{})
				if err == nil {
					err = c.check(q, a.Count, a.Docs, false)
				}
				if err != nil {
					t.Error(err)
					return
				}
				asked.Add(1)
			}
		})
	}
	for range pick(10, 4) {
		before := asked.Load()
		if err := e.Reload(t.Context(), path); err != nil {
			t.Error(err)
		}
		for asked.Load() < before+50 && !t.Failed() {
			time.Sleep(time.Millisecond)
		}
	}
	if err := e.Reload(t.Context(), filepath.Join(t.TempDir(), "none.hdl")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an index that is not there: %v", err)
	}
	close(done)
	wg.Wait()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = e.search(t.Context(), qs[0], searchOptions{}, calling{})
	_, noView := e.view()
	for _, err := range []error{err, noView, e.Reload(t.Context(), path), e.Close()} {
		if !errors.Is(err, plan.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	}
	for _, p := range e.Stats().Processors {
		if p.Memory != 0 || p.Placement != "" {
			t.Errorf("after Close: %+v", p)
		}
	}
}
