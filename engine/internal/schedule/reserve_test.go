package schedule

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"heddle/engine/plan"
)

// reserved are a device and a host in reserve. The device fails while lost is set.
func reserved(t *testing.T, opt Options) (s *Scheduler, lost *atomic.Bool) {
	t.Helper()
	lost = new(atomic.Bool)
	host, device := fake(0, "host", 2), fake(1, "gpu", 2)
	host.Reserve = true
	run := device.Run
	device.Run = func(ctx context.Context, b *Batch) error {
		if lost.Load() {
			return plan.ErrDeviceLost
		}
		return run(ctx, b)
	}
	return start(t, opt, host, device), lost
}

// ranOn runs j and compares the processor that answered.
func ranOn(t *testing.T, s *Scheduler, j *Job, want string) {
	t.Helper()
	if err := s.Do(t.Context(), j); err != nil || j.Trace.Processor != want || answers(j) != 1 {
		t.Errorf("%d answers on %q, want %s: %v", answers(j), j.Trace.Processor, want, err)
	}
}

// TestReserve sends jobs to a reserve only if no other processor can run them, or if they
// allow it.
func TestReserve(t *testing.T) {
	for _, mode := range []Mode{Async, Sync} {
		s, lost := reserved(t, Options{Mode: mode})
		fast := func() *Job { return newJob(10*us, 2*ms) } // on the host
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() { ranOn(t, s, fast(), "gpu") })
		}
		wg.Wait()
		ranOn(t, s, newJob(10*us, -1), "host") // the device lacks the data
		either := fast()
		either.Reserves = true
		ranOn(t, s, either, "host")
		slow := newJob(50*ms, 10*us)
		slow.Reserves = true
		ranOn(t, s, slow, "gpu")

		lost.Store(true)
		for range 5 {
			ranOn(t, s, fast(), "host")
		}
		lost.Store(false)
		s.Restore(1)
		ranOn(t, s, fast(), "gpu")
	}
}

// TestReserveStream gives the blocks of a stream to a reserve only after the loss of the
// device.
func TestReserveStream(t *testing.T) {
	s, lost := reserved(t, Options{})
	for _, want := range []string{"gpu", "host"} {
		st := &blocks{}
		for range 10 {
			st.left = append(st.left, newJob(100*us, 100*us))
		}
		if err := s.DoAll(t.Context(), st, "", time.Time{}); err != nil {
			t.Fatal(err)
		}
		for _, j := range st.cut {
			if j.Trace.Processor != want {
				t.Errorf("a block ran on %q, want %s", j.Trace.Processor, want)
			}
		}
		lost.Store(true)
	}
}
