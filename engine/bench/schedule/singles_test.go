package schedule

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"testing"

	"heddle/engine/bench/harness"
	"heddle/engine/bench/harness/harnesstest"
	"heddle/engine/bench/workload"
	"heddle/engine/plan"
	"heddle/engine/plan/reference"
	"heddle/hostfallback"
)

// prepared returns a bench with a tiny workload.
func prepared(t *testing.T) *wuBench {
	t.Helper()
	s := newWu(harness.NewLogBench(harnesstest.Runner(t, harnesstest.Tiny())))
	if _, err := s.Prepare(t.Context(), workload.Uniform.GOV(s.Opt.GOVDocs)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Forget(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// failing fails from its third batch on.
type failing struct {
	plan.Store
	batches atomic.Int64
	err     error
}

func (f *failing) Match(ctx context.Context, b *plan.MatchBatch, out *plan.Results) error {
	if f.batches.Add(1) > 2 {
		return f.err
	}
	return f.Store.Match(ctx, b, out)
}

// TestPull: any number of stores answers every query once, and the first error of a
// store ends the run.
func TestPull(t *testing.T) {
	s := prepared(t)
	n := len(s.Queries)
	var stores []plan.Store
	for range 3 {
		b := hostfallback.New(hostfallback.Options{Threads: 1})
		store, err := b.Load(t.Context(), s.W.Source)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		defer store.Close()
		stores = append(stores, store)
	}
	want := make([]uint64, n)
	for q := range want {
		lists := s.W.Sorted(s.W.Queries[q])
		left := lists[0]
		for _, l := range lists[1:] {
			left = reference.Intersect(left, l)
		}
		want[q] = workload.Digest(left)
	}
	ends := s.Cut(harness.Method{Threshold: 100}, n)
	for count := 1; count <= len(stores); count++ {
		got := make([]uint64, n)
		parts, err := s.pull(t.Context(), stores[:count], s.W.Source, ends, got)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d stores: other answers than a plain merge", count)
		}
		var queries uint64
		for _, p := range parts {
			queries += p.times.Queries
			if p.times.Queries > 0 && (p.prepare <= 0 || p.times.Wall <= 0) {
				t.Errorf("%d stores: %+v", count, p)
			}
		}
		if len(parts) != count || queries != uint64(n) {
			t.Errorf("%d stores: %d parts with %d queries of %d", count, len(parts), queries, n)
		}
	}
	broken := errors.New("broken")
	stores[0] = &failing{Store: stores[0], err: broken}
	if _, err := s.pull(t.Context(), stores[:1], s.W.Source, ends, nil); !errors.Is(err, broken) {
		t.Errorf("a store that fails: %v", err)
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.pull(done, stores, s.W.Source, ends, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// TestSingles: every query has a time on the host, and is measured once.
func TestSingles(t *testing.T) {
	s := prepared(t)
	all, err := s.apart(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		if len(p.onHost) != s.Opt.Queries || p.onDevice != nil || slices.Min(p.onHost) <= 0 || len(p.features) != len(p.onHost) {
			t.Errorf("%s: %d times, %v on a device", p.pair, len(p.onHost), p.onDevice)
		}
	}
	again, err := s.apart(t.Context())
	if err != nil || !slices.Equal(again[0].onHost, all[0].onHost) {
		t.Errorf("measured anew, %v", err)
	}
	for i, f := range all[0].features {
		lists := s.W.Sorted(s.W.Queries[i])
		uboc := 0.0
		for _, l := range lists[1:] {
			uboc += float64(len(lists[0])) * math.Log2(float64(len(l)))
		}
		if f.Shortest != uint64(len(lists[0])) || math.Abs(f.UBOC-uboc) > 1e-9*uboc {
			t.Fatalf("query %d: %+v, UBOC should be %v", i, f, uboc)
		}
	}
}

func TestClasses(t *testing.T) {
	for _, c := range []struct {
		n    uint32
		want string
	}{{0, "1 to 1 K"}, {1000, "1 to 1 K"}, {1001, "to 5 K"}, {10_000, "to 10 K"}, {100_000, "to 100 K"}, {100_001, "more"}, {math.MaxUint32, "more"}} {
		if got := lengthNames[lengthClass(c.n)]; got != c.want {
			t.Errorf("a list of %d: %s, want %s", c.n, got, c.want)
		}
	}
	for _, c := range []struct {
		ms   float64
		want string
	}{{-100, "below -10"}, {-10, "-10 to -5"}, {-0.015, "-0.02 to -0.01"}, {-1e-9, "-0.01 to 0"}, {0, "0 to 0.01"}, {0.01, "0.01 to 0.02"}, {9.9, "5 to 10"}, {10, "from 10"}, {1e9, "from 10"}} {
		if got := differenceName(differenceClass(c.ms)); got != c.want {
			t.Errorf("%v ms: %s, want %s", c.ms, got, c.want)
		}
	}
}

// TestBlocks: the threshold is S·T·B, for B from 2 to 2048 and two algorithms.
func TestBlocks(t *testing.T) {
	w, err := workload.Generate(t.Context(), 1, 1, workload.Uniform, workload.SmallDocs)
	if err != nil {
		t.Fatal(err)
	}
	s := &wuBench{LogBench: &harness.LogBench{Runner: harnesstest.Runner(t, harness.Options{}), W: w}}
	who := harness.Contestant{Name: "host", Info: plan.Info{Type: "gpu", ComputeUnits: 30}}
	all := s.blocks(who)
	if len(all) != 22 {
		t.Fatalf("%d places", len(all))
	}
	for i, p := range all {
		b := uint64(2) << (i % 11)
		if p.Threshold != 30*256*b || p.At != fmt.Sprint(b) || p.X != float64(b) || p.Part || p.queries < 1 || p.queries > harness.GPUQueries {
			t.Errorf("place %d: %+v", i, p)
		}
	}
	if all[0].Algorithm != plan.BS || all[21].Algorithm != plan.Auto {
		t.Error("binary search comes first, auto after it")
	}
}

// TestChoice: a rule is right if it takes the faster processor; a wrong choice costs
// the difference of the times.
func TestChoice(t *testing.T) {
	var c choice
	for _, q := range []struct{ predicted, host, device float64 }{{1, 3, 1}, {-1, 1, 2}, {0, 5, 5}, {-0.5, 9, 4}} {
		c.choose(q.predicted, q.host, q.device)
	}
	if want := (choice{right: 3, queries: 4, lost: 5, at: 8, took: 1 + 1 + 5 + 9}); c != want {
		t.Errorf("%+v, want %+v", c, want)
	}
}
