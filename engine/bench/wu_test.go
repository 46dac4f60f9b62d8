package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"heddle/engine/plan"
	"heddle/hostfallback"
)

// TestScheduled: what papers measured of scheduling is of one bench.
func TestScheduled(t *testing.T) {
	opt := Options{Figures: []string{"ding-fig7", "wu-fig3", "wu-fig4", "wu-fig7", "wu-fig9", "wu-fig10"}, Tables: []string{"wu-table2", "wu-table3"}}
	if err := CheckSchedule(opt); err != nil {
		t.Error(err)
	}
}

// TestWuOnDevice: what compares a device with the host, or with itself, has rows where
// there is one.
func TestWuOnDevice(t *testing.T) {
	if os.Getenv("HEDDLE_TEST_BACKEND") != "opencl" {
		t.Skip("HEDDLE_TEST_BACKEND is not opencl")
	}
	opt := tiny()
	opt.Backend, opt.Device, opt.Runs, opt.Threshold = "opencl", os.Getenv("HEDDLE_TEST_DEVICE"), 1, 0
	opt.JSON, opt.Plot = t.TempDir()+"/rows.json", t.TempDir()
	var log strings.Builder
	if err := reproduce(t.Context(), "schedule", wuExhibits(), opt, io.Discard, &log); err != nil {
		t.Fatalf("%v\n%s", err, &log)
	}
	shares, seen, rows := make(map[string]float64), make(map[string]int), make(map[string]bool)
	for _, r := range readRows(t, opt.JSON) {
		if key := r.Row + r.Metric + r.Device; rows[key] {
			t.Errorf("two rows of %+v", r)
		} else {
			rows[key] = true
		}
		exhibit, _, _ := strings.Cut(r.Row, " ")
		seen[exhibit]++
		switch r.Metric {
		case "share of queries":
			if exhibit == "wu-fig9" {
				exhibit, _, _ = strings.Cut(r.Row, " host less")
			}
			shares[exhibit] += r.Median
		case "throughput":
			if r.Median <= 0 || r.Device == "" {
				t.Errorf("row %+v", r)
			}
		case "kernels", "transfers", "preparation": // of one device or of both
			shares[r.Metric] += r.Median
		}
	}
	for _, e := range wuExhibits() {
		if seen[e.name] == 0 {
			t.Errorf("%s: no row", e.name)
		}
	}
	for _, part := range []string{"kernels", "transfers", "preparation"} {
		if shares[part] <= 0 {
			t.Errorf("no time of %s", part)
		}
	}
	// One device has all queries, two share them; both for two values of B.
	for name, want := range map[string]float64{"wu-fig9 bs": 100, "wu-fig9 auto": 100, "wu-table2": 400} {
		if got := shares[name]; math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %v %% of the queries, want %v (%v)", name, got, want, shares)
		}
	}
}

// prepared is a session with a tiny workload.
func prepared(t *testing.T) *session {
	t.Helper()
	opt, err := tiny().withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	s := &session{opt: opt, out: io.Discard, log: io.Discard}
	if err := s.prepare(t.Context(), Uniform); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.forget(); err != nil {
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

// TestPull: one store or several answer every query once, and the first error of one of
// them ends all.
func TestPull(t *testing.T) {
	s := prepared(t)
	n := len(s.queries)
	var stores []plan.Store
	for range 3 {
		b := hostfallback.New(hostfallback.Options{Threads: 1})
		store, err := b.Load(t.Context(), s.w.Source)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		defer store.Close()
		stores = append(stores, store)
	}
	want := make([]uint64, n)
	for q := range want {
		lists := s.w.sorted(s.w.Queries[q])
		left := lists[0]
		for _, l := range lists[1:] {
			left = plan.Merge(left, l)
		}
		want[q] = digest(left)
	}
	ends := s.cut(method{threshold: 100}, n)
	for count := 1; count <= len(stores); count++ {
		got := make([]uint64, n)
		parts, err := s.pull(t.Context(), stores[:count], s.w.Source, ends, got)
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
	if _, err := s.pull(t.Context(), stores[:1], s.w.Source, ends, nil); !errors.Is(err, broken) {
		t.Errorf("a store that fails: %v", err)
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.pull(done, stores, s.w.Source, ends, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// TestSingles: the host's times are there for every query, and are measured once.
func TestSingles(t *testing.T) {
	s := prepared(t)
	all, err := s.apart(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		if len(p.onHost) != s.opt.Queries || p.onDevice != nil || slices.Min(p.onHost) <= 0 || len(p.features) != len(p.onHost) {
			t.Errorf("%s: %d times, %v on a device", p.algorithm, len(p.onHost), p.onDevice)
		}
	}
	again, err := s.apart(t.Context())
	if err != nil || !slices.Equal(again[0].onHost, all[0].onHost) {
		t.Errorf("measured anew, %v", err)
	}
	for i, f := range all[0].features {
		lists := s.w.sorted(s.w.Queries[i])
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
		if got := wuNames[lengthClass(c.n)]; got != c.want {
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

// TestBlocks: the threshold is S·T·B, for B from 2 to 2048, of two algorithms.
func TestBlocks(t *testing.T) {
	opt, err := Options{}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	s := &session{opt: opt, w: workload(t, Uniform)}
	who := contestant{name: "host", info: plan.Info{Type: "gpu", ComputeUnits: 30}}
	all := s.blocks(who)
	if len(all) != 22 {
		t.Fatalf("%d places", len(all))
	}
	for i, p := range all {
		b := uint64(2) << (i % 11)
		if p.threshold != 30*256*b || p.at != fmt.Sprint(b) || p.x != float64(b) || p.part || p.queries < 1 || p.queries > gpuQueries {
			t.Errorf("place %d: %+v", i, p)
		}
	}
	if all[0].algorithm != plan.BS || all[21].algorithm != plan.Auto {
		t.Error("binary search comes first, auto after it")
	}
}

// TestChoice: a rule is right where it takes the faster one, and what is wrong weighs as
// much as it loses.
func TestChoice(t *testing.T) {
	var c choice
	for _, q := range []struct{ predicted, host, device float64 }{{1, 3, 1}, {-1, 1, 2}, {0, 5, 5}, {-0.5, 9, 4}} {
		c.choose(q.predicted, q.host, q.device)
	}
	if want := (choice{right: 3, queries: 4, lost: 5, at: 8, took: 1 + 1 + 5 + 9}); c != want {
		t.Errorf("%+v, want %+v", c, want)
	}
}
