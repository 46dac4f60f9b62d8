package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
)

// batching are the settings that change how queries are cut into batches.
func batching() []Options {
	return []Options{
		{BatchCandidates: 1, Workers: 1},
		{BatchCandidates: 1, Workers: 7},
		{BatchCandidates: 900, Workers: 2},
		{BatchCandidates: math.MaxUint64, Workers: 1},
		{BatchCandidates: math.MaxUint64, Workers: 64},
		{},
	}
}

func (o Options) with(b Options) Options {
	o.BatchCandidates, o.Workers = b.BatchCandidates, b.Workers
	return o
}

// TestSearchMany gives the answers of Search and of a scan, however it cuts the
// queries into batches.
func TestSearchMany(t *testing.T) {
	testneeds.OneCaller(t)
	c := testCorpus()
	qs := c.queries(pick(300, 60))
	single := openFile(t, backendOptions(t))
	answers := make([]answer, len(qs))
	for i, q := range qs {
		var err error
		if answers[i], err = single.search(t.Context(), q, searchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, b := range batching() {
		t.Run(fmt.Sprintf("candidates=%d,workers=%d", b.BatchCandidates, b.Workers), func(t *testing.T) {
			x := openMemory(t, backendOptions(t).with(b))
			var out plan.Results // reused, from long to short and back
			for _, n := range []int{len(qs), 1, 0, 2, len(qs) / 2, len(qs)} {
				for _, countOnly := range []bool{false, true} {
					if err := x.searchMany(t.Context(), qs[:n], searchOptions{CountOnly: countOnly}, &out); err != nil {
						t.Fatal(err)
					}
					if len(out.Offsets) != n+1 {
						t.Fatalf("%d offsets for %d queries", len(out.Offsets), n)
					}
					matches := uint64(0)
					for i, q := range qs[:n] {
						docs := []uint32(nil)
						if !countOnly {
							docs = out.Query(i)
						}
						if err := c.check(q, out.Count(i), docs, countOnly); err != nil {
							t.Fatalf("query %d of %d: %v", i, n, err)
						}
						if out.Count(i) != answers[i].Count {
							t.Fatalf("query %d of %d: %d documents, %d when asked alone", i, n, out.Count(i), answers[i].Count)
						}
						matches += out.Count(i)
					}
					if countOnly && len(out.Docs) != 0 {
						t.Errorf("%d docIDs where counts were asked for", len(out.Docs))
					}
					if out.Stats.Queries != uint64(n) || out.Stats.Matches != matches {
						t.Errorf("stats of %d queries with %d matches: %+v", n, matches, out.Stats)
					}
				}
			}
		})
	}
}

// TestDeliver hands every query over once, in disjoint ranges.
func TestDeliver(t *testing.T) {
	c := testCorpus()
	qs := c.queries(pick(300, 60))
	for _, b := range batching() {
		t.Run(fmt.Sprintf("candidates=%d,workers=%d", b.BatchCandidates, b.Workers), func(t *testing.T) {
			x := openMemory(t, backendOptions(t).with(b))
			for range 3 { // batches change as the mean load gets known
				times := make([]atomic.Int32, len(qs))
				err := x.searchBatches(t.Context(), qs, searchOptions{}, func(first int, r *plan.Results) error {
					if len(r.Offsets) < 2 {
						return errors.New("an empty batch was delivered")
					}
					for i := range len(r.Offsets) - 1 {
						times[first+i].Add(1)
						if err := c.check(qs[first+i], r.Count(i), r.Query(i), false); err != nil {
							return fmt.Errorf("query %d: %w", first+i, err)
						}
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				for i := range times {
					if n := times[i].Load(); n != 1 {
						t.Errorf("query %d was delivered %d times", i, n)
					}
				}
			}
		})
	}
}

// TestBatchSize closes a batch when its load reaches the threshold, not before.
func TestBatchSize(t *testing.T) {
	testneeds.OneCaller(t)
	qs := make([]Query, 200)
	for i := range qs {
		qs[i] = Query{Terms: []string{"t000", "t001"}}
	}
	load := min(len(testCorpus().scan(Query{Text: "t000"})), len(testCorpus().scan(Query{Text: "t001"})))
	sizes := func(candidates uint64) (sizes []int) {
		var mu sync.Mutex
		x := openMemory(t, backendOptions(t).with(Options{BatchCandidates: candidates, Workers: 1}))
		if err := x.searchMany(t.Context(), qs[:1], searchOptions{}, new(plan.Results)); err != nil { // the load is known
			t.Fatal(err)
		}
		err := x.searchBatches(t.Context(), qs, searchOptions{}, func(_ int, r *plan.Results) error {
			mu.Lock()
			defer mu.Unlock()
			sizes = append(sizes, len(r.Offsets)-1)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return sizes
	}
	if got := sizes(1); len(got) != len(qs) {
		t.Errorf("threshold 1: %d batches for %d queries", len(got), len(qs))
	}
	if got := sizes(uint64(10 * load)); len(got) != 20 {
		t.Errorf("threshold of ten queries: batches of %v", got)
	}
	if got := sizes(math.MaxUint64); len(got) != 4 { // so that batches overlap on a device
		t.Errorf("no threshold: batches of %v", got)
	}
}

// TestNoQueries calls deliver for none.
func TestNoQueries(t *testing.T) {
	testneeds.OneCaller(t)
	x := openMemory(t, backendOptions(t))
	err := x.searchBatches(t.Context(), nil, searchOptions{}, func(int, *plan.Results) error {
		return errors.New("delivered nothing")
	})
	if err != nil {
		t.Error(err)
	}
	out := plan.Results{Offsets: []uint64{0, 7}, Docs: make([]uint32, 7)}
	if err := x.searchMany(t.Context(), nil, searchOptions{}, &out); err != nil || len(out.Offsets) != 1 || len(out.Docs) != 0 {
		t.Errorf("results of no queries: %+v, %v", out, err)
	}
}

// TestDeliverFails stops at the error of deliver and returns it.
func TestDeliverFails(t *testing.T) {
	qs := testCorpus().queries(pick(400, 100))
	full := errors.New("disk full")
	for _, workers := range []int{1, 4} {
		x := openMemory(t, backendOptions(t).with(Options{BatchCandidates: 1, Workers: workers}))
		var calls, failed atomic.Int32
		err := x.searchBatches(t.Context(), qs, searchOptions{}, func(first int, r *plan.Results) error {
			if calls.Add(1) >= 3 {
				failed.Add(1)
				return full
			}
			return nil
		})
		if !errors.Is(err, full) {
			t.Errorf("%d workers: %v, want the error of deliver", workers, err)
		}
		if n := int(failed.Load()); n < 1 || n > 2*workers { // as many in delivery as running
			t.Errorf("%d workers: deliver was called %d times from its first error on", workers, n)
		}
		verify(t, x, Query{Text: "t000 t001"})
	}
}

// TestCancelledBefore answers nothing under a context that is done.
func TestCancelledBefore(t *testing.T) {
	x := openMemory(t, backendOptions(t))
	qs := testCorpus().queries(10)
	reason := errors.New("the user left")
	for name, ctx := range map[string]func() (context.Context, func()){
		"cancelled": func() (context.Context, func()) {
			ctx, stop := context.WithCancel(t.Context())
			stop()
			return ctx, stop
		},
		"cancelled for a reason": func() (context.Context, func()) {
			ctx, stop := context.WithCancelCause(t.Context())
			stop(reason)
			return ctx, func() {}
		},
		"deadline": func() (context.Context, func()) { return context.WithTimeout(t.Context(), 0) },
	} {
		t.Run(name, func(t *testing.T) {
			ctx, stop := ctx()
			defer stop()
			want := ctx.Err()
			if _, err := x.search(ctx, qs[0], searchOptions{}); !errors.Is(err, want) {
				t.Errorf("Search: %v, want %v", err, want)
			}
			var out plan.Results
			if err := x.searchMany(ctx, qs, searchOptions{}, &out); !errors.Is(err, want) {
				t.Errorf("SearchMany: %v, want %v", err, want)
			}
			err := x.searchBatches(ctx, qs, searchOptions{}, func(int, *plan.Results) error {
				return errors.New("something was delivered")
			})
			if !errors.Is(err, want) {
				t.Errorf("SearchBatches: %v, want %v", err, want)
			}
		})
	}
	verify(t, x, Query{Text: "t000 t001"})
}

// TestCancelledDuring stops on the way: some batches are delivered, not all.
func TestCancelledDuring(t *testing.T) {
	qs := testCorpus().queries(pick(400, 100))
	for _, workers := range []int{1, 4} {
		x := openMemory(t, backendOptions(t).with(Options{BatchCandidates: 1, Workers: workers}))
		ctx, stop := context.WithCancel(t.Context())
		var calls atomic.Int32
		err := x.searchBatches(ctx, qs, searchOptions{}, func(int, *plan.Results) error {
			if n := calls.Add(1); n == 5 {
				stop()
			} else if n > 5 { // on a busy machine the rest may be done before the end is seen
				time.Sleep(200 * time.Millisecond)
			}
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%d workers: %v", workers, err)
		}
		if n := int(calls.Load()); n < 5 || n > 5+2*workers {
			t.Errorf("%d workers: %d batches were delivered, the context ended at the fifth", workers, n)
		}
		verify(t, x, Query{Text: "t000 t001"})
	}
}

// TestConcurrentBatches has several callers deliver at the same time.
func TestConcurrentBatches(t *testing.T) {
	c := testCorpus()
	x := openFile(t, backendOptions(t).with(Options{BatchCandidates: 500, Workers: 3}))
	var wg sync.WaitGroup
	for caller := range 4 {
		wg.Go(func() {
			qs := c.queries(pick(100, 30) + caller)
			var answered atomic.Int64
			err := x.searchBatches(t.Context(), qs, searchOptions{}, func(first int, r *plan.Results) error {
				for i := range len(r.Offsets) - 1 {
					answered.Add(1)
					if err := c.check(qs[first+i], r.Count(i), r.Query(i), false); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil || int(answered.Load()) != len(qs) {
				t.Errorf("caller %d: %d of %d queries answered: %v", caller, answered.Load(), len(qs), err)
			}
		})
	}
	wg.Wait()
}

// TestBatchCandidatesOfACall: a call's own threshold cuts as an index's does, and
// a query to a worker gives the same answers.
func TestBatchCandidatesOfACall(t *testing.T) {
	testneeds.OneCaller(t)
	c := testCorpus()
	qs := c.queries(pick(300, 60))
	x := openMemory(t, backendOptions(t).with(Options{BatchCandidates: math.MaxUint64, Workers: 1}))
	batches := func(opt searchOptions) int {
		var n atomic.Int64
		err := x.searchBatches(t.Context(), qs, opt, func(first int, r *plan.Results) error {
			n.Add(1)
			for i := range len(r.Offsets) - 1 {
				if err := c.check(qs[first+i], r.Count(i), r.Query(i), false); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return int(n.Load())
	}
	whole, cut := batches(searchOptions{}), batches(searchOptions{BatchCandidates: 900, Part: true})
	if whole >= cut || cut < 3 {
		t.Errorf("%d batches at the index's threshold, %d at the call's", whole, cut)
	}
}
