package shard

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
	"heddle/hostfallback"
)

// faulty is a backend whose stores do as they are told.
type faulty struct {
	plan.Backend
	load   error
	run    func(ctx context.Context) error // before each batch; may be nil
	memory uint64
	open   *atomic.Int64 // stores

	threads int // threads of the last batch
}

type faultyStore struct {
	plan.Store
	b *faulty
}

func (b *faulty) Load(ctx context.Context, src *plan.Source) (plan.Store, error) {
	if b.load != nil {
		return nil, b.load
	}
	s, err := b.Backend.Load(ctx, src)
	if err == nil {
		b.open.Add(1)
	}
	return &faultyStore{s, b}, err
}

func (s *faultyStore) Match(ctx context.Context, b *plan.MatchBatch, out *plan.Results) error {
	s.b.threads = b.Threads
	return s.after(ctx, &out.Stats, func() error { return s.Store.Match(ctx, b, out) })
}

func (s *faultyStore) Rank(ctx context.Context, r *plan.RankBatch, out *plan.TopK) error {
	s.b.threads = r.Threads
	return s.after(ctx, &out.Stats, func() error { return s.Store.Rank(ctx, r, out) })
}

func (s *faultyStore) after(ctx context.Context, stats *plan.Stats, run func() error) error {
	if s.b.run != nil {
		if err := s.b.run(ctx); err != nil {
			return err
		}
	}
	err := run()
	stats.BytesUp, stats.Probe = 7, time.Second
	return err
}

func (s *faultyStore) Explain(plan.Algorithm, plan.Handle) string { return fmt.Sprint(s.b.memory) }
func (s *faultyStore) Memory() uint64                             { return s.b.memory }

func (s *faultyStore) Close() error {
	s.b.open.Add(-1)
	return s.Store.Close()
}

// faults are backends in pure Go, and how many stores they have open.
func faults(n int) (all []*faulty, backends []plan.Backend, open *atomic.Int64) {
	open = new(atomic.Int64)
	for i := range n {
		b := &faulty{Backend: hostfallback.New(hostfallback.Options{Threads: 1}), memory: uint64(i), open: open}
		all, backends = append(all, b), append(backends, b)
	}
	return all, backends, open
}

// batches are one of each kind over the lists of src.
func batches(src *plan.Source, queries int) (b plan.MatchBatch, f plan.MatchBatch, r plan.RankBatch) {
	rnd := rand.New(rand.NewPCG(9, 9))
	r.K, r.Norm = 10, plan.NewNorm(0.9, 0.4, 250)
	for i := range queries {
		x, y, z := rnd.Uint32N(uint32(len(src.Lists))), rnd.Uint32N(uint32(len(src.Lists))), rnd.Uint32N(uint32(len(src.Lists)))
		b.Add(src, x, y)
		or := plan.Expr{Op: plan.OpOr, Args: []plan.Expr{{List: x}, {List: y}}}
		if err := f.AddExpr(src, plan.Expr{Op: plan.OpAndNot, Args: []plan.Expr{or, {List: z}}}); err != nil {
			panic(err)
		}
		r.Add(src, plan.Term{List: x, Weight: 1 + uint32(i)}, plan.Term{List: y, Weight: 3}, plan.Term{List: z, Weight: 1})
	}
	return b, f, r
}

func load(t testing.TB, src *plan.Source, backends []plan.Backend) plan.Store {
	t.Helper()
	s, err := Load(t.Context(), src, backends)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestThreads: the parts share the threads that a batch may take, and each has at least one.
func TestThreads(t *testing.T) {
	w := random(t, 1000, 100, 1)
	all, backends, _ := faults(2)
	s := load(t, &w.Source, backends)
	defer s.Close()
	b, _, r := batches(&w.Source, 3)
	for _, c := range []struct{ whole, part int }{{0, 0}, {1, 1}, {3, 2}, {8, 4}} {
		b.Threads, r.Threads = c.whole, c.whole
		for kind, run := range map[string]func() error{
			"match": func() error { return s.Match(t.Context(), &b, new(plan.Results)) },
			"rank":  func() error { return s.Rank(t.Context(), &r, new(plan.TopK)) },
		} {
			if err := run(); err != nil || all[0].threads != c.part || all[1].threads != c.part {
				t.Errorf("%s, %d threads: the parts have %d and %d, want %d; %v", kind, c.whole, all[0].threads, all[1].threads, c.part, err)
			}
		}
	}
}

// TestJoin compares the answers of several callers with a store of the whole.
func TestJoin(t *testing.T) {
	w := random(t, 20_000, 1000, 5)
	for _, n := range []int{2, 5} {
		w.compare(t, load(t, &w.Source, onHost(n).over))
	}
}

// compare asks s and a store of the whole in pure Go the same, and closes s. Weights of a
// few units make the scores of many documents equal.
func (w *whole) compare(t *testing.T, s plan.Store) {
	t.Helper()
	b, f, r := batches(&w.Source, 60)
	single := load(t, &w.Source, onHost(1).over)
	defer single.Close()
	same := func(kind string, ask func(s plan.Store) (answer [3]any, err error)) {
		got, err := ask(s)
		want, err2 := ask(single)
		if err := errors.Join(err, err2); err != nil {
			t.Errorf("%s: %v", kind, err)
		} else if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the answers differ", kind)
		}
	}
	var wg sync.WaitGroup
	for _, countOnly := range []bool{false, true} {
		b, f := b, f
		b.CountOnly, f.CountOnly = countOnly, countOnly
		wg.Go(func() {
			same("conjunctions", func(s plan.Store) ([3]any, error) {
				var out plan.Results
				err := s.Match(t.Context(), &b, &out)
				return [3]any{out.Offsets, out.Docs}, err
			})
		})
		wg.Go(func() {
			same("expressions", func(s plan.Store) ([3]any, error) {
				var out plan.Results
				err := s.Match(t.Context(), &f, &out)
				return [3]any{out.Offsets, out.Docs}, err
			})
		})
	}
	for _, mode := range []plan.Mode{plan.Or, plan.And} {
		for _, k := range []int{1, 10, 3000} {
			r := r
			r.Mode, r.K = mode, k
			wg.Go(func() {
				same(fmt.Sprintf("best %d, %v", k, mode), func(s plan.Store) ([3]any, error) {
					var out plan.TopK
					err := s.Rank(t.Context(), &r, &out)
					return [3]any{out.Offsets, out.Docs, out.Scores}, err
				})
			})
		}
	}
	wg.Wait()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestJoinLarge has answers that are worth several goroutines to copy.
func TestJoinLarge(t *testing.T) {
	w := &whole{Source: plan.Source{Docs: 100_000}}
	all := make([]uint32, w.Docs)
	for d := range all {
		all[d] = uint32(d)
	}
	w.add(t, 3, all, nil)
	s := load(t, &w.Source, onHost(3).over)
	defer s.Close()
	var b plan.MatchBatch
	for range 9 {
		b.Add(&w.Source, 0)
	}
	var out plan.Results
	if err := s.Match(t.Context(), &b, &out); err != nil {
		t.Fatal(err)
	}
	for q := range 9 {
		if !slices.Equal(out.Query(q), all) {
			t.Errorf("query %d differs", q)
		}
	}
}

// huge says of every query that it has as many documents as there can be.
type huge struct{ plan.Store }

func (huge) Match(_ context.Context, b *plan.MatchBatch, out *plan.Results) error {
	out.Reset()
	for q := range b.Queries() {
		out.Offsets = append(out.Offsets, uint64(q+1)*math.MaxUint32)
	}
	return nil
}

// TestJoinHuge has counts that add up to more than 2^32.
func TestJoinHuge(t *testing.T) {
	w := random(t, 1000, 100, 8)
	parts, err := Split(t.Context(), &w.Source, 3)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Join(&w.Source, parts, []plan.Store{huge{}, huge{}, huge{}})
	if err != nil {
		t.Fatal(err)
	}
	b, _, _ := batches(&w.Source, 5)
	b.CountOnly = true
	var out plan.Results
	if err := s.Match(t.Context(), &b, &out); err != nil || out.Stats.Matches != 15*math.MaxUint32 || len(out.Docs) != 0 {
		t.Errorf("%+v, %v", out.Stats, err)
	}
	for q := range 5 {
		if n := out.Count(q); n != 3*math.MaxUint32 {
			t.Errorf("query %d: %d documents", q, n)
		}
	}
}

// each calls f for every kind of batch on s.
func each(s plan.Store, src *plan.Source, f func(kind string, run func(ctx context.Context) (plan.Stats, error))) {
	b, g, r := batches(src, 5)
	var out plan.Results
	var best plan.TopK
	f("intersect", func(ctx context.Context) (plan.Stats, error) {
		err := s.Match(ctx, &b, &out)
		return out.Stats, err
	})
	f("evaluate", func(ctx context.Context) (plan.Stats, error) {
		err := s.Match(ctx, &g, &out)
		return out.Stats, err
	})
	f("rank", func(ctx context.Context) (plan.Stats, error) {
		err := s.Rank(ctx, &r, &best)
		return best.Stats, err
	})
}

// TestPartFails: the error of one part ends the others, which would wait for ever, and
// says which part it was. Afterwards the store answers.
func TestPartFails(t *testing.T) {
	w := random(t, 3000, 100, 6)
	all, backends, _ := faults(3)
	s := load(t, &w.Source, backends)
	defer s.Close()
	each(s, &w.Source, func(kind string, run func(context.Context) (plan.Stats, error)) {
		for failing := range all {
			for i, b := range all {
				b.run = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
				if i == failing {
					b.run = func(context.Context) error { return &plan.DeviceError{Kind: plan.ErrDeviceLost, Device: "this one"} }
				}
			}
			_, err := run(t.Context())
			var part *PartError
			if !errors.As(err, &part) || part.Part != failing || part.Of != 3 || !errors.Is(err, plan.ErrDeviceLost) || !strings.Contains(err.Error(), "this one") {
				t.Errorf("%s, part %d fails: %v", kind, failing, err)
			}
		}
		for _, b := range all { // none fails, all are too late
			b.run = func(ctx context.Context) error { <-ctx.Done(); return fmt.Errorf("gave up: %w", ctx.Err()) }
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Millisecond)
		defer stop()
		if _, err := run(ctx); err != context.DeadlineExceeded {
			t.Errorf("%s past its deadline: %v", kind, err)
		}
		for _, b := range all {
			b.run = nil
		}
		st, err := run(t.Context())
		if err != nil || st.BytesUp != 21 || st.Probe != 3*time.Second || st.Queries != 5 {
			t.Errorf("%s afterwards: %+v, %v", kind, st, err)
		}
	})
}

// TestLoadFails says which backends failed, and leaves nothing loaded.
func TestLoadFails(t *testing.T) {
	w := random(t, 3000, 100, 7)
	all, backends, open := faults(4)
	full := func(i int) error {
		return &plan.DeviceError{Kind: plan.ErrOutOfMemory, Device: fmt.Sprintf("device %d", i)}
	}
	all[1].load, all[3].load = full(1), full(3)
	s, err := Load(t.Context(), &w.Source, backends)
	if s != nil || !errors.Is(err, plan.ErrOutOfMemory) || open.Load() != 0 {
		t.Errorf("%v; %d stores are open", err, open.Load())
	}
	for _, want := range []string{"part 1 of 4: device 1", "part 3 of 4: device 3"} {
		if !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%v, want %q too", err, want)
		}
	}
}

// TestJoinRefuses refuses lists of parts that are not all parts of one whole.
func TestJoinRefuses(t *testing.T) {
	w := random(t, 1000, 100, 8)
	parts, err := Split(t.Context(), &w.Source, 3)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		parts  []Part
		stores int
	}{
		"none":     {nil, 0},
		"stores":   {parts, 2},
		"order":    {[]Part{parts[0], parts[2], parts[1]}, 3},
		"the last": {parts[:2], 2},
		"lists":    {[]Part{{Source: &plan.Source{Docs: 1000}}}, 1},
	} {
		if _, err := Join(&w.Source, c.parts, make([]plan.Store, c.stores)); err == nil {
			t.Errorf("%s: joined", name)
		}
	}
}

// TestExplain explains all parts at once if they agree, else each part.
func TestExplain(t *testing.T) {
	w := random(t, 1000, 100, 10)
	all, backends, open := faults(3)
	s := load(t, &w.Source, backends)
	if got, want := s.Explain(plan.Auto, 1), "part 0: 0; part 1: 1; part 2: 2"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for _, b := range all {
		b.memory = 5
	}
	if got, want := s.Explain(plan.Auto, 1), "3 parts: 5"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	b, _, _ := batches(&w.Source, 2)
	if got := s.ExplainBatch(&b); !strings.HasPrefix(got, "3 parts: auto") {
		t.Errorf("%q", got)
	}
	b.Handles[0] = 1 << 30
	if got := s.ExplainBatch(&b); !strings.Contains(got, "names list") {
		t.Errorf("a batch that is not valid: %q", got)
	}
	if s.Memory() != 15 {
		t.Errorf("%d bytes", s.Memory())
	}
	if err := s.Close(); err != nil || open.Load() != 0 {
		t.Errorf("%v; %d stores are open", err, open.Load())
	}
	if err := s.Close(); !errors.Is(err, plan.ErrClosed) {
		t.Errorf("a second close: %v", err)
	}
}

// TestAllocations: a batch takes a few allocations, a query none.
func TestAllocations(t *testing.T) {
	if testneeds.Race {
		t.Skip("under the race detector a sync.Pool drops values at random")
	}
	w := random(t, 3000, 100, 11)
	s := load(t, &w.Source, onHost(3).over)
	defer s.Close()
	b, f, r := batches(&w.Source, 400)
	var out plan.Results
	var best plan.TopK
	for name, run := range map[string]func() error{
		"intersect": func() error { return s.Match(t.Context(), &b, &out) },
		"evaluate":  func() error { return s.Match(t.Context(), &f, &out) },
		"rank":      func() error { return s.Rank(t.Context(), &r, &best) },
	} {
		err := run()
		if n := testing.AllocsPerRun(5, func() { err = errors.Join(err, run()) }); n > 40 || err != nil {
			t.Errorf("%s: %v allocations for 400 queries, %v", name, n, err)
		}
	}
}

// unfiltered is a store whose filters fail.
type unfiltered struct{ plan.Store }

var errFilter = errors.New("no filter")

func (unfiltered) Filter(context.Context, []uint64) (plan.Filter, error) { return nil, errFilter }

// TestFilterFails: a part without its filter is an error of the whole.
func TestFilterFails(t *testing.T) {
	w := random(t, 1000, 100, 11)
	_, backends, _ := faults(3)
	s := load(t, &w.Source, backends).(*store)
	s.stores[1] = unfiltered{s.stores[1]}
	if f, err := s.Filter(t.Context(), make([]uint64, plan.FilterWords(1000))); f != nil || !errors.Is(err, errFilter) {
		t.Errorf("%v, %v", f, err)
	}
}

// TestBits cuts a bitset at every place.
func TestBits(t *testing.T) {
	const docs = 200
	bits := make([]uint64, plan.FilterWords(docs))
	has := func(d uint32) bool { return d*d%7 < 3 || d == docs-1 }
	for d := range uint32(docs) {
		if has(d) {
			bits[d/64] |= 1 << (d % 64)
		}
	}
	for first := range uint32(docs) {
		for _, n := range []uint32{1, 63, 64, 65, docs - first} {
			if first+n > docs {
				continue
			}
			want := make([]uint64, plan.FilterWords(n))
			for d := range n {
				if has(first + d) {
					want[d/64] |= 1 << (d % 64)
				}
			}
			if got := Bits(bits, uint64(first), n); !slices.Equal(got, want) {
				t.Fatalf("%d documents from %d on: %x, want %x", n, first, got, want)
			}
		}
	}
}
