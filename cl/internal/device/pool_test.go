package device

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
)

// TestPool makes as many slots as a pool has room for, and then waits for one of them. Without memory for another one it
// waits, too, but not if there is none.
func TestPool(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		p, made := NewPool[int](3), 0
		broken := errors.New("broken")
		open := func() (*int, error) { made++; return new(made), nil }
		refuse := func(err error) func() (*int, error) { return func() (*int, error) { return nil, err } }
		take := func(open func() (*int, error)) *int {
			t.Helper()
			x, err := p.Take(t.Context(), nil, open)
			if err != nil {
				t.Fatal(err)
			}
			return x
		}
		if _, err := p.Take(t.Context(), nil, refuse(plan.ErrOutOfMemory)); !errors.Is(err, plan.ErrOutOfMemory) {
			t.Errorf("the first slot has no memory: %v", err)
		}
		first := take(open)
		if _, err := p.Take(t.Context(), nil, refuse(broken)); !errors.Is(err, broken) {
			t.Errorf("a slot that is not made: %v", err)
		}
		time.AfterFunc(time.Second, func() { p.Give(first) })
		if x := take(refuse(plan.ErrOutOfMemory)); x != first {
			t.Error("another slot than the one given back")
		}
		second, third := take(open), take(open)
		if x := p.Try(open); x != nil {
			t.Error("a slot more than the pool may have")
		}
		if p.Idle() {
			t.Error("a pool whose slots are taken is idle")
		}
		if made != 3 || *second+*third != 5 {
			t.Errorf("%d slots: %d, %d, %d", made, *first, *second, *third)
		}
		limited, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if _, err := p.Take(limited, nil, open); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a fourth slot: %v", err)
		}
		closing := make(chan struct{})
		close(closing)
		if _, err := p.Take(t.Context(), closing, open); !errors.Is(err, plan.ErrClosed) {
			t.Errorf("a slot of a closed pool: %v", err)
		}
		p.Give(second)
		if x := take(open); x != second || made != 3 {
			t.Errorf("slot %d in place of the idle one, %d made", *x, made)
		}
		for _, x := range []*int{first, second, third} {
			p.Give(x)
		}
		released := 0
		p.Drain(func(*int) { released++ })
		if released != 3 {
			t.Errorf("%d slots were released", released)
		}
		few := NewPool[int](3)
		if x := few.Try(refuse(plan.ErrOutOfMemory)); x != nil || !few.Idle() {
			t.Errorf("slot %v without memory", x)
		}
		x := few.Try(open)
		if x == nil || few.Idle() {
			t.Fatal("no slot is made, or the pool is idle")
		}
		few.Give(x)
		if again := few.Try(open); again != x {
			t.Error("another slot than the idle one")
		}
		few.Give(x)
		if !few.Idle() {
			t.Error("a pool that has all slots is not idle")
		}
		few.Drain(func(*int) { released++ }) // two were never made
		if released != 4 {
			t.Errorf("%d slots were released", released)
		}
	})
}

// TestBuildOnce asks for an object at once: one caller makes it, unless this fails, and all others get it.
func TestBuildOnce(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		building := make(chan struct{}, 1)
		building <- struct{}{}
		var object atomic.Pointer[int]
		var built atomic.Int32
		once := func(ctx context.Context, closing chan struct{}, err error) (*int, error) {
			return Once(ctx, building, closing, object.Load, object.Store, func() (*int, error) {
				time.Sleep(time.Second)
				return new(int(built.Add(1))), err
			})
		}
		broken := errors.New("broken")
		if x, err := once(t.Context(), nil, broken); x != nil || !errors.Is(err, broken) || object.Load() != nil {
			t.Errorf("a failed build: %v, %v", x, err)
		}
		var callers sync.WaitGroup
		for range 3 {
			callers.Go(func() {
				if x, err := once(t.Context(), nil, nil); err != nil || x != object.Load() {
					t.Errorf("%v, %v", x, err)
				}
			})
		}
		time.Sleep(time.Millisecond)
		limited, stop := context.WithTimeout(t.Context(), time.Millisecond)
		defer stop()
		if _, err := once(limited, nil, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a caller that gives up: %v", err)
		}
		closing := make(chan struct{})
		close(closing)
		if _, err := once(t.Context(), closing, nil); !errors.Is(err, plan.ErrClosed) {
			t.Errorf("a caller during a close: %v", err)
		}
		if callers.Wait(); built.Load() != 2 {
			t.Errorf("built %d times", built.Load())
		}
	})
}

// TestInParallel calls a function for each number once, and no more after an error.
func TestInParallel(t *testing.T) {
	const n = 1000
	for _, work := range []int{0, 1 << 20} {
		testneeds.Bubble(t, func(t *testing.T) {
			var calls [n]atomic.Int32
			if err := InParallel(n, work, func(i int) error { calls[i].Add(1); return nil }); err != nil {
				t.Fatal(err)
			}
			for i := range calls {
				if c := calls[i].Load(); c != 1 {
					t.Errorf("work %d: %d calls for %d", work, c, i)
				}
			}
			var all atomic.Int32
			broken := errors.New("broken")
			err := InParallel(n, work, func(i int) error {
				if all.Add(1); i == 0 {
					return broken
				}
				time.Sleep(time.Second)
				return nil
			})
			if c := int(all.Load()); !errors.Is(err, broken) || c > 2*runtime.GOMAXPROCS(0) {
				t.Errorf("work %d: %d calls, %v", work, c, err)
			}
		})
	}
}
