package schedule

import "time"

// The scheduler's lock is never waited for by jobs that arrive. Where it is held they go
// into the inbox, and whoever holds it admits them all before and after what it does (flat
// combining, Hendler et al. 2010): then they are dispatched together, and a thousand
// callers do not queue for the lock one by one.

// post leaves j for whoever has the lock. Its caller is told when it has ended, if only
// because it is refused.
func (s *Scheduler) post(j *Job) {
	for {
		j.next = s.inbox.Load()
		if s.inbox.CompareAndSwap(j.next, j) {
			break
		}
	}
	if s.tryLock() { // who had it may not have seen j
		s.unlock()
	}
}

// tryLock takes the lock where nobody has it or waits for it: a lane that waits goes first.
// The check provides the happens-before edge that a failed TryLock lacks.
func (s *Scheduler) tryLock() bool {
	if s.wanted.Load() > 0 || !s.mu.TryLock() {
		return false
	}
	s.enter()
	return true
}

// lock takes the lock, and admits the jobs of the inbox. It returns the time, which may
// have passed meanwhile.
func (s *Scheduler) lock() time.Duration {
	if !s.mu.TryLock() {
		s.wanted.Add(1)
		s.mu.Lock()
		s.wanted.Add(-1)
	}
	s.enter()
	return s.time
}

// unlock leaves the lock. Nothing stays in the inbox that is not seen to by somebody: the
// next one that waits for the lock, or that has taken it meanwhile, or else the caller.
func (s *Scheduler) unlock() {
	for round := 1; ; round++ {
		for s.unseen {
			s.dispatch(s.time)
		}
		s.settle()
		s.mu.Unlock()
		if s.inbox.Load() == nil {
			return
		}
		if round == mostRounds {
			go func() {
				s.lock()
				s.unlock()
			}()
			return
		}
		if !s.tryLock() {
			return
		}
	}
}

// mostRounds is how often in a row the jobs of others are admitted by somebody who has
// other things to do.
const mostRounds = 8

// enter looks at the clock, and admits the jobs of the inbox in the order in which they
// came. The lock has just been taken.
func (s *Scheduler) enter() {
	s.time = s.now()
	if s.inbox.Load() == nil {
		return
	}
	var first *Job
	for j := s.inbox.Swap(nil); j != nil; {
		j.next, first, j = first, j, j.next
	}
	for j := first; j != nil; {
		next := j.next
		j.next = nil
		b, err := s.arrive(j)
		switch {
		case err != nil:
			j.finished, j.err = true, err
			j.done <- struct{}{}
		case b != nil: // its caller sleeps
			j.waiting, b.inline = true, false
			go b.run()
		default:
			j.waiting = true
		}
		j = next
	}
}
