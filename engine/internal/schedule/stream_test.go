package schedule

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
)

// Processors cut blocks as they become free: the faster one more of them.
func TestStreamIsPulled(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		s := start(t, Options{}, fake(0, "gpu", 2), fake(1, "host", 1))
		st := &blocks{left: jobsOf("", 100, 4*ms, 10*ms)}
		begin := time.Now()
		if err := s.DoAll(t.Context(), st, "", time.Time{}); err != nil {
			t.Fatal(err)
		}
		count := map[string]int{}
		for _, j := range st.cut {
			count[j.Trace.Processor]++
			if r := j.Trace; answers(j) != 1 || r.Mode != Sync || r.Attempts != 1 || r.Queued != 0 {
				t.Errorf("%d answers, %+v", answers(j), r)
			}
		}
		// 2/4 + 1/10 blocks a millisecond: 167 ms, and the last block.
		if took := time.Since(begin); took < 166*ms || took > 177*ms || count["gpu"]+count["host"] != 100 || count["host"] < 16 || count["host"] > 18 {
			t.Errorf("%v in %v", count, took)
		}
	})
}

// A block that fails on one processor runs on another; the first error of a job ends the
// call, and the answers of the others are dropped.
func TestStreamFaults(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		gpu := once(fake(0, "gpu", 1), plan.ErrDeviceLost, 0)
		s := start(t, Options{}, gpu, fake(1, "host", 1))
		st := &blocks{left: jobsOf("", 10, 5*ms, 5*ms)}
		if err := s.DoAll(t.Context(), st, "", time.Time{}); err != nil {
			t.Fatal(err)
		}
		for i, j := range st.cut {
			if attempts := 1 + (10-i)/10; answers(j) != 1 || j.Trace.Processor != "host" || j.Trace.Attempts != attempts {
				t.Errorf("block %d: %d answers, %+v", i, answers(j), j.Trace)
			}
		}
	})
	testneeds.Bubble(t, func(t *testing.T) {
		s := start(t, Options{}, fake(0, "gpu", 4))
		st := &blocks{left: jobsOf("", 40, 10*ms)}
		st.left[5] = newJob(5 * ms) // in the second round
		st.left[5].Work.(*task).fail = errOwn
		begin := time.Now()
		if err := s.DoAll(t.Context(), st, "", time.Time{}); err != errOwn || time.Since(begin) != 15*ms {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		time.Sleep(time.Second)
		for i, j := range st.cut {
			if want := map[bool]int{true: 1}[i < 4]; answers(j) != want {
				t.Errorf("block %d: %d answers", i, answers(j))
			}
		}
		if len(st.cut) != 8 {
			t.Errorf("%d blocks were cut", len(st.cut))
		}
	})
}

// A block that a processor cannot run waits for one that can; where there is none the call
// fails.
func TestStreamBlockForOneProcessor(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		s := start(t, Options{}, fake(0, "gpu", 1), fake(1, "host", 1))
		st := &blocks{left: append(jobsOf("", 4, -1, 10*ms), jobsOf("", 4, 10*ms, -1)...)}
		if err := s.DoAll(t.Context(), st, "", time.Time{}); err != nil {
			t.Fatal(err)
		}
		st = &blocks{left: append(jobsOf("", 4, ms, ms), newJob(-1, -1))}
		if err := s.DoAll(t.Context(), st, "", time.Time{}); !errors.Is(err, ErrNoProcessor) {
			t.Error(err)
		}
	})
}

func TestStreamEndsEarly(t *testing.T) {
	for _, kind := range []string{"context", "deadline", "close"} {
		testneeds.Bubble(t, func(t *testing.T) {
			s := start(t, Options{}, fake(0, "gpu", 1))
			st := &blocks{left: jobsOf("", 100, 10*ms)}
			ctx, deadline, want := t.Context(), time.Time{}, error(plan.ErrClosed)
			switch kind {
			case "context":
				c, cancel := context.WithTimeout(ctx, 35*ms)
				defer cancel()
				ctx, want = c, context.DeadlineExceeded
			case "deadline":
				deadline, want = time.Now().Add(35*ms), ErrDeadline
			case "close":
				time.AfterFunc(35*ms, func() {
					if err := s.Close(); err != nil {
						t.Error(err)
					}
				})
			}
			begin := time.Now()
			if err := s.DoAll(ctx, st, "", deadline); !errors.Is(err, want) || time.Since(begin) != 35*ms {
				t.Errorf("%s: %v after %v", kind, err, time.Since(begin))
			}
			time.Sleep(time.Second)
			for i, j := range st.cut {
				if (answers(j) == 1) != (i < 3) || i > 3 {
					t.Errorf("%s: block %d: %d answers", kind, i, answers(j))
				}
			}
		})
	}
	s := start(t, Options{}, fake(0, "gpu", 1))
	if err := s.DoAll(t.Context(), &blocks{}, "", time.Now().Add(-1)); !errors.Is(err, ErrDeadline) {
		t.Error(err)
	}
	if err := s.DoAll(t.Context(), &blocks{}, "", time.Time{}); err != nil {
		t.Errorf("nothing to do: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := s.DoAll(t.Context(), &blocks{}, "", time.Time{}); !errors.Is(err, plan.ErrClosed) {
		t.Error(err)
	}
}

// A stream of one caller leaves the single jobs of another their share, and two streams
// share evenly.
func TestStreamsAreFair(t *testing.T) {
	for _, mode := range []Mode{Async, Sync} {
		testneeds.Bubble(t, func(t *testing.T) {
			s := start(t, Options{Mode: mode}, fake(0, "gpu", 1))
			st := [2]*blocks{{left: jobsOf("", 100, 10*ms)}, {left: jobsOf("", 50, 20*ms)}}
			var ends [2]chan time.Time
			for i, st := range st {
				end := make(chan time.Time, 1)
				ends[i] = end
				go func() {
					if err := s.DoAll(context.Background(), st, string(rune('a'+i)), time.Time{}); err != nil {
						t.Error(err)
					}
					end <- time.Now()
				}()
			}
			synctest.Wait()
			worst := time.Duration(0)
			for range 40 { // a tenth of the load
				j := newJob(2 * ms)
				j.Caller = "single"
				if err := s.Do(t.Context(), j); err != nil {
					t.Error(err)
				}
				worst = max(worst, j.Trace.Queued)
				time.Sleep(18 * ms)
			}
			a, b := <-ends[0], <-ends[1]
			if d := a.Sub(b).Abs(); d > 30*ms || worst > 21*ms {
				t.Errorf("%v: streams end %v apart, a single job waits for %v", mode, d, worst)
			}
		})
	}
}

// A block in delivery holds no lane, and few blocks are cut before their delivery.
func TestDelivering(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		p := fake(0, "gpu", 2)
		run := p.Run
		p.Run = func(ctx context.Context, b *Batch) error {
			err := run(ctx, b)
			if b.Mode == Sync {
				b.Delivering()
				time.Sleep(time.Minute)
			}
			return err
		}
		s := start(t, Options{Mode: Async, Hang: time.Second}, p)
		slow := &blocks{left: jobsOf("", 6, 10*ms)}
		end := make(chan error, 1)
		begin := time.Now()
		go func() { end <- s.DoAll(context.Background(), slow, "slow", time.Time{}) }()
		time.Sleep(15 * ms)
		time.Sleep(25 * ms)
		j := newJob(10 * ms)
		if err := s.Do(t.Context(), j); err != nil || j.Trace.Queued > 0 {
			t.Errorf("a job of another caller: %v, %+v", err, j.Trace)
		}
		s.lock()
		if len(slow.cut) != 4 {
			t.Errorf("%d blocks are cut", len(slow.cut))
		}
		s.unlock()
		// Four blocks in two rounds, the last two when the first have been delivered.
		if err := <-end; err != nil || time.Since(begin) != 2*(time.Minute+10*ms) {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		if st := s.Stats(); st.Processors[0].Out != nil || st.Processors[0].Busy != 70*ms {
			t.Errorf("%+v", st)
		}
	})
}

// Single jobs of the same caller, more than can be done, do not starve its stream.
func TestStreamBesideItsCallersJobs(t *testing.T) {
	for _, mode := range []Mode{Async, Sync} {
		testneeds.Bubble(t, func(t *testing.T) {
			s := start(t, Options{Mode: mode}, fake(0, "gpu", 1))
			var stop atomic.Bool
			go func() {
				for !stop.Load() {
					launch(s, newJob(ms))
					time.Sleep(900 * us)
				}
			}()
			time.Sleep(5 * ms)
			begin := time.Now()
			err := s.DoAll(t.Context(), &blocks{left: jobsOf("", 10, 10*ms)}, "", time.Time{})
			stop.Store(true)
			// Each block lets jobs pass that arrive within 40 ms, and a growing number of
			// jobs that wait by then.
			if took := time.Since(begin); err != nil || took < 200*ms || took > 2*time.Second {
				t.Errorf("%v: %v after %v", mode, err, took)
			}
			time.Sleep(10 * time.Second)
		})
	}
}

// A call whose context has ended cuts no further block, even if DoAll has not run since: the
// lane of a block goes on at once.
func TestStreamOfEndedContext(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		gpu := fake(0, "gpu", 1)
		run, ran := gpu.Run, 0
		gpu.Run = func(c context.Context, b *Batch) error {
			if ran++; ran == 3 {
				defer cancel()
			}
			return run(c, b)
		}
		s := start(t, Options{}, gpu)
		st := &blocks{left: jobsOf("", 100, 10*ms)}
		if err := s.DoAll(ctx, st, "", time.Time{}); err != context.Canceled || len(st.cut) != 3 {
			t.Errorf("%v, %d blocks were cut", err, len(st.cut))
		}
	})
}

// A stream whose context ends returns after the answers that are being written: the caller may
// then use their memory.
func TestStreamWaitsForDelivery(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		gpu := fake(0, "gpu", 1)
		var written atomic.Int32
		gpu.Run = func(ctx context.Context, b *Batch) error {
			if !sleep(ctx, b.Estimate) {
				return ctx.Err()
			}
			if err := answer(b); err != nil { // the jobs are claimed
				return err
			}
			time.Sleep(50 * ms)
			written.Add(1)
			return nil
		}
		s := start(t, Options{}, gpu)
		ctx, cancel := context.WithTimeout(t.Context(), 30*ms) // while the first answers are written
		defer cancel()
		begin := time.Now()
		err := s.DoAll(ctx, &blocks{left: jobsOf("", 4, 10*ms)}, "", time.Time{})
		if !errors.Is(err, context.DeadlineExceeded) || written.Load() != 1 || time.Since(begin) != 60*ms {
			t.Errorf("%v after %v, %d blocks were written", err, time.Since(begin), written.Load())
		}
	})
}
