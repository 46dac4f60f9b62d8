package schedule

import (
	"math"
	"time"
)

// free says whether p has a lane for a single job, or for a batch.
func (p *processor) free(batch bool) bool {
	if p.removal != nil {
		return false
	}
	if batch {
		return p.runningBatches < p.Lanes && len(p.running) < max(p.Lanes, p.Singles)
	}
	return len(p.running) < p.Singles
}

// freeBlock says whether p has a lane for a block of a stream.
func (p *processor) freeBlock() bool {
	return p.removal == nil && p.runningBatches < p.Blocks && len(p.running) < max(p.Blocks, p.Singles)
}

// waitAt is how long j should wait at p if it is next there.
func (s *Scheduler) waitAt(p *processor, j *Job, batch bool, now time.Duration) time.Duration {
	if p.free(batch) && s.coresFor(p, j) > 0 {
		return 0
	}
	return p.nextLane(now)
}

// nextLane is the time until the first of p's batches should end. A batch that takes longer than
// was expected is expected to take as much longer again.
func (p *processor) nextLane(now time.Duration) time.Duration {
	least := maxEstimate
	for _, b := range p.running {
		end := b.started + b.expectedTime
		least = min(least, max(end-now, now-end))
	}
	return least
}

// runTime is the expected time of j at p beside the jobs that run there, on the cores that are left; if it
// must wait for cores, on as many as it can use.
func (s *Scheduler) runTime(p *processor, j *Job, batch bool) time.Duration {
	slower := 1.0
	if s.coresFor(p, j) > 0 {
		_, slower = s.allotment(p, j)
	}
	alone := time.Duration(float64(j.Trace.Estimates[p.index]) * slower)
	if batch {
		return p.capacity.batchTimeBeside(alone, min(p.runningBatches, p.Lanes-1))
	}
	return p.capacity.singleTime(alone, min(len(p.running), p.Singles-1))
}

// queueTime is how long the jobs that wait for p's class should take it.
func (s *Scheduler) queueTime(p *processor, batch bool) time.Duration {
	rate := 0.0
	for _, o := range s.processors {
		if o.removal == nil && o.class == p.class {
			if batch {
				rate += 1 / o.capacity.batchFactor
			} else {
				rate += s.singleRate(o)
			}
		}
	}
	return boundedTime(float64(s.queuedTime[p.class][p.index]+s.queuedTime[Either][p.index]/2) / rate)
}

// place returns the processor that finishes j first, if j can begin there at once, and
// nothing that waits for it would be overtaken.
func (s *Scheduler) place(j *Job, now time.Duration) *processor {
	var best *processor
	end := never
	for i, p := range s.processors {
		if !s.eligible(j, i) {
			continue
		}
		took := s.runTime(p, j, false)
		if wait := s.waitAt(p, j, false, now); wait > 0 {
			took += wait + s.queueTime(p, false)
		}
		if took < end {
			best, end = p, took
		}
	}
	if best.free(false) && s.coresFor(best, j) > 0 && s.queued[best.class]+s.queued[Either] == 0 && len(s.streams) == 0 {
		return best
	}
	return nil
}

// dispatch starts jobs on processors with free lanes.
func (s *Scheduler) dispatch(now time.Duration) {
	s.undispatched = false
	for more := true; more; {
		more = false
		for _, p := range s.processors { // in turns: there may be fewer jobs than lanes of one processor
			if b := s.pick(p, now); b != nil {
				s.begin(b, now)
				go b.run()
				more = true
			}
		}
	}
}

// pick returns the next batch of p, nil if p should wait: the job that must start now to
// meet its deadline; the next job by fairness, of p's class before either class; a block of
// a stream; at last jobs that p ends sooner than their own processors. In one of turns the oldest goes first.
func (s *Scheduler) pick(p *processor, now time.Duration) *Batch {
	if !p.free(false) && !p.free(true) && !p.freeBlock() {
		return nil
	}
	if p.sinceStarving >= starvationTurns && p.starvingDebt == 0 {
		virtual := s.virtualTime
		if b := s.starvingBatch(p, now); b != nil {
			s.virtualTime = virtual // its caller may be far ahead, and callers that come do not start there
			p.sinceStarving, p.starvingDebt = 0, starvationTurns*min(b.Estimate, maxEstimate)
			return b
		}
		if s.waitsForStarving(p, now) && !s.hangs(p, now) {
			return nil
		}
	}
	if j := s.urgentJob(p, now); j != nil {
		return s.cut(p, j, now)
	}
	var best *Job
	for _, l := range s.nonEmpty {
		if !s.closes(l, p, now) {
			continue
		}
		for _, class := range [2]Class{p.class, Either} {
			j := l.queues[class].head()
			for j != nil && s.late(j, now) {
				s.postpone(j)
				j = l.queues[class].head()
			}
			if j != nil && s.suits(j, p) && s.coresFor(p, j) > 0 && s.timely(j, p, now) && (best == nil || s.before(j, best, now)) {
				best = j
			}
		}
	}
	if b := s.block(p, best, now); b != nil {
		return b
	}
	if best != nil {
		return s.cut(p, best, now)
	}
	return s.steal(p, now)
}

// modeOf is how the jobs of l run now.
func (s *Scheduler) modeOf(l *kindQueue) Mode {
	if l.mode == Auto {
		return s.mode
	}
	return l.mode
}

// closes reports whether p has a lane for the jobs of l, and a batch of them closes: by the
// threshold, by the age of its oldest job, because no further job can come, or because p
// has too little work and no caller has asked for Sync.
func (s *Scheduler) closes(l *kindQueue, p *processor, now time.Duration) bool {
	if s.modeOf(l) == Async {
		return p.free(false)
	}
	if s.runsSingly(l, p) {
		return true
	}
	own, either := &l.queues[p.class], &l.queues[Either]
	if !p.free(true) || own.jobs+either.jobs == 0 {
		return false
	}
	if s.opt.Mode == Auto && l.mode == Auto && len(p.running) < p.minBatches() {
		return true
	}
	return own.load+either.load >= p.Threshold(l.kind) || own.jobs+either.jobs >= p.Most || s.refusal != nil ||
		s.aged(own, now) || s.aged(either, now)
}

// minBatches is the number of batches below which a further one need not be full or old: one on a host.
// On a device one batch is brought there while another runs, and so many run that spare are inside
// on average, or would be if lanes did not wait for each other.
func (p *processor) minBatches() int {
	if p.Host {
		return 1
	}
	return min(max(2, int(math.Ceil(insideTarget/p.insideRatio))), p.Lanes)
}

// insideTarget is the mean number of batches inside a device that its lanes are enough for.
const insideTarget = 1.7

// runsSingly tells whether the jobs of l run one by one on p under Sync too, without waiting for each
// other: a host has a lane for each of them, and no caller has asked for Sync.
func (s *Scheduler) runsSingly(l *kindQueue, p *processor) bool {
	n := l.queues[p.class].jobs + l.queues[Either].jobs
	return p.Host && s.opt.Mode == Auto && l.mode == Auto && p.free(false) && n > 0 && n <= p.Singles-len(p.running)
}

// aged says whether the oldest job is old enough to close a batch. Where it will be, the
// timer looks again.
func (s *Scheduler) aged(q *classQueue, now time.Duration) bool {
	if q.first == nil {
		return false
	}
	at := q.first.arrived + s.opt.MaxAge
	if at > now {
		s.arm(at)
	}
	return at <= now
}

// suits says whether p is about as good for j as any.
func (s *Scheduler) suits(j *Job, p *processor) bool {
	return s.eligible(j, p.index) && s.cost(j, p) <= j.similarCost
}

// timely tells whether p should end j by its deadline, or no other processor should
// either.
func (s *Scheduler) timely(j *Job, p *processor, now time.Duration) bool {
	if j.deadline == never || j.postponed || now+s.runTime(p, j, true) <= j.deadline {
		return true
	}
	for i, o := range s.processors {
		if o != p && s.eligible(j, i) && now+s.waitAt(o, j, true, now)+s.runTime(o, j, true) <= j.deadline {
			return false
		}
	}
	return true
}

// before reports whether a runs before b on a processor that suits both: first the job of
// the least served caller, then of the processor's own class, then small and old jobs. A
// job of either class that has waited for Patience times its own time counts as own.
func (s *Scheduler) before(a, b *Job, now time.Duration) bool {
	if a.caller.virtualStart != b.caller.virtualStart {
		return a.caller.virtualStart < b.caller.virtualStart
	}
	x, y := a.order(), b.order()
	if own := s.inOwnClass(a, now); own != s.inOwnClass(b, now) {
		return own
	}
	return x < y || x == y && a.seq < b.seq
}

func (s *Scheduler) inOwnClass(j *Job, now time.Duration) bool {
	return j.Trace.Class != Either || j.order() < now
}

func (j *Job) order() time.Duration { return j.callerQueue.jobs.at(j.positions[byOrder]).key }

// urgentJob returns the job that must start now to meet its deadline, if p suits it, or
// would end it before its own processors begin.
func (s *Scheduler) urgentJob(p *processor, now time.Duration) *Job {
	var best *Job
	for class := range s.urgentJobs {
		for h := &s.urgentJobs[class]; h.len() > 0 && h.top().key <= now; {
			j := h.top().item
			if s.late(j, now) {
				h.remove(j.positions[byUrgency]) // it waits for its turn
				continue
			}
			if p.free(s.modeOf(j.kindQueue) == Sync) && (best == nil || j.latestStart < best.latestStart) &&
				(s.suits(j, p) || s.eligible(j, p.index) && s.coresFor(p, j) > 0 && s.runTime(p, j, s.modeOf(j.kindQueue) == Sync) < s.endElsewhere(j, p, false, now)) {
				best = j
			}
			break
		}
	}
	return best
}

// late says whether j could have met its deadline when it arrived, and cannot any more.
func (s *Scheduler) late(j *Job, now time.Duration) bool {
	last := j.deadline - j.bestTime - s.opt.Slack
	return !j.postponed && now > last && j.arrived <= last
}

// postpone moves j behind the jobs of its caller that can still meet their deadlines.
func (s *Scheduler) postpone(j *Job) {
	j.postponed = true
	j.callerQueue.jobs.rekey(j.positions[byOrder], j.order()+postponedKey)
	if i := j.positions[byUrgency]; i != absent {
		s.urgentJobs[j.Trace.Class].remove(i)
	}
}

// endElsewhere is the time until j should end on a processor other than p: as its next job,
// or after the jobs that wait there.
func (s *Scheduler) endElsewhere(j *Job, p *processor, last bool, now time.Duration) time.Duration {
	batch := s.modeOf(j.kindQueue) == Sync
	end := never
	for i, o := range s.processors {
		if o == p || !s.eligible(j, i) {
			continue
		}
		took := s.runTime(o, j, batch)
		if last {
			took = max(took, s.queueTime(o, batch)) // j is in the queue itself
		}
		end = min(end, s.waitAt(o, j, batch, now)+took)
	}
	return end
}

// steal returns jobs of the other class, or of a faster processor, that end sooner on p
// than there: of the youngest jobs, which wait longest, the one that loses least. If none
// ends sooner yet, but one may if its processors are late, the timer looks again.
func (s *Scheduler) steal(p *processor, now time.Duration) *Batch {
	if len(s.processors) == 1 {
		return nil
	}
	var best *Job
	ratio := 0.0
	for _, l := range s.nonEmpty {
		batch := s.modeOf(l) == Sync
		if !p.free(batch) {
			continue
		}
		for class := range l.queues {
			q := &l.queues[class]
			if batch && q.load < p.Threshold(l.kind) && q.jobs < p.Most && !s.aged(q, now) {
				continue
			}
			j := q.last
			if j != nil && s.eligible(j, p.index) && !s.worthwhile(p, j, now) {
				continue
			}
			for range stealDepth {
				if j == nil {
					break
				}
				if s.eligible(j, p.index) && s.coresFor(p, j) > 0 {
					here, there := s.runTime(p, j, batch), s.endElsewhere(j, p, true, now)
					r := float64(here) / float64(j.bestTime)
					if here >= there {
						s.arm(now + here - there + time.Microsecond)
					} else if now+here <= j.deadline && (now+stealMargin*here <= j.deadline || now+there > j.deadline) && (best == nil || r < ratio) {
						best, ratio = j, r
					}
				}
				j = j.prev
			}
		}
	}
	if best == nil {
		return nil
	}
	p.triedAt = now
	s.stats.Stolen++
	return s.cut(p, best, now)
}

// stealDepth is the number of jobs of a queue that steal looks at. A job that should meet
// its deadline elsewhere is not taken where it would miss it by taking sure times its
// expected time.
const stealDepth, stealMargin = 16, 3
