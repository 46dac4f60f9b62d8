package schedule

import (
	"math"
	"time"
)

// prepare resets j and asks the processors for its estimated run times. It needs no lock.
func (s *Scheduler) prepare(j *Job) {
	if j.added == nil {
		j.added, j.Trace.Estimates = j.timesMemory[0][:0], j.timesMemory[1][:0]
	}
	estimates, added := j.Trace.Estimates[:0], j.added[:0]
	for _, p := range s.processors {
		alone, more, ok := time.Duration(-1), time.Duration(-1), false
		if !p.removed.Load() {
			alone, more, ok = p.Estimate(j)
		}
		if ok {
			alone, more = min(max(alone, 1), maxEstimate), min(max(more, 1), maxEstimate)
		} else {
			alone, more = -1, -1
		}
		estimates, added = append(estimates, alone), append(added, more)
	}
	j.Trace, j.added = Trace{Estimates: estimates}, added
	j.waiting, j.finished, j.runsAlone, j.postponed, j.err, j.lastError = false, false, false, false, nil, nil
	j.barredOn, j.failures, j.stream, j.deadline, j.positions = 0, j.failures[:0], nil, never, [heaps]int{absent, absent, absent}
}

// maxEstimate bounds estimates, so that their sums do not overflow.
const maxEstimate = time.Hour

// boundedTime converts ns, in nanoseconds, to an estimate of at most maxEstimate.
func boundedTime(ns float64) time.Duration { return time.Duration(min(ns, float64(maxEstimate))) }

// arrive admits j. It returns a batch if j begins at once; nil: j waits in its queue, and the next
// dispatch looks at it.
func (s *Scheduler) arrive(j *Job) (*Batch, error) {
	now := s.lockedAt
	s.seq++ // jobs are admitted in this order, so that a job goes to the end of a queue without a search
	j.seq, j.arrived, j.Trace.Arrived = s.seq, now, s.epoch.Add(now)
	var err error
	if j.deadline, err = s.admit(j.Deadline, now); err != nil {
		return nil, err
	}
	if !s.route(j) {
		s.stats.Failed++
		return nil, s.noProcessor(nil)
	}
	s.decay(now)
	s.arrivalRate[j.singleClass] += float64(j.bestTime) / float64(loadWindow)
	p := s.policy.Place(j, &s.view)
	s.followMode(now)
	j.caller = s.callerNamed(j.Caller)
	if p == nil {
		err := s.checkRoom(j.caller)
		if err != nil && s.undispatched { // jobs of the same inbox may leave the queue
			s.dispatch(now)
			err = s.checkRoom(j.caller)
		}
		if err != nil {
			s.stats.Refused++
			return nil, err
		}
	}
	s.heldJobs++
	if j.deadline != never {
		s.deadlines.push(j.deadline, j.seq, j)
		s.arm(j.deadline)
	}
	if p == nil {
		s.enqueue(j, now)
		return nil, nil
	}
	b := p.newBatch(Async)
	b.take(j)
	b.inline = p.Inline
	b.begin(now)
	return b, nil
}

// admit converts the deadline of a job or call that comes, and refuses it after the deadline or the end.
func (s *Scheduler) admit(deadline time.Time, now time.Duration) (time.Duration, error) {
	if s.closed {
		s.stats.Refused++
		return never, errClosed
	}
	if deadline.IsZero() {
		return never, nil
	}
	at := deadline.Sub(s.epoch)
	if at <= now {
		s.stats.Expired++
		return at, &DeadlineError{}
	}
	return at, nil
}

// checkRoom returns a FullError where another job or stream of c may not wait. A caller holds at most
// eight times the room that is left (the dynamic threshold of Choudhury and Hahne 1998):
// alone it gets 8/9 of the queue, and further callers reduce the part of each.
func (v *view) checkRoom(c *caller) error {
	n, held := v.totalQueued()+len(v.streams), c.queuedJobs+c.streams
	if left := v.opt.Capacity - n; left <= 0 || held >= 8*left {
		return &FullError{Caller: c.name, Held: held, Queued: n, Room: v.opt.Capacity}
	}
	return nil
}

// route finds the processors that can run j, and its time on the fastest one; false: there is none.
func (v *view) route(j *Job) bool {
	alone := [3]time.Duration{Device: never, Host: never}
	j.bestTime, j.reserveOnly, j.freeCores = never, true, v.cores.unfedShare()
	for p, r := range v.processors {
		if !r.Reserve && !j.Reserves && v.capable(j, p) {
			j.reserveOnly = false
			break
		}
	}
	for p, r := range v.processors {
		if v.eligible(j, p) {
			j.bestTime = min(j.bestTime, j.Trace.Estimates[p])
			alone[r.class] = min(alone[r.class], j.Trace.Estimates[p])
		}
	}
	j.singleClass = v.opt.classOf(alone[Device], alone[Host])
	return j.bestTime != never
}

// replace routes j again and has the policy set its class, before another attempt; false: no processor
// can run it.
func (s *Scheduler) replace(j *Job) bool {
	if !s.route(j) {
		return false
	}
	s.policy.Place(j, &s.view)
	return true
}

// loadWindow is the time over which the load is averaged.
const loadWindow = 100 * time.Millisecond

// decay updates the arrival rate to now: an average with weights that fall to 1/e in loadWindow, in
// steps that are small beside it.
func (s *Scheduler) decay(now time.Duration) {
	if s.rateFell = now-s.decayedAt > loadWindow/1024; s.rateFell {
		keep := math.Exp(-float64(now-s.decayedAt) / float64(loadWindow))
		for class := range s.arrivalRate {
			s.arrivalRate[class] *= keep
		}
		for _, p := range s.processors {
			p.capacity.forget(now)
		}
		s.decayedAt = now
	}
}

// followMode reports a change of the policy's mode.
func (s *Scheduler) followMode(now time.Duration) {
	mode := s.policy.Mode()
	if mode == s.mode {
		return
	}
	s.mode = mode
	s.stats.Changes++
	s.event(Event{Mode: mode}, now)
	if s.totalQueued() > 0 {
		s.arm(now) // waiting jobs may run now
	}
}
