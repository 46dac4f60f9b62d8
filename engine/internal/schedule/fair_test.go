package schedule

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"heddle/engine/plan/testneeds"
)

// order notes the jobs that a processor begins.
type order struct {
	mu   sync.Mutex
	jobs []*Job
}

func (o *order) watch(p Processor) Processor {
	run := p.Run
	p.Run = func(ctx context.Context, b *Batch) error {
		o.mu.Lock()
		o.jobs = append(o.jobs, b.Jobs...)
		o.mu.Unlock()
		return run(ctx, b)
	}
	return p
}

// place returns where job j began, from 0.
func (o *order) place(j *Job) int { return slices.Index(o.jobs, j) }

// jobsOf returns n jobs of a caller that take alone each.
func jobsOf(caller string, n int, alone ...time.Duration) (jobs []*Job) {
	for range n {
		j := newJob(alone...)
		j.Caller = caller
		jobs = append(jobs, j)
	}
	return jobs
}

// runAll submits jobs in order at once and waits for all.
func runAll(t *testing.T, s *Scheduler, jobs []*Job) {
	t.Helper()
	var ends []<-chan error
	for _, j := range jobs {
		ends = append(ends, launch(s, j))
		synctest.Wait()
	}
	for i, end := range ends {
		if err := <-end; err != nil {
			t.Errorf("job %d: %v", i, err)
		}
	}
}

// A caller with few jobs does not wait for one with many. The time of jobs
// counts, not their number.
func TestCallersShareEvenly(t *testing.T) {
	for _, mode := range []Mode{Async, Sync} {
		testneeds.Bubble(t, func(t *testing.T) {
			var o order
			s := start(t, Options{Mode: mode}, o.watch(fake(0, "gpu", 1)))
			many, few := jobsOf("many", 300, ms), jobsOf("few", 10, 5*ms)
			runAll(t, s, slices.Concat(many, few))
			// Ten of 5 ms against fifty of 1 ms, and the jobs that had begun before.
			if last := o.place(few[9]); last < 45 || last > 75 {
				t.Errorf("%v: the last job of few runs after %d others", mode, last)
			}
			if first := o.place(few[0]); first > 20 {
				t.Errorf("%v: the first job of few runs after %d others", mode, first)
			}
		})
	}
}

// A caller that does one job after the other gets no more than its share by it.
func TestOneByOneIsNoAdvantage(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		s := start(t, Options{Mode: Async}, fake(0, "gpu", 1))
		var group sync.WaitGroup
		many := jobsOf("many", 400, ms)
		for _, j := range many {
			group.Go(func() { s.Do(t.Context(), j) })
		}
		synctest.Wait()
		served := time.Duration(0)
		for time.Since(many[0].Trace.Arrived) < 200*ms {
			j := newJob(20 * ms)
			j.Caller = "large"
			if err := s.Do(t.Context(), j); err != nil {
				t.Fatal(err)
			}
			served += 20 * ms
		}
		if took := time.Since(many[0].Trace.Arrived); served > took*6/10 || served < took*3/10 {
			t.Errorf("served for %v of %v", served, took)
		}
		group.Wait()
	})
}

// Within a caller small jobs go first, but only jobs that arrive within patience
// times its own time overtake a job.
func TestOvertakingIsBounded(t *testing.T) {
	for _, mode := range []Mode{Async, Sync} {
		testneeds.Bubble(t, func(t *testing.T) {
			s := start(t, Options{Mode: mode}, fake(0, "gpu", 1))
			first := launch(s, newJob(5*ms))
			synctest.Wait()
			large := newJob(20 * ms)
			end := launch(s, large)
			synctest.Wait()
			var group sync.WaitGroup
			for range 400 { // more than it can do
				time.Sleep(800 * us)
				group.Go(func() {
					if err := s.Do(t.Context(), newJob(ms)); err != nil {
						t.Error(err)
					}
				})
			}
			if err := errors.Join(<-first, <-end); err != nil {
				t.Error(err)
			}
			// 80 ms of arrivals, that take 100 ms, and a batch that has begun.
			if q := large.Trace.Queued; mode == Async && q < 20*ms || q > 125*ms {
				t.Errorf("%v: the large job began after %v", mode, q)
			}
			group.Wait()
		})
	}
}

// Jobs of either class run in the end, though both processors have enough of their own.
func TestEitherDoesNotStarve(t *testing.T) {
	for _, mode := range []Mode{Async, Sync} {
		testneeds.Bubble(t, func(t *testing.T) {
			s := start(t, Options{Mode: mode}, fake(0, "gpu", 1), fake(1, "host", 1))
			var group sync.WaitGroup
			var either []*Job
			for i := range 300 {
				jobs := []*Job{newJob(2*ms, 20*ms), newJob(20*ms, 2*ms)}
				if i%50 == 10 {
					j := newJob(2*ms, 2*ms)
					either = append(either, j)
					jobs = append(jobs, j)
				}
				for _, j := range jobs {
					group.Go(func() {
						if err := s.Do(t.Context(), j); err != nil {
							t.Error(err)
						}
					})
				}
				time.Sleep(1800 * us)
			}
			group.Wait()
			for _, j := range either {
				// patience lets 8 ms pass, then it is in the order of the rest: the jobs that
				// have arrived take a tenth longer than the time so far.
				if j.Trace.Class != Either || j.Trace.Queued > 100*ms {
					t.Errorf("%v: %+v", mode, j.Trace)
				}
			}
		})
	}
}

// The queue refuses jobs without a place. A caller alone leaves room for others.
func TestQueueIsBounded(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		s := start(t, Options{Mode: Async, Capacity: 90}, fake(0, "gpu", 1))
		refused := func(caller string, n int) (full int) {
			var last *FullError
			for _, j := range jobsOf(caller, n, ms) {
				end := launch(s, j)
				synctest.Wait()
				select {
				case err := <-end:
					if !errors.As(err, &last) || !errors.Is(err, ErrFull) || last.Caller != caller || last.Room != 90 {
						t.Errorf("%v", err)
					}
					full++
				default:
				}
			}
			return full
		}
		if n := refused("greedy", 100); n != 19 { // one runs, 80 wait
			t.Errorf("%d refused of 100 of one caller: %d wait", n, s.totalQueued())
		}
		if n := refused("modest", 5); n != 0 {
			t.Errorf("%d of 5 refused of another caller", n)
		}
		if n := refused("greedy", 5); n != 5 {
			t.Errorf("%d of 5 refused of the caller that holds most", n)
		}
		if n := refused("third", 20); n != 15 {
			t.Errorf("%d of 20 refused, of 5 places", n)
		}
		if st := s.Stats(); st.Refused != 19+5+15 || st.Queued != [3]int{0, 90, 0} {
			t.Errorf("%+v", st)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if st := s.Stats(); st.Answered != 91 || st.Failed != 0 {
			t.Errorf("%+v", st)
		}
	})
}

// Callers and kinds that are gone take no memory.
func TestForgets(t *testing.T) {
	s := start(t, Options{Mode: Sync, MaxAge: us}, instant(0, "gpu", 1))
	for i := range 5000 {
		j := newJob(us)
		j.Kind, j.Caller = i, string(rune(i))
		if err := s.Do(t.Context(), j); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.callers) > 300 || len(s.kindQueues) > minKinds {
		t.Errorf("%d callers, %d lines", len(s.callers), len(s.kindQueues))
	}
}
