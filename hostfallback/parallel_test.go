package hostfallback

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
)

func TestParallel(t *testing.T) {
	var seen [100]atomic.Int32
	if err := parallel(t.Context(), 7, len(seen), func(i int) error { seen[i].Add(1); return nil }); err != nil {
		t.Fatal(err)
	}
	for i := range seen {
		if n := seen[i].Load(); n != 1 {
			t.Errorf("%d was called %d times", i, n)
		}
	}
	if err := parallel(t.Context(), 7, 0, func(int) error { return errors.New("called") }); err != nil {
		t.Error(err)
	}

	broken := errors.New("broken")
	var calls atomic.Int32
	err := parallel(t.Context(), 1, 1000, func(i int) error {
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
	err = parallel(ctx, 1, 1000, func(i int) error {
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
