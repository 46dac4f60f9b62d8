package schedule

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"heddle/engine/plan"
)

// posted calls Do for each job while the lock is held, in this order: all are in the
// inbox when it returns.
func posted(ctx context.Context, s *Scheduler, jobs ...*Job) []<-chan error {
	var errs []<-chan error
	for _, j := range jobs {
		c := make(chan error, 1)
		go func() { c <- s.Do(ctx, j) }()
		for s.inbox.Load() != j {
			runtime.Gosched()
		}
		errs = append(errs, c)
	}
	return errs
}

func jobs(n int, cost time.Duration) (all []*Job) {
	for range n {
		all = append(all, newJob(cost))
	}
	return all
}

// blocked is a processor whose batches end when gate is closed.
func blocked(threshold uint64, gate <-chan struct{}) Processor {
	p := fake(0, "gpu", 1)
	p.Threshold = func(any) uint64 { return threshold }
	p.Run = func(_ context.Context, b *Batch) error {
		<-gate
		return answer(b)
	}
	return p
}

// Jobs that arrive while the lock is held are dispatched together, in order.
func TestInboxKeepsTheOrder(t *testing.T) {
	var ran [][]*Job
	p := fake(0, "gpu", 1)
	p.Run = func(_ context.Context, b *Batch) error { // one at a time
		ran = append(ran, slices.Clone(b.Jobs))
		return answer(b)
	}
	s := start(t, Options{Mode: Sync, MaxAge: time.Hour}, p)
	js := jobs(16, ms)
	s.lock()
	errs := posted(t.Context(), s, js...)
	s.unlock()
	for _, c := range errs {
		if err := <-c; err != nil {
			t.Error(err)
		}
	}
	if len(ran) != 2 || !slices.Equal(ran[0], js[:8]) || !slices.Equal(ran[1], js[8:]) {
		t.Errorf("%d batches %v of jobs %v", len(ran), ran, js)
	}
	for i, j := range js[1:] {
		if j.seq != js[i].seq+1 || j.arrived < js[i].arrived {
			t.Errorf("job %d: number %d at %v after %d at %v", i, j.seq, j.arrived, js[i].seq, js[i].arrived)
		}
	}
}

// A queue is in the order of arrival, by time and number, even if callers are held up.
func TestArrivalsAreInOrder(t *testing.T) {
	gate := make(chan struct{})
	s := start(t, Options{Mode: Sync}, blocked(1<<20, gate))
	var group sync.WaitGroup
	for range 64 {
		group.Go(func() {
			var all sync.WaitGroup
			for range 40 {
				all.Go(func() {
					if err := s.Do(context.Background(), newJob(ms)); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
		})
	}
	for n := 0; n < 100; n++ {
		s.lock()
		for _, l := range s.nonEmpty {
			q := &l.queues[Device]
			for j := q.first; j != nil && j.next != nil; j = j.next {
				if o := j.next; j.arrived > o.arrived || j.seq > o.seq || o.arrived > s.lockedAt {
					t.Fatalf("number %d at %v before %d at %v, now %v", j.seq, j.arrived, o.seq, o.arrived, s.lockedAt)
				}
			}
		}
		s.unlock()
		runtime.Gosched()
	}
	close(gate)
	group.Wait()
}

// A full queue refuses the youngest; not while processors could make room.
func TestInboxIsBounded(t *testing.T) {
	for _, busy := range []bool{true, false} {
		gate := make(chan struct{})
		s := start(t, Options{Mode: Sync, Capacity: 4, MaxAge: time.Hour}, blocked(1, gate))
		var first <-chan error
		if busy {
			first = launch(s, newJob(ms))
			for s.Stats().Processors[0].Running == 0 {
				runtime.Gosched()
			}
		}
		s.lock()
		errs := posted(t.Context(), s, jobs(6, ms)...)
		s.unlock()
		admitted := 5 // one runs, four wait
		if busy {
			admitted = 4
		}
		for i, c := range errs[admitted:] {
			if err := <-c; !errors.Is(err, ErrFull) {
				t.Errorf("busy %v: job %d of a queue of 4: %v", busy, admitted+i, err)
			}
		}
		close(gate)
		for i, c := range errs[:admitted] {
			if err := <-c; err != nil {
				t.Errorf("busy %v: job %d: %v", busy, i, err)
			}
		}
		if first != nil {
			<-first
		}
		if st := s.Stats(); st.Refused != uint64(6-admitted) {
			t.Errorf("busy %v: %d are refused", busy, st.Refused)
		}
	}
}

// Jobs end in the inbox as they do elsewhere.
func TestInboxEndsJobs(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	late := func() *Job {
		j := newJob(ms)
		j.Deadline = time.Now().Add(ms)
		return j
	}
	for _, c := range []struct {
		name string
		j    *Job
		ctx  context.Context
		held func(s *Scheduler) // while the lock is held
		want error
	}{
		{"given up", newJob(ms), ctx, func(s *Scheduler) {
			cancel()
			for s.lockWaiters.Load() == 0 {
				runtime.Gosched()
			}
		}, context.Canceled},
		{"too late", late(), context.Background(), func(*Scheduler) { time.Sleep(2 * ms) }, ErrDeadline},
		{"no processor", newJob(-1), context.Background(), func(*Scheduler) {}, ErrNoProcessor},
		{"taken out", newJob(ms), context.Background(), func(s *Scheduler) { s.processors[0].takeOut(plan.ErrDeviceLost, s.now()) }, ErrNoProcessor},
		{"closed", newJob(ms), context.Background(), func(s *Scheduler) { s.closed = true }, plan.ErrClosed},
	} {
		gate := make(chan struct{})
		s := start(t, Options{Mode: Sync, MaxAge: time.Hour}, blocked(2, gate))
		s.lock()
		err := posted(c.ctx, s, c.j)[0]
		c.held(s)
		s.unlock()
		if err := <-err; !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		close(gate)
	}
}

// Callers arrive, give up and run out of time, while others look and close. Each
// call returns, and each job is counted once.
func TestInboxLosesNothing(t *testing.T) {
	for round := range 8 {
		host := instant(1, "host", 16)
		host.Inline, host.Singles = true, 2
		s := start(t, Options{Mode: Mode(round % 3), Capacity: 40 + 1000*(round%2), MaxAge: 200 * us}, instant(0, "gpu", 16), host)
		var calls, answered atomic.Uint64
		var group sync.WaitGroup
		for n := range 64 {
			group.Go(func() {
				rng := rand.New(rand.NewPCG(uint64(round), uint64(n)))
				j := &Job{Kind: "and", Load: 1, Caller: fmt.Sprint(n % 3)}
				for range 60 {
					ctx, cancel := context.WithCancel(context.Background())
					j.Deadline = time.Time{}
					switch rng.IntN(8) {
					case 0:
						j.Deadline = time.Now().Add(time.Duration(rng.IntN(300)) * us)
					case 1:
						go cancel()
					}
					err := s.Do(ctx, j)
					cancel()
					switch {
					case err == nil:
						answered.Add(1)
					case errors.Is(err, plan.ErrClosed) || errors.Is(err, ErrFull) || errors.Is(err, ErrDeadline):
					case errors.Is(err, context.Canceled):
						if len(j.Trace.Estimates) == 0 {
							continue // before it arrived
						}
					default:
						t.Error(err)
					}
					calls.Add(1)
					if a := j.Trace.Attempts; a > 1 || a == 1 && err != nil {
						j = &Job{Kind: "and", Load: 1, Caller: j.Caller}
					}
				}
			})
		}
		stop := make(chan struct{})
		var holder sync.WaitGroup
		holder.Go(func() { // the lock, so that others find it held
			for {
				select {
				case <-stop:
					return
				default:
					s.lock()
					runtime.Gosched()
					s.unlock()
				}
			}
		})
		if round%4 == 3 {
			time.Sleep(time.Duration(round) * ms / 4)
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
		group.Wait()
		close(stop)
		holder.Wait()
		st := s.Stats()
		if st.Answered != answered.Load() || st.Answered+st.Refused+st.Expired+st.Failed != calls.Load() {
			t.Errorf("round %d: %d calls, %d answered: %+v", round, calls.Load(), answered.Load(), st)
		}
	}
}
