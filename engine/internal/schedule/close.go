package schedule

import (
	"context"
	"fmt"
	"slices"

	"heddle/engine/plan"
)

// Drain refuses jobs from now on, with plan.ErrClosed, and waits until all that were
// admitted have ended, or ctx is done. The scheduler must be closed after it.
func (s *Scheduler) Drain(ctx context.Context) error {
	now := s.lock()
	if s.refusal == nil {
		s.refusal = errClosed
	}
	s.dispatch(now) // batches need not wait for more
	quiet := s.whenQuiet()
	s.unlock()
	select {
	case <-quiet:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close fails the waiting jobs with plan.ErrClosed, and waits until the running jobs have
// ended. It does not wait for a Run that counts as hung: that goroutine is left alone. A
// second Close returns plan.ErrClosed.
func (s *Scheduler) Close() error {
	now := s.lock()
	if s.closed {
		s.unlock()
		return errClosed
	}
	s.closed, s.refusal = true, errClosed
	for _, t := range slices.Clone(s.streams) {
		s.dropStream(t, errClosed, now)
	}
	for len(s.nonEmpty) > 0 {
		l := s.nonEmpty[0]
		for class := range l.queues {
			for q := &l.queues[class]; q.first != nil; {
				j := q.first
				s.dequeue(j)
				s.fail(j, errClosed)
			}
		}
	}
	quiet := s.whenQuiet()
	s.unlock()
	<-quiet
	s.timer.Stop()
	return nil
}

// whenQuiet returns a channel that is closed when nothing is held and nothing runs, at
// once if so when the lock is left.
func (s *Scheduler) whenQuiet() <-chan struct{} {
	if s.quiet == nil {
		s.quiet = make(chan struct{})
	}
	return s.quiet
}

// settle is called before the lock is left.
func (s *Scheduler) settle() {
	if s.quiet != nil && s.heldJobs == 0 && s.activeBatches == 0 && len(s.streams) == 0 {
		close(s.quiet)
		s.quiet = nil
	}
}

// Stats returns a snapshot.
func (s *Scheduler) Stats() Stats {
	now := s.lock()
	defer s.unlock()
	s.decay(now)
	st := s.stats
	st.Mode, st.Load, st.Queued, st.Capacity = s.mode, s.load(), s.queued, s.opt.Capacity
	for _, p := range s.processors {
		busy := p.busy
		for _, b := range p.running {
			busy += now - b.started
		}
		st.Processors = append(st.Processors, ProcessorStats{
			Name: p.Name, Out: p.removal, Hung: s.hangs(p, now), Running: len(p.running), Batches: p.batches, Jobs: p.jobs, Busy: busy,
		})
	}
	return st
}

// errClosed is the error of jobs that come too late.
var errClosed = fmt.Errorf("the engine is %w", plan.ErrClosed)
