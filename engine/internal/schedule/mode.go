package schedule

import (
	"math"
	"time"
)

// countArrival adds j to the load. It returns whether that has changed the mode.
func (s *Scheduler) countArrival(j *Job, now time.Duration) bool {
	fell := s.decay(now)
	s.arrivalRate[j.singleClass] += float64(j.bestTime) / float64(s.opt.Window)
	return (fell || s.mode == Async) && s.chooseMode(now)
}

// decay updates the arrival rate to now: an average with weights that fall to 1/e in a
// window, in steps that are small beside it. It returns whether the rate fell.
func (s *Scheduler) decay(now time.Duration) (fell bool) {
	if fell = now-s.decayedAt > s.opt.Window/1024; fell {
		keep := math.Exp(-float64(now-s.decayedAt) / float64(s.opt.Window))
		for class := range s.arrivalRate {
			s.arrivalRate[class] *= keep
		}
		for _, p := range s.processors {
			p.capacity.forget(now)
		}
		s.decayedAt = now
	}
	return fell
}

// load is the utilisation: arriving work over the capacity of the processors for single
// jobs. It is the maximum of the whole and of each class on its own processors.
func (s *Scheduler) load() float64 {
	var rates [3]float64
	for _, p := range s.processors {
		if p.removal == nil && !s.inReserve(p) {
			rates[p.class] += s.singleRate(p)
		}
	}
	load := 0.0
	if all := rates[Device] + rates[Host]; all > 0 {
		load = (s.arrivalRate[Either] + s.arrivalRate[Device] + s.arrivalRate[Host]) / all
	}
	for _, class := range [2]Class{Device, Host} {
		if rates[class] > 0 {
			load = max(load, s.arrivalRate[class]/rates[class])
		}
	}
	return load
}

// hasBacklog says whether so many jobs wait, or one so long, that the load is heavy, whatever it
// is thought to be: four for each lane, or for eight times the age that closes batches and
// twice its own time.
func (s *Scheduler) hasBacklog(now time.Duration) bool {
	for class := range s.queued {
		if s.queued[class] > 4*s.singleLanes(Class(class)) {
			return true
		}
	}
	for _, l := range s.nonEmpty {
		if l.mode != Auto {
			continue
		}
		for class := range l.queues {
			if j := l.queues[class].first; j != nil && now-j.arrived > 8*s.opt.MaxAge+2*j.bestTime {
				return true
			}
		}
	}
	return false
}

// singleLanes is how many single jobs of a class run at a time; Either: of all.
func (s *Scheduler) singleLanes(class Class) (n int) {
	for _, p := range s.processors {
		if p.removal == nil && (class == Either || class == p.class) {
			n += p.Singles
		}
	}
	return n
}

// chooseMode changes the mode where the load asks for it: to Sync at once, to Async after Hold.
func (s *Scheduler) chooseMode(now time.Duration) bool {
	if s.opt.Mode != Auto {
		return false
	}
	to, load := s.mode, s.load()
	switch {
	case load > s.opt.Enter || s.mode == Async && s.hasBacklog(now):
		to = Sync
	case load < s.opt.Leave && now-s.modeChangedAt >= s.opt.Hold && !s.hasBacklog(now):
		to = Async
	}
	if to == s.mode {
		return false
	}
	s.mode, s.modeChangedAt = to, now
	s.stats.Changes++
	if s.opt.Event != nil {
		s.opt.Event(Event{Time: s.epoch.Add(now), Mode: to, Load: load})
	}
	if s.totalQueued() > 0 {
		s.arm(now) // waiting jobs may run now
	}
	return true
}
