package schedule

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
)

// stalls makes the first batch of p take the given time, whatever its context says.
func stalls(p Processor, first time.Duration) Processor {
	run := p.Run
	var stalled atomic.Bool
	p.Run = func(ctx context.Context, b *Batch) error {
		if !stalled.Swap(true) {
			time.Sleep(first)
		}
		return run(ctx, b)
	}
	return p
}

// recorded returns options with the default limits, and the events as text.
func recorded() (opt Options, events func() []string) {
	var mu sync.Mutex
	var all []string
	opt = Options{Mode: Async, Event: func(e Event) {
		if e.Processor != "" {
			mu.Lock()
			defer mu.Unlock()
			all = append(all, fmt.Sprint(e.Processor, ": ", e.Err))
		}
	}}
	return opt, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(all)
	}
}

// A processor that stalls for less than ten limits answers all jobs afterwards if no other
// processor can run them: it is the only one, or the only one with their data.
func TestStallOfOnlyProcessor(t *testing.T) {
	for _, hosts := range []int{0, 1} {
		for _, inline := range []bool{false, true} {
			testneeds.Bubble(t, func(t *testing.T) {
				p := stalls(fake(0, "gpu", 2), 95*time.Second)
				p.Inline = inline
				all := []Processor{p, fake(1, "host", 1)}[:1+hosts]
				opt, events := recorded()
				s := start(t, opt, all...)
				var ends []<-chan error
				jobs := jobsOf("", 200, []time.Duration{ms, -1}[:1+hosts]...)
				for _, j := range jobs {
					ends = append(ends, launch(s, j))
					time.Sleep(400 * ms)
				}
				for i, end := range ends {
					if err := <-end; err != nil || answers(jobs[i]) != 1 {
						t.Errorf("job %d: %v, %d answers", i, err, answers(jobs[i]))
					}
				}
				if st := s.Stats(); len(events()) != 0 || st.Processors[0].Out != nil || st.Processors[0].Hung || st.Retried != 0 {
					t.Errorf("%q, %+v", events(), st)
				}
			})
		}
	}
}

// Jobs on the last processor, and jobs that wait for it, fail after ten limits while the process
// works, and after two if it does not. The processor stays and runs jobs as soon as it returns.
func TestHangOfLastProcessor(t *testing.T) {
	t.Run("unknown", func(t *testing.T) { testLastProcessor(t, nil, 100*time.Second) })
	begin := time.Now()
	t.Run("works", func(t *testing.T) {
		testLastProcessor(t, func() time.Duration { return time.Since(begin) / 16 }, 100*time.Second)
	})
	t.Run("waits", func(t *testing.T) {
		testLastProcessor(t, func() time.Duration { return time.Since(begin) / 25 }, 20*time.Second)
	})
}

func testLastProcessor(t *testing.T, cpu func() time.Duration, ends time.Duration) {
	testneeds.Bubble(t, func(t *testing.T) {
		opt, events := recorded()
		opt.CPU = cpu
		s := start(t, opt, stalls(fake(0, "gpu", 1), 10*time.Minute))
		begin := time.Now()
		first := launch(s, newJob(ms))
		time.Sleep(time.Second)
		waits := launch(s, newJob(ms))
		stream := make(chan error, 1)
		go func() { stream <- s.DoAll(t.Context(), &blocks{left: jobsOf("", 1, ms)}, "", time.Time{}) }()
		time.Sleep(18 * time.Second)
		if st := s.Stats(); !st.Processors[0].Hung {
			t.Errorf("%+v", st)
		}
		for _, end := range []<-chan error{first, waits, stream} {
			if err := <-end; !errors.Is(err, ErrHung) || time.Since(begin) != ends {
				t.Errorf("%v after %v", err, time.Since(begin))
			}
		}
		if err := s.Do(t.Context(), newJob(ms)); !errors.Is(err, ErrHung) || time.Since(begin) > ends+10*time.Second {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		time.Sleep(10*time.Minute + time.Second - time.Since(begin))
		if err := s.Do(t.Context(), newJob(ms)); err != nil {
			t.Error(err)
		}
		if len(events()) != 0 {
			t.Errorf("%q", events())
		}
	})
}

// Close waits for the last processor no longer than for other ones.
func TestCloseWhileLastProcessorHangs(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		s := start(t, Options{}, stalls(fake(0, "gpu", 1), time.Hour))
		end := launch(s, newJob(ms))
		time.Sleep(35 * time.Second)
		begin := time.Now()
		if err := s.Close(); err != nil || time.Since(begin) > 10*time.Second {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		if err := <-end; !errors.Is(err, plan.ErrClosed) {
			t.Error(err)
		}
		time.Sleep(time.Hour) // the batch returns
	})
}

// A processor that was removed because it hung is probed after its batch has returned, and
// then runs jobs again.
func TestRestoredAfterHang(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		opt, events := recorded()
		returned := time.Now().Add(40 * time.Second)
		gpu := stalls(fake(0, "gpu", 1), 40*time.Second)
		gpu.Probe = func(context.Context) error {
			if time.Now().Before(returned) {
				t.Error("a probe beside a batch that hangs")
			}
			return nil
		}
		s := start(t, opt, gpu, fake(1, "host", 1))
		ask := func(on string) {
			t.Helper()
			j := newJob(ms, 20*ms)
			if err := s.Do(t.Context(), j); err != nil || j.Trace.Processor != on {
				t.Errorf("%v, answered by %q, want %q", err, j.Trace.Processor, on)
			}
		}
		ask("host")
		if st := s.Stats(); !st.Processors[0].Hung || !errors.Is(st.Processors[0].Out, ErrHung) {
			t.Errorf("%+v", st)
		}
		time.Sleep(25 * time.Second)
		ask("host")
		time.Sleep(10 * time.Second)
		ask("gpu")
		if want := []string{"gpu: gpu: no answer for 10s", "gpu: <nil>"}; !slices.Equal(events(), want) {
			t.Errorf("%q, want %q", events(), want)
		}
		if st := s.Stats(); st.Processors[0].Hung || st.Processors[0].Out != nil {
			t.Errorf("%+v", st)
		}
	})
}

// Probes of a lost processor become rare. A success restores it. A processor that fails again
// soon afterwards is probed as rarely as before.
func TestProbesBecomeRare(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		opt, events := recorded()
		var works atomic.Bool
		var mu sync.Mutex // of probes and begin
		var probes []time.Duration
		begin := time.Now()
		probed := func() []time.Duration {
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(probes)
		}
		gpu := fake(0, "gpu", 1)
		run := gpu.Run
		gpu.Run = func(ctx context.Context, b *Batch) error {
			if !works.Load() {
				return &plan.DeviceError{Kind: plan.ErrDeviceLost, Device: "gpu", Op: "run"}
			}
			return run(ctx, b)
		}
		gpu.Probe = func(context.Context) error {
			mu.Lock()
			defer mu.Unlock()
			probes = append(probes, time.Since(begin).Round(time.Second))
			if !works.Load() {
				return errOwn
			}
			return nil
		}
		s := start(t, opt, gpu, fake(1, "host", 1))
		ask := func() {
			if err := s.Do(t.Context(), newJob(ms, 20*ms)); err != nil {
				t.Error(err)
			}
		}
		ask()
		time.Sleep(20 * time.Second)
		works.Store(true)
		time.Sleep(20 * time.Second)
		works.Store(false)
		ask() // at 40 s
		time.Sleep(time.Hour)
		sec := func(n ...time.Duration) (all []time.Duration) {
			for _, n := range n {
				all = append(all, n*time.Second)
			}
			return all
		}
		if want := sec(1, 3, 7, 15, 31, 72, 136, 264, 520, 776); !slices.Equal(probed()[:10], want) {
			t.Errorf("probes at %v, want %v", probed()[:10], want)
		}
		works.Store(true)
		time.Sleep(2 * maxProbeFactor * time.Second)
		if n := len(events()); n != 4 || s.Stats().Processors[0].Out != nil {
			t.Errorf("%q", events())
		}
		works.Store(false)
		mu.Lock()
		probes, begin = nil, time.Now()
		mu.Unlock()
		ask()
		time.Sleep(10 * time.Second)
		if want := sec(1, 3, 7); !slices.Equal(probed(), want) {
			t.Errorf("after a long time of work: probes at %v, want %v", probed(), want)
		}
	})
}

// A probe that hangs keeps nothing waiting; so does a removal that no probe follows.
func TestProbeHangs(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		release := make(chan struct{})
		defer close(release)
		gpu := once(fake(0, "gpu", 1), plan.ErrDeviceLost, 0)
		var probes atomic.Int32
		gpu.Probe = func(context.Context) error {
			probes.Add(1)
			<-release
			return errOwn
		}
		s := start(t, Options{Mode: Async}, gpu, fake(1, "host", 1))
		s.takeOut(0, errOwn)
		time.Sleep(time.Hour)
		if s.Restore(0); probes.Load() != 0 {
			t.Errorf("%d probes after such a removal", probes.Load())
		}
		for range 3 {
			if err := s.Do(t.Context(), newJob(ms, 20*ms)); err != nil {
				t.Error(err)
			}
			time.Sleep(20 * time.Second)
		}
		if st := s.Stats(); !st.Processors[0].Hung || probes.Load() != 1 {
			t.Errorf("%d probes, %+v", probes.Load(), st)
		}
		begin := time.Now()
		if err := s.Close(); err != nil || time.Since(begin) > time.Second {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
	})
}

// While the ticks of the scheduler are late, the machine is at fault and no batch hangs, up to
// ten limits. A device that hangs on a machine with time is found after one limit.
func TestStarvedMachine(t *testing.T) {
	for _, c := range []struct {
		took, late time.Duration
		removed    bool
	}{{40 * time.Second, 100 * ms, false}, {40 * time.Second, 20 * ms, true}, {110 * time.Second, 100 * ms, true}} {
		testneeds.Bubble(t, func(t *testing.T) {
			opt, events := recorded()
			s := start(t, opt, stalls(fake(0, "gpu", 1), c.took), fake(1, "host", 1))
			stop := make(chan struct{})
			go func() {
				for before := never; ; {
					select {
					case <-stop:
						return
					case <-time.After(100 * ms):
					}
					s.lock()
					if s.timerAt != before && s.timerAt != never { // as if the next tick came late
						s.timerAt -= c.late
						before = s.timerAt
					}
					s.unlock()
				}
			}()
			j := newJob(ms, 20*ms)
			if err := s.Do(t.Context(), j); err != nil || (j.Trace.Processor == "host") != c.removed {
				t.Errorf("%+v: %v, answered by %s, %q", c, err, j.Trace.Processor, events())
			}
			close(stop)
			time.Sleep(2 * time.Minute) // the batch returns
		})
	}
}
