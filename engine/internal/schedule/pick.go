package schedule

import "time"

// dispatch starts jobs on processors with free lanes.
func (s *Scheduler) dispatch(now time.Duration) {
	s.undispatched = false
	if len(s.nonEmpty)+len(s.streams) == 0 {
		return
	}
	for _, q := range s.nonEmpty {
		q.closesAt = 0
	}
	for more := true; more; {
		more = false
		for _, p := range s.processors { // in turns: there may be fewer jobs than lanes of one processor
			if b := p.pick(now); b != nil {
				b.begin(now)
				go b.run()
				more = true
			}
		}
	}
}

// pick returns the next batch of p, nil if p should wait. It offers to the policy: in one of
// starvationTurns the oldest job or call that starves, the job that must start now to meet its
// deadline, the next job or block by fairness, and at last any job.
func (p *processor) pick(now time.Duration) *Batch {
	s := p.scheduler
	if !p.free(false) && !p.free(true) && !p.freeBlock() {
		return nil
	}
	if p.sinceStarving >= starvationTurns && p.starvingDebt == 0 {
		virtual := s.virtualTime
		b, blocked := p.serveStarving(now)
		if b != nil {
			s.virtualTime = virtual // its caller may be far ahead, and callers that come do not start there
			p.sinceStarving, p.starvingDebt = 0, starvationTurns*min(b.Estimate, maxEstimate)
			return b
		}
		if blocked && !s.hangs(p, now) {
			return nil
		}
	}
	if j, d := p.urgentJob(now); j != nil {
		return p.cut(j, d, now)
	}
	best, d := p.jobInTurn(now)
	if b := p.block(best, now); b != nil {
		return b
	}
	if best == nil {
		if d = p.offer(idle, nil); d.job == nil {
			return nil
		}
		best, p.triedAt = d.job, now
		s.stats.Stolen++
	}
	return p.cut(best, d, now)
}

// offer returns the decision of the policy, and sees to another offer at the time that it names.
func (p *processor) offer(t turn, j *Job) decision {
	s := p.scheduler
	d := s.policy.Next(p, t, j, &s.view)
	if d.again > s.lockedAt && d.again != never {
		s.arm(d.again)
	}
	return d
}

// jobInTurn returns the next job of p by fairness, and how it runs. It postpones jobs that are too late.
func (p *processor) jobInTurn(now time.Duration) (best *Job, how decision) {
	s := p.scheduler
	for _, q := range s.nonEmpty {
		for _, class := range [2]Class{p.class, Either} {
			j := q.queues[class].head()
			for j != nil && s.late(j, now) {
				s.postpone(j)
				j = q.queues[class].head()
			}
			if j == nil || best != nil && !s.before(j, best, now) {
				continue
			}
			if d := p.offer(inTurn, j); d.mode != Auto && !d.wait && p.free(d.mode == Sync) && s.timely(j, p, now) {
				best, how = j, d
			}
		}
	}
	return best, how
}

// urgentJob returns the job that must start now on p to meet its deadline, and how it runs.
func (p *processor) urgentJob(now time.Duration) (best *Job, how decision) {
	s, least := p.scheduler, never
	for class := range s.urgentJobs {
		for h := &s.urgentJobs[class]; h.len() > 0 && h.top().key <= now; {
			j := h.top().item
			if s.late(j, now) {
				h.remove(j.positions[byUrgency]) // it waits for its turn
				continue
			}
			if h.top().key < least {
				if d := p.offer(urgent, j); d.mode != Auto && p.free(d.mode == Sync) {
					best, how, least = j, d, h.top().key
				}
			}
			break
		}
	}
	return best, how
}

// postpone moves j behind the jobs of its caller that can still meet their deadlines.
func (s *Scheduler) postpone(j *Job) {
	j.postponed = true
	j.callerQueue.jobs.rekey(j.positions[byOrder], j.order()+postponedKey)
	if i := j.positions[byUrgency]; i != absent {
		s.urgentJobs[j.Trace.Class].remove(i)
	}
}

// The order of service lets jobs pass other ones: urgent jobs, small jobs, jobs of callers that have
// been served less, jobs for which lanes or cores are free. A job that has waited for starvationLimit
// starves, and so does a call without a block for starvationLimit and patience times its last one.

func (j *Job) starves(now time.Duration) bool    { return now-j.arrived >= starvationLimit }
func (t *stream) starves(now time.Duration) bool { return now-t.nextOrder >= starvationLimit }

// starvationLimit is the time after which a waiting job or call starves.
const starvationLimit = 2 * time.Second

// starvationTurns is the number of batches of a processor of which one serves the oldest job or call that
// starves, whatever is urgent. Such batches take one of starvationTurns of the time, too, so that a
// caller with many large jobs, which always starve, gets no more than its share.
const starvationTurns = 8

// serveStarving returns a batch of the oldest job or call that starves. If there is none because other
// work has the lanes or cores that a starving job needs, p is blocked: it begins nothing else.
func (p *processor) serveStarving(now time.Duration) (b *Batch, blocked bool) {
	s := p.scheduler
	var best *Job
	var how decision
	for _, q := range s.nonEmpty {
		for _, class := range [2]Class{p.class, Either} {
			j := q.queues[class].first
			for n := 0; n < stealDepth && j != nil && j.starves(now) && (best == nil || j.arrived < best.arrived); n, j = n+1, j.next {
				if j.postponed || s.late(j, now) || !s.timely(j, p, now) {
					continue
				}
				d := p.offer(starving, j)
				free := p.free(d.mode == Sync)
				switch {
				case d.mode == Auto:
				case free && !d.wait:
					best, how = j, d
				default:
					blocked = blocked || d.wait || p.lanesTaken(d.mode == Sync)
				}
			}
		}
	}
	var call *stream
	for _, t := range s.streams {
		if t.starves(now) && p.freeBlock() && (call == nil || t.nextOrder < call.nextOrder) && t.ctx.Err() == nil && s.serves(p, t) {
			call = t
		}
	}
	if call != nil && (best == nil || call.nextOrder < best.arrived) {
		if b := call.cutBlock(p, now); b != nil {
			return b, false
		}
	}
	if best != nil {
		return p.cut(best, how, now), false
	}
	return nil, blocked
}

// lanesTaken tells whether p lacks a lane for a batch, or for a single job, because other kinds of work
// have more lanes than that kind.
func (p *processor) lanesTaken(batch bool) bool {
	if !batch {
		return !p.free(batch) && p.runningBatches > 0
	}
	batches := p.runningBatches
	for _, b := range p.running {
		if b.stream != nil {
			batches--
		}
	}
	return !p.free(batch) && batches < min(p.runningBatches, p.Lanes)
}
