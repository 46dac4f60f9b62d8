package schedule

import (
	"errors"
	"fmt"
	"time"
)

// prepare resets j and asks the processors for its estimated run times. It needs no lock.
func (s *Scheduler) prepare(j *Job) {
	if j.added == nil {
		j.added, j.Trace.Estimates = j.times[0][:0], j.times[1][:0]
	}
	estimates, added := j.Trace.Estimates[:0], j.added[:0]
	for _, p := range s.processors {
		alone, more, ok := time.Duration(-1), time.Duration(-1), false
		if !p.gone.Load() {
			alone, more, ok = p.Estimate(j)
		}
		if ok {
			alone, more = min(max(alone, 1), longest), min(max(more, 1), longest)
		} else {
			alone, more = -1, -1
		}
		estimates, added = append(estimates, alone), append(added, more)
	}
	j.Trace, j.added = Trace{Estimates: estimates}, added
	j.waiting, j.finished, j.solo, j.late, j.err, j.reason = false, false, false, false, nil, nil
	j.barred, j.odd, j.stream, j.deadline, j.at = 0, j.odd[:0], nil, never, [heaps]int{absent, absent, absent}
}

// longest estimate that is believed: sums of them do not overflow.
const longest = time.Hour

// believed returns an estimate of so many nanoseconds.
func believed(ns float64) time.Duration { return time.Duration(min(ns, float64(longest))) }

// arrive admits j. It returns a batch if j is to run at once; else it waits, for a
// dispatch first.
func (s *Scheduler) arrive(j *Job) (*Batch, error) {
	now := s.time
	s.admit(j, now)
	if s.refusing != nil {
		s.stats.Refused++
		return nil, s.refusing
	}
	if !j.Deadline.IsZero() {
		if j.deadline = j.Deadline.Sub(s.epoch); j.deadline <= now {
			s.stats.Expired++
			return nil, &DeadlineError{}
		}
	}
	j.batched = j.Mode == Sync || j.Mode == Auto && s.mode == Sync
	if !s.classify(j) {
		s.stats.Failed++
		return nil, s.noProcessor(nil)
	}
	if s.arrived(j, now) && j.Mode == Auto {
		j.batched = s.mode == Sync
		s.classify(j)
	}
	j.caller = s.callerNamed(j.Caller)
	var p *processor
	if !j.batched {
		p = s.place(j, now)
	}
	if p == nil {
		err := s.room(j.caller)
		if err != nil && s.unseen { // jobs that came with it may run
			s.dispatch(now)
			err = s.room(j.caller)
		}
		if err != nil {
			s.stats.Refused++
			return nil, err
		}
	}
	s.held++
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

// admit notes the arrival of j. Jobs arrive in the order of admission, so that a job goes to the
// end of a queue without a search.
func (s *Scheduler) admit(j *Job, now time.Duration) {
	s.seq++
	j.seq, j.arrived, j.Trace.Arrived = s.seq, now, s.epoch.Add(now)
}

// room returns a FullError where another job or stream of c may not wait. A caller holds at most
// eight times the room that is left (the dynamic threshold of Choudhury and Hahne 1998):
// alone it gets 8/9 of the queue, and the more there are, the less of it each.
func (s *Scheduler) room(c *caller) error {
	n, held := s.queuedJobs()+len(s.streams), c.queued+c.streams
	if left := s.opt.Capacity - n; left <= 0 || held >= 8*left {
		return &FullError{Caller: c.name, Held: held, Queued: n, Room: s.opt.Capacity}
	}
	return nil
}

func (s *Scheduler) queuedJobs() int { return s.queued[Either] + s.queued[Device] + s.queued[Host] }

// can says whether processor p can run j now.
func (s *Scheduler) can(j *Job, p int) bool {
	return s.able(j, p) && (j.reserved || !s.processors[p].Reserve)
}

// able is can without regard to reserves.
func (s *Scheduler) able(j *Job, p int) bool {
	return j.Trace.Estimates[p] >= 0 && s.processors[p].out == nil && j.barred>>p&1 == 0
}

// classify finds the class of j and its time where it is fastest; false if it can run
// nowhere.
func (s *Scheduler) classify(j *Job) bool {
	device, host := never, never // in the mode of j
	alone := [3]time.Duration{Device: never, Host: never}
	j.best = never
	j.reserved, j.left = true, s.cores.left()
	for p, r := range s.processors {
		if !r.Reserve && !j.Reserves && s.able(j, p) {
			j.reserved = false
			break
		}
	}
	for p, r := range s.processors {
		if !s.can(j, p) {
			continue
		}
		j.best = min(j.best, j.Trace.Estimates[p])
		alone[r.class] = min(alone[r.class], j.Trace.Estimates[p])
		if r.Host {
			host = min(host, s.price(j, r))
		} else {
			device = min(device, j.cost(p))
		}
	}
	j.similar = time.Duration(s.opt.Similar * float64(min(device, host, longest)))
	j.Trace.Class = s.classOf(device, host)
	j.single = s.classOf(alone[Device], alone[Host])
	return j.best != never
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
			outs = append(outs, p.out)
		}
		if reason = errors.Join(outs...); reason == nil {
			return ErrNoProcessor
		}
	}
	return fmt.Errorf("%w: %w", ErrNoProcessor, reason)
}
