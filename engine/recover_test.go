package engine

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"heddle/engine/internal/schedule"
	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
)

// TestEngineStall: the only processor stalls for several limits, then goes on. Every query
// waits and is answered; the processor is never removed.
func TestEngineStall(t *testing.T) {
	testneeds.VirtualTime(t, func(t *testing.T) {
		a := newAsking(t, 300, 20)
		f, d := new(fault), &faulty{name: "first", host: true}
		d.batch = f.hang(1, nil)
		h := heard{}
		opt := faultyOptions(d)
		opt.Observer, opt.Schedule.Hang = &h, time.Second
		src, dict := a.source()
		e, err := startSource(t.Context(), src, dict, opt)
		if err != nil {
			t.Fatal(err)
		}
		failed := make(chan []error, 1)
		go func() { failed <- a.load(t, e, 300) }()
		for stats := e.e.pool.Stats; stats().Processors[0].Running == 0; {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(3 * opt.Schedule.Hang)
		close(f.release)
		if failed := <-failed; len(failed) > 0 {
			t.Errorf("%d queries failed: %v", len(failed), failed[0])
		}
		if len(h.out) != 0 {
			t.Errorf("removed: %v", h.out)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		nothingOpen(t, d)
	})
}

// TestEngineRestores: a device hangs or is lost, the host answers. When the device works
// again, a probe restores it, and it answers without a reload.
func TestEngineRestores(t *testing.T) {
	a := newAsking(t, 300, 20)
	for name, why := range map[string]error{"hangs": schedule.ErrHung, "lost": plan.ErrDeviceLost} {
		t.Run(name, func(t *testing.T) {
			testneeds.VirtualTime(t, func(t *testing.T) {
				f, d := new(fault), &faulty{name: "first"}
				hang := f.hang(5, nil)
				d.batch = func(ctx context.Context, n int64) error {
					select {
					case <-f.release:
						return nil
					default:
					}
					if why == plan.ErrDeviceLost && n >= 5 {
						return lost
					}
					return hang(ctx, n)
				}
				h := heard{}
				opt := faultyOptions(&faulty{name: "host", host: true}, d)
				opt.Observer, opt.Schedule.Hang, opt.tune.Probe = &h, time.Second, time.Millisecond
				src, dict := a.source()
				e, err := startSource(t.Context(), src, dict, opt)
				if err != nil {
					t.Fatal(err)
				}
				defer e.Close()
				ask := func() {
					t.Helper()
					if failed := a.load(t, e, 100); len(failed) > 0 {
						t.Fatalf("%d queries failed: %v", len(failed), failed[0])
					}
				}
				removed := func() error { return e.Stats().Processors[1].Removed }
				for removed() == nil {
					ask()
				}
				if !errors.Is(removed(), why) {
					t.Fatalf("removed: %v, want %v", removed(), why)
				}
				close(f.release)
				for removed() != nil {
					time.Sleep(time.Millisecond)
				}
				if h.mu.Lock(); !slices.Equal(h.back, []string{"first"}) {
					t.Errorf("restored: %v", h.back)
				}
				h.mu.Unlock()
				for before := d.answered.Load(); d.answered.Load() == before; {
					ask()
				}
			})
		})
	}
}
