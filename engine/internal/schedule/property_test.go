package schedule

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
)

var errOwn = errors.New("the job's own error")

// faulty is a processor that does anything that one may do, each fault once in rare runs.
func faulty(p int, name string, lanes, rare int, hang time.Duration, seed uint64) Processor {
	out := fake(p, name, lanes)
	var mu sync.Mutex
	rng := rand.New(rand.NewPCG(seed, uint64(p)))
	dice := func(n int) int {
		mu.Lock()
		defer mu.Unlock()
		return rng.IntN(n)
	}
	out.Run = func(ctx context.Context, b *Batch) error {
		fault := dice(rare)
		if fault == 0 && name != "host" {
			time.Sleep(hang) // and answers then
		}
		if !sleep(ctx, b.Estimate*time.Duration(1+dice(30))/10) {
			return ctx.Err()
		}
		if fault == 1 || fault == 2 {
			for i, j := range b.Jobs[:dice(len(b.Jobs)+1)] {
				if b.Claim(i) {
					j.Work.(*task).answers.Add(1)
				}
			}
		}
		switch fault {
		case 1:
			if name != "host" && dice(4) == 0 {
				return &plan.DeviceError{Kind: plan.ErrDeviceLost, Device: name, Op: "run"}
			}
		case 2:
			return fmt.Errorf("%w: of the batch", errOwn)
		case 3:
			return nil
		case 4, 5:
			return &plan.DeviceError{Kind: plan.ErrOutOfMemory, Device: name, Op: "upload"}
		}
		err := answer(b)
		if err == nil && fault%4 == 2 {
			b.Delivering()
			time.Sleep(b.Estimate * time.Duration(dice(10)))
		}
		return err
	}
	return out
}

// blocks is a stream of jobs.
type blocks struct {
	left []*Job
	cut  []*Job
}

func (s *blocks) Kind() any { return "and" }

func (s *blocks) Blocks(int) int { return 1 << 16 }

func (s *blocks) Left() int { return len(s.left) }

func (s *blocks) Each(int) time.Duration { return 0 }

func (s *blocks) Learn(int, *Job, time.Duration) {}

func (s *blocks) Cut(p int, load uint64, most int) *Job {
	if len(s.left) == 0 {
		return nil
	}
	j := s.left[0]
	s.left, s.cut = s.left[1:], append(s.cut, j)
	return j
}

// ended checks that a job of tests ended in a permitted way.
func ended(err error, j *Job) error {
	if err == nil && answers(j) != 1 || answers(j) > 1 {
		return fmt.Errorf("%d answers, error %v: %+v", answers(j), err, j.Trace)
	}
	for _, e := range []error{nil, ErrFull, ErrDeadline, ErrHung, ErrNoProcessor, plan.ErrClosed, context.Canceled, context.DeadlineExceeded, errOwn} {
		if errors.Is(err, e) {
			return nil
		}
	}
	if err.Error() == errUnanswered(&processor{Processor: Processor{Name: "gpu"}}).Error() ||
		err.Error() == errUnanswered(&processor{Processor: Processor{Name: "host"}}).Error() {
		return nil
	}
	return fmt.Errorf("%w: not one of those that are known", err)
}

// Whatever processors do, each job is answered once or fails with an error that tells why.
func TestEachJobEndsOnce(t *testing.T) {
	seeds := uint64(20)
	if testing.Short() {
		seeds = 6 // each mode twice
	}
	for seed := range seeds {
		testneeds.Bubble(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 7))
			host := faulty(2, "host", 1, 400, time.Hour, seed)
			host.Inline, host.Singles = seed%2 == 0, 3
			opt := Options{Mode: Mode(seed % 3), Capacity: 50, Hang: time.Second, Similar: 1 + float64(seed%4)/5}
			if seed%2 == 1 { // the host shares cores with devices
				host.Threads, opt.Cores = 1+rng.IntN(8), 1+rng.IntN(4)
				opt.CPU = chance{rng}.cpu(opt.Cores)
			}
			s := start(t, opt, faulty(0, "gpu", 1, 50, time.Hour, seed), faulty(1, "gpu", 2, 200, time.Hour, seed), host)
			var group sync.WaitGroup
			for n := range 400 {
				cost := func() time.Duration {
					if rng.IntN(20) == 0 {
						return -1
					}
					return time.Duration(rng.ExpFloat64() * float64(ms))
				}
				j := newJob(cost(), cost(), cost())
				j.Kind, j.Load, j.Caller, j.Mode = rng.IntN(3), rng.Uint64N(4), fmt.Sprint(rng.IntN(4)), Mode(rng.IntN(3))
				ctx, cancel := context.WithCancel(context.Background())
				switch rng.IntN(10) {
				case 0:
					j.Deadline = time.Now().Add(time.Duration(rng.IntN(5000)) * us)
				case 1:
					time.AfterFunc(time.Duration(rng.IntN(5000))*us, cancel)
				case 2:
					j.Work.(*task).fail = errOwn
				}
				group.Go(func() {
					defer cancel()
					if err := ended(s.Do(ctx, j), j); err != nil {
						t.Error(err)
					}
				})
				if n%100 == 50 {
					st := &blocks{}
					for range 20 {
						st.left = append(st.left, newJob(cost(), cost(), cost()))
					}
					group.Go(func() {
						err := s.DoAll(context.Background(), st, "stream", time.Time{})
						for _, j := range st.cut {
							if err == nil || answers(j) > 1 {
								if err := ended(err, j); err != nil {
									t.Error(err)
								}
							}
						}
						if err == nil && len(st.cut) != 20 {
							t.Errorf("%d blocks of 20 without an error", len(st.cut))
						}
					})
				}
				time.Sleep(time.Duration(rng.ExpFloat64() * float64(300*us)))
			}
			if seed%4 == 3 {
				go func() {
					if err := s.Close(); err != nil {
						t.Error(err)
					}
				}()
			}
			group.Wait()
			time.Sleep(2 * time.Hour) // hung batches come back
		})
	}
}

// The same by the clock, with as many goroutines as there are to run: for the race
// detector.
func TestEachJobEndsOnceInRealTime(t *testing.T) {
	for _, mode := range Modes() {
		host := faulty(2, "host", 2, 1<<30, 0, 1)
		host.Inline, host.Singles = true, 3
		gpu := faulty(0, "gpu", 2, 500, time.Second, 3)
		s := start(t, Options{Mode: mode, Hang: 200 * ms, Capacity: 500}, gpu, faulty(1, "gpu", 1, 1<<30, 0, 2), host)
		var group sync.WaitGroup
		for n := range 64 {
			group.Go(func() {
				rng := rand.New(rand.NewPCG(uint64(n), 9))
				for range 40 {
					cost := time.Duration(rng.IntN(200)) * us
					j := newJob(cost, 2*cost, 3*cost)
					j.Kind, j.Caller, j.Mode = rng.IntN(2), fmt.Sprint(n%5), Mode(rng.IntN(3))
					ctx, cancel := context.WithCancel(context.Background())
					switch rng.IntN(6) {
					case 0:
						j.Deadline = time.Now().Add(time.Duration(rng.IntN(3000)) * us)
					case 1:
						time.AfterFunc(time.Duration(rng.IntN(3000))*us, cancel)
					}
					if err := ended(s.Do(ctx, j), j); err != nil {
						t.Error(err)
					}
					cancel()
				}
			})
		}
		group.Wait()
	}
}
