package schedule

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
)

// A job whose deadline passes, or whose caller goes, ends at once: queued or running. Its
// answer comes too late. One whose answer is being written is waited for.
func TestEndsEarly(t *testing.T) {
	for _, c := range []struct {
		name    string
		inline  bool
		ahead   int // jobs of 10 ms before it
		early   time.Duration
		ctx     bool // it is the context that ends, not the deadline
		claimed bool
		took    time.Duration
		ok      bool
	}{
		{name: "deadline, queued", ahead: 3, early: 15 * ms, took: 15 * ms},
		{name: "deadline, running", early: 4 * ms, took: 4 * ms},
		{name: "deadline, inline", inline: true, early: 4 * ms, took: 4 * ms},
		{name: "deadline, claimed", early: 4 * ms, claimed: true, took: 10 * ms, ok: true},
		{name: "deadline, claimed, inline", inline: true, early: 4 * ms, claimed: true, took: 10 * ms, ok: true},
		{name: "deadline, before", early: -ms},
		{name: "context, queued", ahead: 3, early: 15 * ms, ctx: true, took: 15 * ms},
		{name: "context, running", early: 4 * ms, ctx: true, took: 4 * ms},
		{name: "context, inline", inline: true, early: 4 * ms, ctx: true, took: 4 * ms},
		{name: "context, claimed", early: 4 * ms, ctx: true, claimed: true, took: 10 * ms, ok: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			testneeds.Bubble(t, func(t *testing.T) {
				p := fake(0, "host", 1)
				p.Inline = c.inline
				if c.claimed {
					p.Run = func(_ context.Context, b *Batch) error {
						if b.Claim(0) && !b.Claim(0) {
							time.Sleep(b.Estimate)
							b.Jobs[0].Work.(*task).answers.Add(1)
						}
						return nil
					}
				}
				s := start(t, Options{Mode: Async}, p)
				var ends []<-chan error
				for range c.ahead {
					ends = append(ends, launch(s, newJob(10*ms)))
					synctest.Wait()
				}
				ctx, cancel := context.WithCancelCause(context.Background())
				defer cancel(nil)
				j := newJob(10 * ms)
				if c.ctx {
					time.AfterFunc(c.early, func() { cancel(errOwn) })
				} else {
					j.Deadline = time.Now().Add(c.early)
				}
				begin := time.Now()
				err := s.Do(ctx, j)
				if took := time.Since(begin); took != c.took {
					t.Errorf("returned after %v", took)
				}
				got := answers(j)
				time.Sleep(time.Second)
				if answers(j) != got || (err == nil) != c.ok || c.ok && got != 1 || !c.ok && got != 0 {
					t.Errorf("%d answers, then %d, error %v", got, answers(j), err)
				}
				var late *DeadlineError
				switch {
				case c.ok:
				case c.ctx && err != context.Canceled:
					t.Errorf("%v", err)
				case !c.ctx && (!errors.Is(err, ErrDeadline) || !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &late) ||
					late.Waited != c.took || late.Running != (c.ahead == 0 && c.took > 0)):
					t.Errorf("%v", err)
				}
				for _, end := range ends {
					if err := <-end; err != nil {
						t.Error(err)
					}
				}
			})
		})
	}
}

// A job near its deadline runs before smaller jobs and before jobs of callers that have
// been served less. Its place in the queue is free once it has failed.
func TestUrgentIsNext(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		s := start(t, Options{Mode: Async}, fake(0, "gpu", 1))
		for _, j := range jobsOf("others", 50, 2*ms) {
			launch(s, j)
			synctest.Wait()
		}
		j := newJob(10 * ms)
		j.Caller, j.Deadline = "others", time.Now().Add(50*ms)
		if err := s.Do(t.Context(), j); err != nil || j.Trace.Queued < 30*ms || j.Trace.Queued > 40*ms {
			t.Errorf("%v: %+v", err, j.Trace)
		}
		late := newJob(10 * ms)
		late.Deadline = time.Now().Add(9 * ms)
		if err := s.Do(t.Context(), late); !errors.Is(err, ErrDeadline) || s.Stats().Expired != 1 {
			t.Errorf("%v: %+v", err, late.Trace)
		}
		time.Sleep(time.Second)
	})
}

// Under more load than it can take, a processor does not spend its time on jobs that miss
// their deadlines anyway.
func TestOverloadStaysUseful(t *testing.T) {
	for _, mode := range []Mode{Async, Sync} {
		for _, sameCaller := range []bool{true, false} {
			testneeds.Bubble(t, func(t *testing.T) {
				s := start(t, Options{Mode: mode}, fake(0, "gpu", 1))
				const n = 1000
				met := make(chan bool, n)
				for i := range n { // twice the rate of the processor
					j := newJob(ms)
					j.Deadline = time.Now().Add(20 * ms)
					if !sameCaller {
						j.Caller = string(rune('a' + i%7))
					}
					go func() { met <- s.Do(t.Context(), j) == nil }()
					time.Sleep(500 * us)
				}
				good := 0
				for range n {
					if <-met {
						good++
					}
				}
				if good < n*45/100 {
					t.Errorf("%v, one caller %v: %d of %d were in time", mode, sameCaller, good, n)
				}
			})
		}
	}
}

func TestRunContext(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		parent, cancel := context.WithTimeout(context.WithValue(t.Context(), ErrFull, 7), time.Hour)
		defer cancel()
		var c runContext
		c.begin(parent, time.Now().Add(time.Minute))
		if d, ok := c.Deadline(); !ok || time.Until(d) != time.Minute || c.Value(ErrFull) != 7 || c.Err() != nil {
			t.Errorf("%v %v", d, c.Err())
		}
		if !c.end() || c.Err() != context.Canceled {
			t.Errorf("nobody has asked for the channel: %v", c.Err())
		}
		c.begin(parent, time.Now().Add(2*time.Hour))
		if d, ok := c.Deadline(); !ok || time.Until(d) != time.Hour {
			t.Errorf("%v", d)
		}
		child, cancelChild := context.WithCancel(&c)
		defer cancelChild()
		if c.Err() != nil || child.Err() != nil {
			t.Error("ended")
		}
		cancel()
		<-child.Done()
		if c.Err() != context.Canceled || c.end() {
			t.Errorf("the channel is in other hands: %v", c.Err())
		}
		c = runContext{}
		c.begin(parent, time.Time{})
		<-c.Done() // the parent has ended before
		if c.Err() != context.Canceled {
			t.Error(c.Err())
		}
	})
}

// Refused jobs after the end, and deadlines far away or long ago, do no harm.
func TestOddDeadlines(t *testing.T) {
	s := start(t, Options{}, instant(0, "gpu", 1))
	j := &Job{Deadline: time.Unix(1<<40, 0)}
	if err := s.Do(t.Context(), j); err != nil {
		t.Error(err)
	}
	j = &Job{Deadline: time.Unix(-1<<40, 0)}
	if err := s.Do(t.Context(), j); !errors.Is(err, ErrDeadline) {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := s.Do(t.Context(), j); !errors.Is(err, plan.ErrClosed) {
		t.Error(err)
	}
}

// After a rush, in which batches of a device waited for each other, the device is not taken for slow:
// it gets the jobs that suit it, although the host could end each of them in time.
func TestDeadlinesAfterRush(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		gpu, cpu := fake(0, "gpu", 16), fake(1, "host", 1)
		kernel := make(chan struct{}, 1)
		gpu.Start = func(any) time.Duration { return 100 * us }
		gpu.Run = func(_ context.Context, b *Batch) error {
			kernel <- struct{}{}
			time.Sleep(b.Estimate)
			<-kernel
			return answer(b)
		}
		cpu.Singles = 8
		s := start(t, Options{Mode: Sync}, gpu, cpu)
		send := func(n int, every, deadline time.Duration) {
			var group sync.WaitGroup
			for range n {
				time.Sleep(every)
				group.Go(func() {
					j := &Job{Kind: "and", Load: 1, Work: &task{alone: []time.Duration{200 * us, ms}, added: []time.Duration{100 * us, 500 * us}}}
					j.Deadline = time.Now().Add(deadline)
					if err := s.Do(context.Background(), j); err != nil {
						t.Error(err)
					}
				})
			}
			group.Wait()
		}
		send(4000, 0, time.Minute)
		before := s.Stats().Processors[0].Jobs
		send(200, ms, 3*ms)
		if n := s.Stats().Processors[0].Jobs - before; n < 190 {
			t.Errorf("the device answered %d of 200 jobs", n)
		}
	})
}

// A job that is urgent when it comes begins at once, although a batch waits to be full.
func TestUrgentAtArrival(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		s := start(t, Options{Mode: Sync}, fake(0, "gpu", 1))
		first := launch(s, newJob(100*us))
		synctest.Wait()
		j := newJob(100 * us)
		j.Deadline = time.Now().Add(500 * us)
		if err := s.Do(t.Context(), j); err != nil || j.Trace.Queued > 0 {
			t.Errorf("%v: %+v", err, j.Trace)
		}
		if err := <-first; err != nil {
			t.Error(err)
		}
	})
}
