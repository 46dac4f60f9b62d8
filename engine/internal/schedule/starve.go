package schedule

import "time"

// The order of service lets jobs pass others: urgent ones, small ones, those of callers that have been
// served less, those for which lanes or cores are free. A job that has waited for trial starves, and so does
// a call without a further block for trial and Patience times its last one. Then the processors that it
// suits serve it, although the order is another one.

func (j *Job) starves(now time.Duration) bool    { return now-j.arrived >= trial }
func (t *stream) starves(now time.Duration) bool { return now-t.order >= trial }

// turns is the number of batches of a processor of which one is for the oldest job or call that starves,
// whatever is urgent. It takes one of turns of their time, too: a caller with many large jobs, which always
// starve, gets no more than its share by it.
const turns = 8

// oldest returns a batch of the oldest job or call that starves, nil if p has no part in them.
func (s *Scheduler) oldest(p *processor, now time.Duration) *Batch {
	var best *Job
	for _, l := range s.waiting {
		for _, class := range [2]Class{p.class, Either} {
			if j := s.starves(&l.queues[class], p, now); j != nil && s.width(p, j) > 0 && (best == nil || j.arrived < best.arrived) && s.ready(l, p, now) {
				best = j
			}
		}
	}
	var call *stream
	for _, t := range s.streams {
		if t.starves(now) && p.freeBlock() && (call == nil || t.order < call.order) && t.ctx.Err() == nil && s.serves(p, t) {
			call = t
		}
	}
	if call != nil && (best == nil || call.order < best.arrived) {
		if b := s.cutBlock(call, p, now); b != nil {
			return b
		}
	}
	if best != nil {
		return s.cut(p, best, now)
	}
	return nil
}

// starves returns a job of q that starves and that p may take when lanes and cores are free: one of the
// oldest, but none that misses its deadline anyway.
func (s *Scheduler) starves(q *queue, p *processor, now time.Duration) *Job {
	j := q.first
	for n := 0; n < stealLook && j != nil && j.starves(now); n++ {
		if s.suits(j, p) && s.timely(j, p, now) && !j.late && !s.doomed(j, now) {
			return j
		}
		j = j.next
	}
	return nil
}

// crowded tells whether a job starves because other work has the cores of p, or because blocks or jobs of
// another mode have its lanes, of which they may have more. Then p begins nothing until some are free,
// unless one of its batches hangs.
func (s *Scheduler) crowded(p *processor, now time.Duration) bool {
	for _, l := range s.waiting {
		for _, class := range [2]Class{p.class, Either} {
			if j := s.starves(&l.queues[class], p, now); j != nil && (s.width(p, j) <= 0 || p.crowded(s.modeOf(l) == Sync)) {
				return true
			}
		}
	}
	return false
}

// crowded tells whether p lacks a lane for a batch, or for a single job, because of other kinds of work.
func (p *processor) crowded(batch bool) bool {
	if !batch {
		return !p.free(batch) && p.several > 0
	}
	batches := p.several
	for _, b := range p.running {
		if b.stream != nil {
			batches--
		}
	}
	return !p.free(batch) && batches < min(p.several, p.Lanes)
}
