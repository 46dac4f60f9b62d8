package cluster

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"connectrpc.com/connect/v2"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/internal/layout"
	"heddle/engine/internal/part"
	"heddle/engine/plan/testneeds"
)

var sample = engine.Query{Text: "w1 w2 w7", K: 10}

func down(context.Context) error {
	return connect.NewError(connect.CodeUnavailable, "the node is down")
}

// silent never answers, as a stopped process.
func silent(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// faulty returns a cluster of two shards on two nodes, and the answer of sample.
func faulty(t *testing.T, opt Options) (*machines, *Coordinator, []uint64) {
	t.Helper()
	m := place(t, newEngine(t), corpus(200), []int{0, 120, 200}, 2)
	c := New(m, m, opt)
	h, _, err := c.Search(t.Context(), "x", sample, api.Ask{})
	if err != nil || len(h.IDs) != sample.K {
		t.Fatal(h, err)
	}
	return m, c, h.IDs
}

// TestReplica: with two replicas, no query fails or changes while a node is down or silent.
func TestReplica(t *testing.T) {
	for name, fault := range map[string]func(context.Context) error{"down": down, "silent": silent} {
		t.Run(name, func(t *testing.T) {
			testneeds.VirtualTime(t, func(t *testing.T) {
				m, c, want := faulty(t, Options{Silence: 50 * time.Millisecond})
				var answers atomic.Int64
				var wg sync.WaitGroup
				for range 4 {
					wg.Go(func() {
						for i := range 100 {
							if i == 30 {
								m.set("n0", fault)
							}
							h, cover, err := c.Search(t.Context(), "x", sample, api.Ask{})
							if err != nil || !slices.Equal(h.IDs, want) || cover != nil {
								t.Errorf("query %d: %v, %+v, %v; want %v", i, h.IDs, cover, err, want)
							}
							answers.Add(1)
						}
					})
				}
				wg.Wait()
				if answers.Load() != 400 {
					t.Errorf("%d answers", answers.Load())
				}
			})
		})
	}
}

// TestEpoch: a node that refuses an epoch makes the coordinator read the map again.
func TestEpoch(t *testing.T) {
	m, c, want := faulty(t, Options{})
	next := *m.layout
	next.Epoch = 2
	m.stale = m.layout
	for name, n := range m.nodes {
		for i := range next.Shards {
			x, _, err := n.OpenIndex("x", 1, i)
			if err != nil {
				t.Fatal(name, err)
			}
			n.Remove("x", 1, i)
			n.AddIndex("x", 2, i, x.Index)
		}
	}
	if _, _, err := c.Search(t.Context(), "x", sample, api.Ask{}); !errors.Is(err, part.ErrEpoch) || engine.CodeOf(err) != engine.Unavailable {
		t.Errorf("no newer map: error %v", err)
	}
	m.layout = &next
	h, cover, err := c.Search(t.Context(), "x", sample, api.Ask{AllowPartial: true})
	if err != nil || cover.GetEpoch() != 2 || cover.GetMissing() != nil || !slices.Equal(h.IDs, want) {
		t.Errorf("%v, %+v, %v; want %v", h.IDs, cover, err, want)
	}
}

// TestCancel: a cancelled query ends at once, with its requests.
func TestCancel(t *testing.T) {
	m, c, _ := faulty(t, Options{})
	before := runtime.NumGoroutine()
	m.set("n0", silent)
	m.set("n1", silent)
	for _, test := range []struct {
		q    engine.Query
		code engine.Code
	}{{engine.Query{Text: "w1", K: 1, Timeout: 20 * time.Millisecond}, engine.Deadline}, {engine.Query{Text: "w2", K: 1}, engine.Canceled}} {
		ctx, cancel := context.WithCancel(t.Context())
		if test.code == engine.Canceled {
			context.AfterFunc(t.Context(), cancel)
			go cancel()
		}
		if _, _, err := c.Search(ctx, "x", test.q, api.Ask{}); engine.CodeOf(err) != test.code {
			t.Errorf("error %v, want %v", err, test.code)
		}
		cancel()
	}
	for end := time.Now().Add(time.Minute); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines, before %d", runtime.NumGoroutine(), before)
		}
	}
}

// TestSecond: second requests stay below their share of all calls.
func TestSecond(t *testing.T) {
	c := New(nil, nil, Options{})
	allowed := 0
	for range 10_000 {
		c.earn(1)
		if c.spend(1) {
			allowed++
		}
	}
	if allowed < 490 || allowed > 500+mostCredit {
		t.Errorf("%d second requests for 10,000 calls", allowed)
	}
}

// TestLate: the 95th percentile of a class of calls, once there are enough calls.
func TestLate(t *testing.T) {
	var w window
	for i := range recent {
		w.add(1, time.Duration(i)*time.Millisecond)
	}
	if one, many := w.late(1, time.Second), w.late(1000, time.Second); one != 121*time.Millisecond || many != time.Second {
		t.Errorf("late after %v and %v", one, many)
	}
}

// TestKind: the name of a table is no index.
func TestKind(t *testing.T) {
	m, c, _ := faulty(t, Options{})
	m.layout = &layout.Map{Name: "x", Kind: layout.Table}
	if _, _, err := c.Search(t.Context(), "x", sample, api.Ask{}); engine.CodeOf(err) != engine.NotFound {
		t.Errorf("error %v", err)
	}
}
