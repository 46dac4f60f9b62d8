package hostfallback

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/engine/plan/plantest/matchtest"
	"heddle/engine/plan/plantest/ranktest"
	"heddle/hostfallback/internal/hosttest"
)

// open loads src on a backend with opt and closes both with the test.
func open(tb testing.TB, src *plan.Source, opt Options) *store {
	tb.Helper()
	b := New(opt)
	st, err := b.Load(context.Background(), src)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { st.Close(); b.Close() })
	return st.(*store)
}

func TestBackend(t *testing.T) {
	run := func(name string, opt Options, suite plantest.Options) {
		suite.Corrupt = true
		t.Run(name, func(t *testing.T) {
			open := func(t *testing.T) plan.Backend { return New(opt) }
			matchtest.Run(t, open, suite)
			ranktest.Run(t, open, suite)
		})
	}
	few := []plan.Algorithm{plan.Auto, plan.Bits, plan.BS} // the algorithms that need no tables
	run("full", Options{Threads: 4}, plantest.Options{Small: testing.Short()})
	run("littleroom", Options{Threads: 2, MemoryLimit: 3000}, plantest.Options{Small: true, Algorithms: few})
	if testing.Short() {
		return
	}
	run("default", Options{}, plantest.Options{Small: true})
	run("onethread", Options{Threads: 1}, plantest.Options{Small: true})
	run("noroom", Options{Threads: 2, MemoryLimit: 1}, plantest.Options{Small: true, Algorithms: few})
}

func TestMemoryLimit(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	const docs = 1 << 20
	src := hosttest.Source(t, docs, codec.IDs()[:2], hosttest.Uniform(r, 5000, docs), hosttest.Uniform(r, 5000, docs), hosttest.Uniform(r, 300_000, docs), hosttest.Uniform(r, 300_000, docs))
	lists := 4 * uint64(len(src.Words))
	st := open(t, src, Options{MemoryLimit: 200_000})
	hosttest.PrepareAll(t, src, st.aux.Prepare)
	if used := st.Memory() - lists; used == 0 || used > 200_000 {
		t.Errorf("tables of %d bytes under a limit of 200000", used)
	}
	bits := 0
	for h := range uint32(4) {
		if strings.Contains(st.Explain(plan.Auto, h), "one load") {
			bits++
		}
	}
	if bits != 1 { // one bitset takes 131072 bytes
		t.Errorf("%d bitsets under a limit that has room for one", bits)
	}

	st = open(t, src, Options{MemoryLimit: 1000})
	b := &plan.MatchBatch{Algorithm: plan.HS16}
	b.Add(src, 0, 1)
	var out plan.Results
	err := st.Match(t.Context(), b, &out)
	if !errors.Is(err, plan.ErrOutOfMemory) || !strings.Contains(err.Error(), "limit of 1000") {
		t.Errorf("HS16 without room: %v", err)
	}
	b.Algorithm = plan.LR // 32 bytes for each list
	if err := st.Match(t.Context(), b, &out); err != nil {
		t.Errorf("LR within the limit: %v", err)
	}

	st = open(t, src, Options{})
	before := st.Memory()
	b.Algorithm = plan.Bits
	if err := st.Match(t.Context(), b, &out); err != nil {
		t.Fatal(err)
	}
	if st.Memory() <= before {
		t.Error("the tables of HS16 occupy nothing")
	}
}

// TestCorruptListIsNamed: Load accepts a corrupt list, because queries of other lists still
// have answers. A query of the corrupt list gets an error with its number.
func TestCorruptListIsNamed(t *testing.T) {
	long := make([]uint32, 200)
	for i := range long {
		long[i] = uint32(i)
	}
	for _, id := range codec.IDs() {
		src := hosttest.Source(t, 1000, []codec.ID{id}, []uint32{1, 2, 3}, long)
		damaged := src.Lists[1].Off
		if id == codec.LRC || id == codec.LRCPFor || id == codec.LRCSeg {
			damaged += 8 // the first key: the slope before it may have any value
		}
		src.Words[damaged] ^= 1 << 9
		st := open(t, src, Options{})
		var out plan.Results
		for _, a := range []plan.Algorithm{plan.Auto, plan.LR, plan.HS16} {
			if id == codec.Bitset && a != plan.Auto {
				continue // a probe loads one bit, whatever it is
			}
			b := &plan.MatchBatch{Algorithm: a}
			b.Add(src, 0)
			if err := st.Match(t.Context(), b, &out); err != nil {
				t.Errorf("%v, %v: the sound list: %v", id, a, err)
			}
			b.Add(src, 0, 1)
			err := st.Match(t.Context(), b, &out)
			if !errors.Is(err, codec.ErrCorrupt) || !strings.Contains(err.Error(), "list 1:") {
				t.Errorf("%v, %v: %v", id, a, err)
			}
		}
	}
}

// TestInvalidBatch: a batch with handles of another source gives an error, no panic.
func TestInvalidBatch(t *testing.T) {
	src := hosttest.Source(t, 10, codec.IDs(), []uint32{1, 2}, []uint32{1, 2, 3})
	st := open(t, src, Options{})
	for _, b := range []*plan.MatchBatch{
		{Offsets: []uint32{0, 1}, Handles: []plan.Handle{2}},
		{Offsets: []uint32{0, 2}, Handles: []plan.Handle{1, 0}},
		{Offsets: []uint32{0, 9}, Handles: []plan.Handle{0}},
	} {
		if err := st.Match(t.Context(), b, new(plan.Results)); err == nil {
			t.Errorf("%+v went through", b)
		}
	}
}

// ended is a context that ends after the first call of Err.
type ended struct {
	context.Context
	looked bool
	done   chan struct{}
}

func (e *ended) Done() <-chan struct{} { return e.done }

func (e *ended) Err() error {
	if !e.looked {
		e.looked = true
		return nil
	}
	return context.Canceled
}

// TestCancelIsPrompt: a cancelled batch starts no further query. Each thread may have
// started one, and so built one line, before it finds that the context has ended.
func TestCancelIsPrompt(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const docs, queries, threads = 1 << 20, 100, 3
	var lists [][]uint32
	for range queries + 1 {
		lists = append(lists, hosttest.Uniform(r, 30_000+len(lists), docs))
	}
	src := hosttest.Source(t, docs, codec.IDs()[:2], lists...)
	st := open(t, src, Options{Threads: threads})
	b := &plan.MatchBatch{Algorithm: plan.LR}
	for h := range uint32(queries) {
		b.Add(src, 0, h+1)
	}
	ctx := &ended{Context: t.Context(), done: make(chan struct{})}
	close(ctx.done)
	if err := st.Match(ctx, b, new(plan.Results)); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if lines := st.aux.Memory.Used() / 32; lines > threads {
		t.Errorf("%d queries were begun after the context was done, on %d threads", lines, threads)
	}
}

func TestInfo(t *testing.T) {
	b := New(Options{Threads: 3})
	if info := b.Info(); info.Kind != "host" || info.ComputeUnits != 3 || !strings.Contains(info.Device, "3 threads") {
		t.Errorf("%+v", info)
	}
	if New(Options{}).Info().ComputeUnits < 1 {
		t.Error("no threads by default")
	}
}

func TestExplain(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	const docs = 1 << 20
	src := hosttest.Source(t, docs, codec.IDs(), hosttest.Uniform(r, 3000, docs), hosttest.Uniform(r, 3000, docs), hosttest.Uniform(r, 40_000, docs), hosttest.Uniform(r, 40_000, docs), []uint32{7})
	st := open(t, src, Options{})
	for _, c := range []struct {
		a    plan.Algorithm
		h    plan.Handle
		want string
	}{
		{plan.Auto, 0, "sieve of "},
		{plan.Auto, 1, " in docIDs"}, // a plain copy
		{plan.Auto, 2, "bitset, one load"},
		{plan.Auto, 3, "auxiliary bitset, one load"},
		{plan.Auto, 4, "bs: 1 in docIDs"},
		{plan.BS, 0, "bs: 3000 in docIDs"},
		{plan.BS, 1, "bs: 3000 in 24 blocks"},
		{plan.BS, 2, "bitset, one load"},
		{plan.LR, 1, "lr: safe range of "},
		{plan.HS16, 0, "hs: buckets of 11.7 in docIDs"},
		{plan.HS256, 1, "hs: buckets of 187.5 in 24 blocks"},
		{plan.Bits, 0, "hs: buckets of 11.7 in docIDs"},
		{plan.Bits, 3, "auxiliary bitset, one load"},
		{plan.Bits, 99, "no list 99"},
	} {
		if got := st.Explain(c.a, c.h); !strings.Contains(got, c.want) {
			t.Errorf("list %d under %v: %q, want %q", c.h, c.a, got, c.want)
		}
	}
}
