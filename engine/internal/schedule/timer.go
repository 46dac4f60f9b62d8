package schedule

import "time"

// arm sees to it that tick comes at t, and at every beat until then.
func (s *Scheduler) arm(t time.Duration) {
	if t < s.timerAt {
		now := s.now()
		if s.timerAt == never {
			s.tickedAt = now
		}
		s.timerAt = min(t, now+s.opt.Hang/ticksPerHang)
		s.timer.Reset(max(s.timerAt-now, 0))
	}
}

// tick handles the passing of time: jobs expire, batches hang, and batches close by age.
func (s *Scheduler) tick() {
	now := s.lock()
	defer s.unlock()
	lost := s.lostTime(now)
	s.timerAt = never
	again := min(s.giveUpHung(now, lost), s.runProbes(now))
	for s.deadlines.len() > 0 {
		e := s.deadlines.top()
		if e.key > now {
			again = min(again, e.key)
			break
		}
		s.expire(e.item, now)
	}
	again = min(again, s.expireStreams(now))
	s.dispatch(now)
	for class := range s.urgentJobs {
		if h := &s.urgentJobs[class]; h.len() > 0 && h.top().key > now {
			again = min(again, h.top().key)
		}
	}
	if again != never {
		s.arm(again)
	}
}

// expire fails j, whose deadline has passed. One whose answer is being written is waited
// for.
func (s *Scheduler) expire(j *Job, now time.Duration) {
	s.deadlines.remove(j.positions[byDeadline])
	running := j.batch != nil
	if s.detach(j, now) {
		s.fail(j, &DeadlineError{Waited: now - j.arrived, Running: running})
	}
}
