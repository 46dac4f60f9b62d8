package schedule

import "time"

// The order of service lets jobs pass others: urgent ones, small ones, those of callers that have been
// served less, those for which lanes or cores are free. A job that has waited for starvationLimit starves, and so does
// a call without a further block for starvationLimit and Patience times its last one. Then the processors that it
// suits serve it, although the order is another one.

func (j *Job) starves(now time.Duration) bool    { return now-j.arrived >= starvationLimit }
func (t *stream) starves(now time.Duration) bool { return now-t.nextOrder >= starvationLimit }

// starvationTurns is the number of batches of a processor of which one is for the oldest job or call that starves,
// whatever is urgent. It takes one of turns of their time, too: a caller with many large jobs, which always
// starve, gets no more than its share by it.
const starvationTurns = 8

// starvingBatch returns a batch of the oldest job or call that starves, nil if p has no part in them.
func (s *Scheduler) starvingBatch(p *processor, now time.Duration) *Batch {
	var best *Job
	for _, l := range s.nonEmpty {
		for _, class := range [2]Class{p.class, Either} {
			if j := s.starvingJob(&l.queues[class], p, now); j != nil && s.coresFor(p, j) > 0 && (best == nil || j.arrived < best.arrived) && s.closes(l, p, now) {
				best = j
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
		if b := s.cutBlock(call, p, now); b != nil {
			return b
		}
	}
	if best != nil {
		return s.cut(p, best, now)
	}
	return nil
}

// starvingJob returns a job of q that starves and that p may take when lanes and cores are free: one of the
// oldest, but none that misses its deadline anyway.
func (s *Scheduler) starvingJob(q *classQueue, p *processor, now time.Duration) *Job {
	j := q.first
	for n := 0; n < stealDepth && j != nil && j.starves(now); n++ {
		if s.suits(j, p) && s.timely(j, p, now) && !j.postponed && !s.late(j, now) {
			return j
		}
		j = j.next
	}
	return nil
}

// waitsForStarving tells whether a job starves because other work has the cores of p, or because blocks or jobs of
// another mode have its lanes, of which they may have more. Then p begins nothing until some are free,
// unless one of its batches hangs.
func (s *Scheduler) waitsForStarving(p *processor, now time.Duration) bool {
	for _, l := range s.nonEmpty {
		for _, class := range [2]Class{p.class, Either} {
			if j := s.starvingJob(&l.queues[class], p, now); j != nil && (s.coresFor(p, j) <= 0 || p.lanesTaken(s.modeOf(l) == Sync)) {
				return true
			}
		}
	}
	return false
}

// lanesTaken tells whether p lacks a lane for a batch, or for a single job, because of other kinds of work.
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

// starvationLimit is the time after which a waiting job or call starves.
const starvationLimit = 2 * time.Second
