package schedule

import "time"

// Arriving jobs never wait for the scheduler's lock. While it is held they go into the
// inbox. The goroutine with the lock admits them before and after its own work (flat
// combining, Hendler et al. 2010). Then they are dispatched together, and a thousand
// callers do not queue for the lock one by one.

// post leaves j for the goroutine with the lock. Its caller is woken when the job has
// ended, or was refused.
func (s *Scheduler) post(j *Job) {
	for {
		j.next = s.inbox.Load()
		if s.inbox.CompareAndSwap(j.next, j) {
			break
		}
	}
	if s.tryLock() { // the last holder may not have seen j
		s.unlock()
	}
}

// tryLock takes the lock if it is free and no lane waits for it: a waiting lane goes first.
// The check provides the happens-before edge that a failed TryLock lacks.
func (s *Scheduler) tryLock() bool {
	if s.lockWaiters.Load() > 0 || !s.mu.TryLock() {
		return false
	}
	s.enter(s.now())
	return true
}

// lock takes the lock, and admits the jobs of the inbox. It returns the time.
func (s *Scheduler) lock() time.Duration { return s.lockAt(s.now()) }

// lockAt is lock at time now. It returns a later time if it has waited.
func (s *Scheduler) lockAt(now time.Duration) time.Duration {
	if !s.mu.TryLock() {
		s.lockWaiters.Add(1)
		s.mu.Lock()
		s.lockWaiters.Add(-1)
		now = s.now()
	}
	s.enter(now)
	return s.lockedAt
}

// unlock leaves the lock. Every job in the inbox is admitted: by the next holder of the
// lock, or else by the caller.
func (s *Scheduler) unlock() {
	for round := 1; ; round++ {
		for s.undispatched {
			s.dispatch(s.lockedAt)
		}
		if s.quiet != nil && s.heldJobs == 0 && s.activeBatches == 0 && len(s.streams) == 0 {
			close(s.quiet)
			s.quiet = nil
		}
		s.mu.Unlock()
		if s.inbox.Load() == nil {
			return
		}
		if round == maxInboxRounds {
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

// maxInboxRounds is the number of times in a row that a goroutine admits jobs of further
// callers before it returns to its own work.
const maxInboxRounds = 8

// enter admits the jobs of the inbox in the order in which they came. The lock has been taken at time now.
func (s *Scheduler) enter(now time.Duration) {
	s.lockedAt = max(s.lockedAt, now)
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
