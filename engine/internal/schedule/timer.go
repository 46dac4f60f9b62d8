package schedule

import "time"

// arm sees to it that tick comes at t, and at every beat until then.
func (s *Scheduler) arm(t time.Duration) {
	if t < s.armed {
		now := s.now()
		if s.armed == never {
			s.looked = now
		}
		s.armed = min(t, now+s.opt.Hang/beats)
		s.timer.Reset(max(s.armed-now, 0))
	}
}

// tick handles the passing of time: jobs expire, batches hang, and batches close by age.
func (s *Scheduler) tick() {
	now := s.lock()
	defer s.unlock()
	lost := s.watched(now)
	s.armed = never
	again := min(s.hung(now, lost), s.probe(now))
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
	for class := range s.urgent {
		if h := &s.urgent[class]; h.len() > 0 && h.top().key > now {
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
	s.deadlines.remove(j.at[byDeadline])
	running := j.cur != nil
	if s.drop(j, now) {
		s.fail(j, &DeadlineError{Waited: now - j.arrived, Running: running})
	}
}
