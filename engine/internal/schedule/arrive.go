package schedule

import (
	"errors"
	"fmt"
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

// maxEstimate estimate that is believed: sums of them do not overflow.
const maxEstimate = time.Hour

// boundedTime returns an estimate of so many nanoseconds.
func boundedTime(ns float64) time.Duration { return time.Duration(min(ns, float64(maxEstimate))) }

// arrive admits j. It returns a batch if j is to run at once; else it waits, for a
// dispatch first.
func (s *Scheduler) arrive(j *Job) (*Batch, error) {
	now := s.lockedAt
	s.stamp(j, now)
	if s.refusal != nil {
		s.stats.Refused++
		return nil, s.refusal
	}
	if !j.Deadline.IsZero() {
		if j.deadline = j.Deadline.Sub(s.epoch); j.deadline <= now {
			s.stats.Expired++
			return nil, &DeadlineError{}
		}
	}
	j.batchPriced = j.Mode == Sync || j.Mode == Auto && s.mode == Sync
	if !s.classify(j) {
		s.stats.Failed++
		return nil, s.noProcessor(nil)
	}
	if s.countArrival(j, now) && j.Mode == Auto {
		j.batchPriced = s.mode == Sync
		s.classify(j)
	}
	j.caller = s.callerNamed(j.Caller)
	var p *processor
	if !j.batchPriced {
		p = s.place(j, now)
	}
	if p == nil {
		err := s.checkRoom(j.caller)
		if err != nil && s.undispatched { // jobs that came with it may run
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
	b := s.newBatch(p, Async)
	s.take(b, j)
	b.inline = p.Inline
	s.begin(b, now)
	return b, nil
}

// stamp notes the arrival of j. Jobs arrive in the order of admission, so that a job goes to the
// end of a queue without a search.
func (s *Scheduler) stamp(j *Job, now time.Duration) {
	s.seq++
	j.seq, j.arrived, j.Trace.Arrived = s.seq, now, s.epoch.Add(now)
}

// checkRoom returns a FullError where another job or stream of c may not wait. A caller holds at most
// eight times the room that is left (the dynamic threshold of Choudhury and Hahne 1998):
// alone it gets 8/9 of the queue, and the more there are, the less of it each.
func (s *Scheduler) checkRoom(c *caller) error {
	n, held := s.totalQueued()+len(s.streams), c.queuedJobs+c.streams
	if left := s.opt.Capacity - n; left <= 0 || held >= 8*left {
		return &FullError{Caller: c.name, Held: held, Queued: n, Room: s.opt.Capacity}
	}
	return nil
}

func (s *Scheduler) totalQueued() int { return s.queued[Either] + s.queued[Device] + s.queued[Host] }

// eligible says whether processor p can run j now.
func (s *Scheduler) eligible(j *Job, p int) bool {
	return s.capable(j, p) && (j.reserveOnly || !s.processors[p].Reserve)
}

// capable is can without regard to reserves.
func (s *Scheduler) capable(j *Job, p int) bool {
	return j.Trace.Estimates[p] >= 0 && s.processors[p].removal == nil && j.barredOn>>p&1 == 0
}

// classify finds the class of j and its time where it is fastest; false if it can run
// nowhere.
func (s *Scheduler) classify(j *Job) bool {
	device, host := never, never // in the mode of j
	alone := [3]time.Duration{Device: never, Host: never}
	j.bestTime = never
	j.reserveOnly, j.freeCores = true, s.cores.unfedShare()
	for p, r := range s.processors {
		if !r.Reserve && !j.Reserves && s.capable(j, p) {
			j.reserveOnly = false
			break
		}
	}
	for p, r := range s.processors {
		if !s.eligible(j, p) {
			continue
		}
		j.bestTime = min(j.bestTime, j.Trace.Estimates[p])
		alone[r.class] = min(alone[r.class], j.Trace.Estimates[p])
		if r.Host {
			host = min(host, s.cost(j, r))
		} else {
			device = min(device, j.cost(p))
		}
	}
	j.similarCost = time.Duration(s.opt.Similar * float64(min(device, host, maxEstimate)))
	j.Trace.Class = s.classOf(device, host)
	j.singleClass = s.classOf(alone[Device], alone[Host])
	return j.bestTime != never
}

// classOf is the class of a job by its least times on devices and on hosts.
func (s *Scheduler) classOf(device, host time.Duration) Class {
	switch {
	case s.opt.Similar*float64(device) <= float64(host):
		return Device
	case s.opt.Similar*float64(host) <= float64(device):
		return Host
	}
	return Either
}

// noProcessor is the reason why a job can run nowhere: the error of its last attempt, or
// else the errors for which the processors were removed.
func (s *Scheduler) noProcessor(reason error) error {
	if reason == nil {
		var outs []error
		for _, p := range s.processors {
			outs = append(outs, p.removal)
		}
		if reason = errors.Join(outs...); reason == nil {
			return ErrNoProcessor
		}
	}
	return fmt.Errorf("%w: %w", ErrNoProcessor, reason)
}
