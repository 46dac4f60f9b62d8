package schedule

import (
	"math"
	"time"
)

// arrived adds a job to the load. It returns whether that has changed the mode.
func (s *Scheduler) arrived(best, now time.Duration) bool {
	s.decay(now)
	if lanes := s.lanes(); lanes > 0 {
		s.load += float64(best) / (float64(s.opt.Window) * float64(lanes))
	}
	return s.choose(now)
}

// decay brings the load to now. It is an average with weights that fall to 1/e in a
// window: jobs that keep all lanes busy come to 1.
func (s *Scheduler) decay(now time.Duration) {
	if now > s.loadAt {
		s.load *= math.Exp(-float64(now-s.loadAt) / float64(s.opt.Window))
		s.loadAt = now
	}
}

// lanes is how many single jobs run at a time.
func (s *Scheduler) lanes() (n int) {
	for _, p := range s.processors {
		if p.out == nil {
			n += p.Singles
		}
	}
	return n
}

// choose changes the mode where the load asks for it.
func (s *Scheduler) choose(now time.Duration) bool {
	to := s.mode
	switch {
	case s.opt.Mode != Auto || s.stats.Changes > 0 && now-s.changed < s.opt.Hold:
		return false
	case s.load > s.opt.Enter:
		to = Sync
	case s.load < s.opt.Leave:
		to = Async
	}
	if to == s.mode {
		return false
	}
	s.mode, s.changed = to, now
	s.stats.Changes++
	if s.opt.Event != nil {
		s.opt.Event(Event{Time: s.epoch.Add(now), Mode: to, Load: s.load})
	}
	if s.queuedJobs() > 0 {
		s.arm(now) // what waits may run now
	}
	return true
}
