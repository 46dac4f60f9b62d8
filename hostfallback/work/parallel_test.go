package work

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"heddle/engine/file/mapped/mappedtest"
)

func TestParallel(t *testing.T) {
	var seen [100]atomic.Int32
	if err := Parallel(t.Context(), 7, len(seen), func(_, i int) error { seen[i].Add(1); return nil }); err != nil {
		t.Fatal(err)
	}
	for i := range seen {
		if n := seen[i].Load(); n != 1 {
			t.Errorf("%d was called %d times", i, n)
		}
	}
	if err := Parallel(t.Context(), 7, 0, func(int, int) error { return errors.New("called") }); err != nil {
		t.Error(err)
	}

	broken := errors.New("broken")
	var calls atomic.Int32
	err := Parallel(t.Context(), 1, 1000, func(_, i int) error {
		calls.Add(1)
		if i == 10 {
			return broken
		}
		return nil
	})
	if !errors.Is(err, broken) || calls.Load() != 11 {
		t.Errorf("%v after %d calls", err, calls.Load())
	}

	ctx, stop := context.WithCancel(t.Context())
	calls.Store(0)
	err = Parallel(ctx, 1, 1000, func(_, i int) error {
		calls.Add(1)
		if i == 10 {
			stop()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || calls.Load() != 11 {
		t.Errorf("after a cancelled context: %v after %d calls", err, calls.Load())
	}
}

// TestWorkers: calls for the same goroutine never overlap, and a failed task stops all
// goroutines.
func TestWorkers(t *testing.T) {
	var busy [3]atomic.Bool
	var calls atomic.Int32
	broken := errors.New("broken")
	err := Parallel(t.Context(), len(busy), 10_000, func(w, i int) error {
		if !busy[w].CompareAndSwap(false, true) {
			t.Errorf("goroutine %d runs two tasks", w)
		}
		defer busy[w].Store(false)
		if calls.Add(1); i == 100 {
			return broken
		}
		return nil
	})
	if !errors.Is(err, broken) || calls.Load() == 10_000 {
		t.Errorf("%v after %d calls", err, calls.Load())
	}
}

// TestParallelLostPages: the fault of a mapped file is the error of Parallel, and dirty memory
// is dropped.
func TestParallelLostPages(t *testing.T) {
	words := mappedtest.Words(t, 1<<16, 4096)
	for _, threads := range []int{1, 4} {
		var sum atomic.Uint32
		err := Parallel(t.Context(), threads, 100, func(_, i int) error {
			sum.Add(words[i*500])
			return nil
		})
		if !errors.Is(err, mappedtest.ErrLost) {
			t.Errorf("%d threads: %v", threads, err)
		}
	}
}
