package schedule

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"
)

const ms, us = time.Millisecond, time.Microsecond

// task is the Work of jobs of tests: its time on each processor, and how often it was
// answered.
type task struct {
	alone, added []time.Duration // negative: cannot run there
	answers      atomic.Int32
	fail         error // of the job itself
}

// newJob returns a job that takes alone on processors, the same in batches.
func newJob(alone ...time.Duration) *Job {
	return &Job{Kind: "and", Load: 1, Work: &task{alone: alone, added: alone}}
}

func answers(j *Job) int { return int(j.Work.(*task).answers.Load()) }

// fake is processor p of tests, one that takes the time that it is said to. Its functions
// may be changed before it is given to New.
func fake(p int, name string, lanes int) Processor {
	return Processor{
		Name: name, Host: name == "host", Lanes: lanes,
		Threshold: func(any) uint64 { return 8 },
		Estimate: func(j *Job) (alone, added time.Duration, ok bool) {
			t := j.Work.(*task)
			return t.alone[p], t.added[p], t.alone[p] >= 0
		},
		Run: func(ctx context.Context, b *Batch) error {
			if !sleep(ctx, b.Estimate) {
				return ctx.Err()
			}
			return answer(b)
		},
	}
}

// sleep returns false if ctx ends before.
func sleep(ctx context.Context, d time.Duration) bool {
	if ctx.Done() == nil {
		time.Sleep(d)
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// answer answers the jobs of b, or fails with the error of the first that has one.
func answer(b *Batch) error {
	for _, j := range b.Jobs {
		if t := j.Work.(*task); t.fail != nil {
			return t.fail
		}
	}
	for i, j := range b.Jobs {
		if b.Claim(i) {
			j.Work.(*task).answers.Add(1)
		}
	}
	return nil
}

func start(t *testing.T, opt Options, processors ...Processor) *Scheduler {
	t.Helper()
	s, err := New(opt, processors...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.check(); err != nil {
			t.Error(err)
		}
		if !s.closed {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	return s
}

// check returns an error if the scheduler still counts jobs after all calls have returned.
func (s *Scheduler) check() error {
	s.lock()
	defer s.unlock()
	if s.heldJobs != 0 {
		return fmt.Errorf("%d jobs are held", s.heldJobs)
	}
	for _, c := range s.callers {
		if !c.idle() {
			return fmt.Errorf("caller %q still has %d jobs, %d streams", c.name, c.queuedJobs, c.streams)
		}
	}
	for class, n := range s.queued {
		for p, w := range s.queuedTime[class] {
			if n != 0 || w != 0 || s.urgentJobs[class].len() != 0 {
				return fmt.Errorf("class %v: %d queued, work %v on processor %d, %d urgent", Class(class), n, w, p, s.urgentJobs[class].len())
			}
		}
	}
	if len(s.nonEmpty) != 0 || s.deadlines.len() != 0 || len(s.streams) != 0 {
		return fmt.Errorf("%d lines, %d deadlines, %d streams are left", len(s.nonEmpty), s.deadlines.len(), len(s.streams))
	}
	return nil
}

// launch calls Do on a goroutine. The error can be had once it has returned.
func launch(s *Scheduler, j *Job) <-chan error {
	c := make(chan error, 1)
	go func() { c <- s.Do(context.Background(), j) }()
	return c
}

// blockSize is the size of the next block of t on p, now.
func (s *Scheduler) blockSize(t *stream, p *processor) int {
	s.lock()
	defer s.unlock()
	return s.policy.Block(p, t, &s.view)
}

// takeOut removes processor p until Restore, because of err. It is not probed.
func (s *Scheduler) takeOut(p int, err error) {
	now := s.lock()
	defer s.unlock()
	s.processors[p].takeOut(err, now)
	s.processors[p].probeAt = never
	s.dispatch(now)
}
