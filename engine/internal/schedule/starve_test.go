package schedule

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"heddle/engine/plan/testneeds"
)

// Whatever load goes on without an end, a job or a call waits for about starvationLimit at most.
func TestNothingStarves(t *testing.T) {
	with := func(p Processor, change func(*Processor)) Processor {
		change(&p)
		return p
	}
	many := func(n int, caller string, change func(*sender), alone ...time.Duration) sender {
		x := alike(n, caller, alone...)
		change(&x)
		return x
	}
	cases := map[string]struct {
		opt        Options
		processors []Processor
		load       []sender
		waits      sender
	}{
		"blocks have the lanes of batches": {
			Options{}, []Processor{with(fake(0, "host", 2), func(p *Processor) { p.Blocks = 4 })},
			[]sender{many(6, "calls", func(x *sender) { x.blocks = 3 }, 5*ms)},
			many(1, "", func(x *sender) { x.mode = Sync }, 5*ms),
		},
		"blocks have the lanes of single jobs": {
			Options{Mode: Async}, []Processor{with(fake(0, "gpu", 1), func(p *Processor) { p.Blocks = 4 })},
			[]sender{many(6, "calls", func(x *sender) { x.blocks = 3 }, 5*ms)},
			alike(1, "", 5*ms),
		},
		"batches have the lanes of single jobs": {
			Options{Mode: Sync}, []Processor{with(fake(0, "gpu", 4), func(p *Processor) { p.Singles = 2 })},
			[]sender{alike(40, "", ms)},
			many(1, "", func(x *sender) { x.mode = Async }, 5*ms),
		},
		"urgent jobs before a job": {
			Options{}, []Processor{fake(0, "gpu", 1)},
			[]sender{many(10, "", func(x *sender) { x.deadline = 8 * ms }, 4*ms)},
			alike(1, "", 5*ms),
		},
		"urgent jobs before a call": {
			Options{}, []Processor{fake(0, "gpu", 1)},
			[]sender{many(10, "", func(x *sender) { x.deadline = 8 * ms }, 4*ms)},
			many(1, "", func(x *sender) { x.blocks = 2 }, 5*ms),
		},
		"a caller that another processor serves more": {
			Options{Mode: Async}, []Processor{fake(0, "host", 8), fake(1, "gpu", 1)},
			[]sender{alike(16, "a", 10*ms, -1), alike(10, "b", -1, 10*ms)},
			alike(1, "a", -1, 10*ms),
		},
		"a caller that comes to one with a backlog": {
			Options{Mode: Async}, []Processor{fake(0, "host", 8), fake(1, "gpu", 1)},
			[]sender{alike(16, "a", 10*ms, -1), alike(10, "b", -1, 10*ms)},
			alike(1, "c", -1, 10*ms),
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			testneeds.Bubble(t, func(t *testing.T) {
				s := start(t, c.opt, c.processors...)
				end := time.Now().Add(6 * time.Second)
				crowd := newCrowd(s, c.load, end, time.Hour)
				time.Sleep(3 * time.Second)
				if waited, err := c.waits.once(s); err != nil || waited > starvationLimit+500*ms {
					t.Errorf("it waited for %v, %v", waited, err)
				}
				crowd.Wait()
			})
		})
	}
}

// A caller whose many large jobs always starve takes no more time than one with small jobs.
func TestStarvingCallersShareEvenly(t *testing.T) {
	for _, mode := range Modes() {
		testneeds.Bubble(t, func(t *testing.T) {
			s := start(t, Options{Mode: mode}, fake(0, "gpu", 1))
			end := time.Now().Add(20 * time.Second)
			var all sync.WaitGroup
			var took [2]atomic.Int64
			for caller, each := range []time.Duration{100 * ms, ms} {
				for range []int{40, 200}[caller] {
					all.Go(func() {
						for time.Now().Before(end) {
							j := newJob(each)
							j.Caller = fmt.Sprint(caller)
							if err := s.Do(t.Context(), j); err != nil {
								t.Error(err)
							}
							took[caller].Add(int64(each))
						}
					})
				}
			}
			time.Sleep(time.Until(end))
			if large, small := time.Duration(took[0].Load()), time.Duration(took[1].Load()); small < 9*time.Second {
				t.Errorf("%v: %v of large jobs, %v of small ones", mode, large, small)
			}
			all.Wait()
		})
	}
}

// A caller that comes now and then does not wait for the callers that were there before, although jobs of one
// of them starve.
func TestComerDoesNotStarve(t *testing.T) {
	for _, mode := range Modes() {
		testneeds.Bubble(t, func(t *testing.T) {
			s := start(t, Options{Mode: mode}, fake(0, "gpu", 2))
			end := time.Now().Add(10 * time.Second)
			load := []sender{alike(400, "large", 20*ms)}
			for i := range 10 {
				load = append(load, alike(5, fmt.Sprint("small", i), ms))
			}
			crowd := newCrowd(s, load, end, time.Hour)
			comer := alike(1, "comer", ms)
			for time.Now().Before(end) {
				if waited, err := comer.once(s); err != nil || waited > 500*ms {
					t.Errorf("%v: it waited for %v, %v", mode, waited, err)
				}
				time.Sleep(50 * ms)
			}
			crowd.Wait()
		})
	}
}

// While a batch of the only processor hangs, a job that needs its lane does not hold the other lanes up.
func TestStarvesBehindHang(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		var hangs atomic.Bool
		p := fake(0, "gpu", 2)
		p.Singles = 1
		run, release := p.Run, make(chan struct{})
		p.Run = func(ctx context.Context, b *Batch) error {
			if hangs.CompareAndSwap(true, false) {
				<-release
			}
			return run(ctx, b)
		}
		s := start(t, Options{Mode: Sync}, p)
		hangs.Store(true)
		hung := launch(s, newJob(ms))
		time.Sleep(5 * ms)
		alone := newJob(ms)
		alone.Mode = Async
		starves := launch(s, alone)
		time.Sleep(12 * time.Second)
		for range 2 * starvationTurns {
			began := time.Now()
			if err := s.Do(t.Context(), newJob(ms)); err != nil || time.Since(began) > 10*ms {
				t.Errorf("%v after %v", err, time.Since(began))
			}
		}
		close(release)
		if a, b := <-hung, <-starves; a != nil || b != nil {
			t.Error(a, b)
		}
	})
}

// A job that misses its deadline anyway holds no lanes up.
func TestLateJobHoldsNothingUp(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		p := fake(0, "gpu", 1)
		p.Blocks = 4
		s := start(t, Options{Mode: Sync}, p)
		end := time.Now().Add(6 * time.Second)
		var load []sender
		for _, each := range []time.Duration{3 * ms, 5 * ms, 7 * ms} { // some block always runs
			x := alike(3, "calls", each)
			x.blocks = 3
			load = append(load, x)
		}
		calls := newCrowd(s, load, end, time.Hour)
		time.Sleep(100 * ms)
		late := newJob(3 * time.Second)
		late.Deadline = time.Now().Add(5 * time.Second)
		if err := <-launch(s, late); !errors.Is(err, ErrDeadline) {
			t.Error(err)
		}
		calls.Wait()
		if calls.sent < 1850 { // 1680, if they wait for it
			t.Errorf("%d calls in 6 seconds", calls.sent)
		}
	})
}

// Jobs that take a million times their estimates do not make expected times overflow: the timer would
// come at once, again and again.
func TestExpectedTimesAreBounded(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		s := start(t, Options{Mode: Sync}, fake(0, "gpu", 2), fake(1, "host", 1))
		for range 200 {
			s.processors[0].capacity.learnBatch(0, time.Second, 1)
		}
		var ends []<-chan error
		for range 3 {
			ends = append(ends, launch(s, newJob(40*time.Minute, -1)))
			time.Sleep(10 * ms)
		}
		ends = append(ends, launch(s, newJob(40*time.Minute, time.Hour)))
		for _, end := range ends {
			if err := <-end; err != nil {
				t.Error(err)
			}
		}
	})
}

// The rest of a call runs, although each processor might leave it to the other one: the host is the faster
// one with all its threads, and the slower one with the cores that there are.
func TestRestOfCallRuns(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		host := fake(0, "host", 1)
		host.Threads = 32
		s := start(t, Options{Cores: 2}, host, fake(1, "gpu", 1))
		x := alike(1, "", ms, ms)
		x.blocks, x.each = 1, []time.Duration{100 * us, ms}
		if waited, err := x.once(s); err != nil || waited > ms {
			t.Errorf("%v after %v", err, waited)
		}
	})
}
