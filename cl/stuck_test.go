package cl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"heddle/cl/internal/device/devicetest"
	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/engine/plan/testneeds"
)

// TestStuck queries a device that no longer answers in the middle of a launch, between two pieces. Each caller gets the
// error of its context, and so do callers of other operations, callers that upload lists, tables and filters, and callers
// that open the device.
func TestStuck(t *testing.T) {
	if i, err := strconv.Atoi(os.Getenv("HEDDLE_TEST_UNLIKE")); err == nil {
		runStuck(t, i)
		return
	}
	testneeds.OneCaller(t)
	testneeds.Device(t)
	layer := newLayer(t)
	for i, kernel := range []string{"intersect", "evaluate", "tf_components"} {
		if i > 0 && !testneeds.Full() {
			break
		}
		if said, err := onLayer(t, layer, "gpu units=1 stuck="+kernel, "^TestStuck$", fmt.Sprint("HEDDLE_TEST_UNLIKE=", i)); err != nil {
			t.Errorf("%s: %v\n%s", kernel, err, said)
		}
	}
}

// runStuck runs an operation that gets stuck beside others.
func runStuck(t *testing.T, stuck int) {
	b, err := Open(t.Context(), devicetest.Find(t, everything), Options{SkipSelfTest: true})
	if err != nil {
		t.Fatal(err)
	}
	src := &plan.Source{Docs: 1 << 17}
	for i := range uint32(6) {
		end := src.Docs
		if i%2 == 0 { // of few work-groups
			end = 1 << 9
		}
		var list, freqs []uint32
		for d := i; d < end; d += 2 + i/2 {
			list, freqs = append(list, d), append(freqs, 1+d%7)
		}
		h, err := src.Append(codec.ParaPFor, list, codec.DefaultOptions())
		if err == nil {
			err = src.AppendFreqs(h, freqs, codec.DefaultOptions())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	src.Lengths = slices.Repeat([]uint32{100}, int(src.Docs))
	s, err := b.Load(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	tab := plantest.NewTable(5000, 32)
	tab.AddVector(make([]uint64, plan.FilterWords(tab.Rows)))
	tab.AddCodes(t, make([]uint64, tab.Rows))
	table, err := b.LoadTable(t.Context(), &tab.Table)
	if err != nil {
		t.Fatal(err)
	}
	cached, err := b.LoadCached(t.Context(), src, 256<<20)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	operations := []func(first uint32) error{
		func(first uint32) error {
			both := plan.MatchBatch{Algorithm: plan.BS}
			both.Add(src, first, first+2)
			return s.Match(ctx, &both, new(plan.Results))
		},
		func(first uint32) error {
			var either plan.MatchBatch
			err := either.AddExpr(src, plan.Expr{Op: plan.OpOr, Args: []plan.Expr{{List: first}, {List: first + 2}}})
			return cmp.Or(err, s.Match(ctx, &either, new(plan.Results)))
		},
		func(first uint32) error {
			ranks := plan.RankBatch{K: 10, Norm: plan.NewNorm(0.9, 0.4, 120)}
			ranks.Add(src, plan.Term{List: first, Weight: 1 << 20}, plan.Term{List: first + 4, Weight: 1 << 24})
			return s.Rank(ctx, &ranks, new(plan.TopK))
		},
	}
	ends := make(chan error)
	for i, ask := range operations {
		if i == stuck {
			continue
		}
		if err := ask(0); err != nil { // makes its memory
			t.Fatal(err)
		}
	}
	for _, ask := range operations {
		go func() {
			for {
				if err := ask(1); err != nil {
					ends <- err
					return
				}
			}
		}()
	}
	time.AfterFunc(time.Second, stop)
	late := time.After(20 * time.Second)
	for range operations {
		select {
		case err := <-ends:
			if !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		case <-late:
			t.Fatal("a caller still waits for the device")
		}
	}
	var query plan.MatchBatch
	query.Add(src, 0, 2)
	rows := &plan.SelectBatch{Output: plan.OutputBits}
	rows.Any(0)
	rows.Check(0, plan.CodeRange{Hi: 1})
	rows.End()
	docs := make([]uint32, 1<<12)
	leave(t, map[string]func(ctx context.Context) error{
		"lists":          func(ctx context.Context) error { _, err := b.Load(ctx, src); return err },
		"a cache":        func(ctx context.Context) error { _, err := b.LoadCached(ctx, src, 256<<20); return err },
		"cached lists":   func(ctx context.Context) error { return cached.Match(ctx, &query, new(plan.Results)) },
		"vectors":        func(ctx context.Context) error { _, err := b.LoadTable(ctx, &tab.Table); return err },
		"stored values":  func(ctx context.Context) error { return table.Select(ctx, rows, new(plan.Rows)) },
		"a table filter": func(ctx context.Context) error { _, err := table.Filter(ctx, rows, nil); return err },
		"a filter": func(ctx context.Context) error {
			_, err := s.Filter(ctx, make([]uint64, plan.FilterWords(src.Docs)))
			return err
		},
		"an opening": func(ctx context.Context) error {
			_, err := Open(ctx, devicetest.Find(t, everything), Options{})
			return err
		},
		"a scan": func(ctx context.Context) error { _, err := b.Scan(ctx, docs, docs, 1); return err },
		"a compaction": func(ctx context.Context) error {
			_, _, err := b.Compact(ctx, nil, docs, Keep{Greatest: 1}, 1)
			return err
		},
		"a decoding": func(ctx context.Context) error { _, _, err := b.Decode(ctx, src, false, 1); return err },
		"copies":     func(ctx context.Context) error { _, err := b.CopyPeak(ctx); return err },
	})
}

// TestUnread: a device that no longer answers when a small result is read leaves its caller the error of its context.
func TestUnread(t *testing.T) {
	if i, err := strconv.Atoi(os.Getenv("HEDDLE_TEST_UNLIKE")); err == nil {
		runUnread(t, i)
		return
	}
	testneeds.OneCaller(t)
	testneeds.Device(t)
	layer := newLayer(t)
	for i, bytes := range []int{16, 16, 4 << 10} { // counts of loads, the sum of a scan, its results
		if i > 1 && !testneeds.Full() {
			break
		}
		if said, err := onLayer(t, layer, fmt.Sprint("unread=", bytes), "^TestUnread$", fmt.Sprint("HEDDLE_TEST_UNLIKE=", i)); err != nil {
			t.Errorf("%d bytes: %v\n%s", bytes, err, said)
		}
	}
}

func runUnread(t *testing.T, i int) {
	b, err := Open(t.Context(), devicetest.Find(t, everything), Options{SkipSelfTest: true, CountLoads: i == 0})
	if err != nil {
		t.Fatal(err)
	}
	in, out := slices.Repeat([]uint32{1}, 1<<10), make([]uint32, 1<<10)
	ask := func(ctx context.Context) error { _, err := b.Scan(ctx, out, in, 1); return err }
	if i == 0 {
		l := newLoad(t, 20, 20)
		s, err := b.Load(t.Context(), l.src)
		if err != nil {
			t.Fatal(err)
		}
		ask = func(ctx context.Context) error { return l.ask(ctx, t, s, 0) }
	}
	leave(t, map[string]func(context.Context) error{"a result": ask})
}

// leave expects that calls, side by side, end with their contexts.
func leave(t *testing.T, calls map[string]func(context.Context) error) {
	t.Helper()
	ends := make(chan error)
	for what, call := range calls {
		go func() {
			ctx, stop := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer stop()
			ends <- fmt.Errorf("%s: %w", what, call(ctx))
		}()
	}
	late := time.After(time.Minute) // kernels may compile
	for range calls {
		select {
		case err := <-ends:
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
		case <-late:
			t.Fatal("a caller still waits for the device")
		}
	}
}
