package schedule

import (
	"math"
	"time"
)

// free says whether p has a lane for a single job, or for a batch.
func (p *processor) free(batch bool) bool {
	if p.out != nil {
		return false
	}
	if batch {
		return p.several < p.Lanes && len(p.running) < max(p.Lanes, p.Singles)
	}
	return len(p.running) < p.Singles
}

// freeBlock says whether p has a lane for a block of a stream.
func (p *processor) freeBlock() bool {
	return p.out == nil && p.several < p.Blocks && len(p.running) < max(p.Blocks, p.Singles)
}

// wait is how long j should wait at p if it is next there.
func (s *Scheduler) wait(p *processor, j *Job, batch bool, now time.Duration) time.Duration {
	if p.free(batch) && s.width(p, j) > 0 {
		return 0
	}
	return p.next(now)
}

// next is the time until the first of p's batches should end. A batch that takes longer than
// was expected is expected to take as much longer again.
func (p *processor) next(now time.Duration) time.Duration {
	least := longest
	for _, b := range p.running {
		end := b.started + b.expected
		least = min(least, max(end-now, now-end))
	}
	return least
}

// takes is the expected time of j at p beside the jobs that run there, on the cores that are left; if it
// must wait for cores, on as many as it can use.
func (s *Scheduler) takes(p *processor, j *Job, batch bool) time.Duration {
	slower := 1.0
	if s.width(p, j) > 0 {
		_, slower = s.narrow(p, j)
	}
	alone := time.Duration(float64(j.Trace.Estimates[p.index]) * slower)
	if batch {
		return p.capacity.takesBatch(alone, min(p.several, p.Lanes-1))
	}
	return p.capacity.takes(alone, min(len(p.running), p.Singles-1))
}

// queue is how long the jobs that wait for p's class should take it.
func (s *Scheduler) queue(p *processor, batch bool) time.Duration {
	rate := 0.0
	for _, o := range s.processors {
		if o.out == nil && o.class == p.class {
			if batch {
				rate += 1 / o.capacity.several
			} else {
				rate += s.rate(o)
			}
		}
	}
	return believed(float64(s.work[p.class][p.index]+s.work[Either][p.index]/2) / rate)
}

// place returns the processor that finishes j first, if j can begin there at once, and
// nothing that waits for it would be overtaken.
func (s *Scheduler) place(j *Job, now time.Duration) *processor {
	var best *processor
	end := never
	for i, p := range s.processors {
		if !s.can(j, i) {
			continue
		}
		took := s.takes(p, j, false)
		if wait := s.wait(p, j, false, now); wait > 0 {
			took += wait + s.queue(p, false)
		}
		if took < end {
			best, end = p, took
		}
	}
	if best.free(false) && s.width(best, j) > 0 && s.queued[best.class]+s.queued[Either] == 0 && len(s.streams) == 0 {
		return best
	}
	return nil
}

// dispatch starts jobs on processors with free lanes.
func (s *Scheduler) dispatch(now time.Duration) {
	s.unseen = false
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
	if p.passed >= turns && p.owed == 0 {
		virtual := s.virtual
		if b := s.oldest(p, now); b != nil {
			s.virtual = virtual // its caller may be far ahead, and callers that come do not start there
			p.passed, p.owed = 0, turns*min(b.Estimate, longest)
			return b
		}
		if s.crowded(p, now) && !s.hangs(p, now) {
			return nil
		}
	}
	if j := s.pressing(p, now); j != nil {
		return s.cut(p, j, now)
	}
	var best *Job
	for _, l := range s.waiting {
		if !s.ready(l, p, now) {
			continue
		}
		for _, class := range [2]Class{p.class, Either} {
			j := l.queues[class].head()
			for j != nil && s.doomed(j, now) {
				s.putBehind(j)
				j = l.queues[class].head()
			}
			if j != nil && s.suits(j, p) && s.width(p, j) > 0 && s.timely(j, p, now) && (best == nil || s.before(j, best, now)) {
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
func (s *Scheduler) modeOf(l *line) Mode {
	if l.mode == Auto {
		return s.mode
	}
	return l.mode
}

// ready reports whether p has a lane for the jobs of l, and a batch of them closes: by the
// threshold, by the age of its oldest job, because no further job can come, or because p
// has too little work and no caller has asked for Sync.
func (s *Scheduler) ready(l *line, p *processor, now time.Duration) bool {
	if s.modeOf(l) == Async {
		return p.free(false)
	}
	if s.single(l, p) {
		return true
	}
	own, either := &l.queues[p.class], &l.queues[Either]
	if !p.free(true) || own.n+either.n == 0 {
		return false
	}
	if s.opt.Mode == Auto && l.mode == Auto && len(p.running) < p.eager() {
		return true
	}
	return own.load+either.load >= p.Threshold(l.kind) || own.n+either.n >= p.Most || s.refusing != nil ||
		s.aged(own, now) || s.aged(either, now)
}

// eager is the number of batches below which a further one need not be full or old: one on a host.
// On a device one batch is brought there while another runs, and so many run that spare are inside
// on average, or would be if lanes did not wait for each other.
func (p *processor) eager() int {
	if p.Host {
		return 1
	}
	return min(max(2, int(math.Ceil(spare/p.inside))), p.Lanes)
}

// spare is the mean number of batches inside a device that its lanes are enough for.
const spare = 1.7

// single tells whether the jobs of l run one by one on p under Sync too, without waiting for each
// other: a host has a lane for each of them, and no caller has asked for Sync.
func (s *Scheduler) single(l *line, p *processor) bool {
	n := l.queues[p.class].n + l.queues[Either].n
	return p.Host && s.opt.Mode == Auto && l.mode == Auto && p.free(false) && n > 0 && n <= p.Singles-len(p.running)
}

// aged says whether the oldest job is old enough to close a batch. Where it will be, the
// timer looks again.
func (s *Scheduler) aged(q *queue, now time.Duration) bool {
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
	return s.can(j, p.index) && s.price(j, p) <= j.similar
}

// timely tells whether p should end j by its deadline, or no other processor should
// either.
func (s *Scheduler) timely(j *Job, p *processor, now time.Duration) bool {
	if j.deadline == never || j.late || now+s.takes(p, j, true) <= j.deadline {
		return true
	}
	for i, o := range s.processors {
		if o != p && s.can(j, i) && now+s.wait(o, j, true, now)+s.takes(o, j, true) <= j.deadline {
			return false
		}
	}
	return true
}

// before reports whether a runs before b on a processor that suits both: first the job of
// the least served caller, then of the processor's own class, then small and old jobs. A
// job of either class that has waited for Patience times its own time counts as own.
func (s *Scheduler) before(a, b *Job, now time.Duration) bool {
	if a.caller.tag != b.caller.tag {
		return a.caller.tag < b.caller.tag
	}
	x, y := a.order(), b.order()
	if own := s.own(a, now); own != s.own(b, now) {
		return own
	}
	return x < y || x == y && a.seq < b.seq
}

func (s *Scheduler) own(j *Job, now time.Duration) bool {
	return j.Trace.Class != Either || j.order() < now
}

func (j *Job) order() time.Duration { return j.flow.jobs.at(j.at[byOrder]).key }

// pressing returns the job that must start now to meet its deadline, if p suits it, or
// would end it before its own processors begin.
func (s *Scheduler) pressing(p *processor, now time.Duration) *Job {
	var best *Job
	for class := range s.urgent {
		for h := &s.urgent[class]; h.len() > 0 && h.top().key <= now; {
			j := h.top().item
			if s.doomed(j, now) {
				h.remove(j.at[byUrgency]) // it waits for its turn
				continue
			}
			if p.free(s.modeOf(j.line) == Sync) && (best == nil || j.latest < best.latest) &&
				(s.suits(j, p) || s.can(j, p.index) && s.width(p, j) > 0 && s.takes(p, j, s.modeOf(j.line) == Sync) < s.elsewhere(j, p, false, now)) {
				best = j
			}
			break
		}
	}
	return best
}

// doomed says whether j could have met its deadline when it arrived, and cannot any more.
func (s *Scheduler) doomed(j *Job, now time.Duration) bool {
	last := j.deadline - j.best - s.opt.Slack
	return !j.late && now > last && j.arrived <= last
}

// putBehind moves j behind the jobs of its caller that can still meet their deadlines.
func (s *Scheduler) putBehind(j *Job) {
	j.late = true
	j.flow.jobs.rekey(j.at[byOrder], j.order()+behind)
	if i := j.at[byUrgency]; i != absent {
		s.urgent[j.Trace.Class].remove(i)
	}
}

// elsewhere is the time until j should end on a processor other than p: as its next job,
// or after the jobs that wait there.
func (s *Scheduler) elsewhere(j *Job, p *processor, last bool, now time.Duration) time.Duration {
	batch := s.modeOf(j.line) == Sync
	end := never
	for i, o := range s.processors {
		if o == p || !s.can(j, i) {
			continue
		}
		took := s.takes(o, j, batch)
		if last {
			took = max(took, s.queue(o, batch)) // j is in the queue itself
		}
		end = min(end, s.wait(o, j, batch, now)+took)
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
	for _, l := range s.waiting {
		batch := s.modeOf(l) == Sync
		if !p.free(batch) {
			continue
		}
		for class := range l.queues {
			q := &l.queues[class]
			if batch && q.load < p.Threshold(l.kind) && q.n < p.Most && !s.aged(q, now) {
				continue
			}
			j := q.last
			if j != nil && s.can(j, p.index) && !s.worth(p, j, now) {
				continue
			}
			for range stealLook {
				if j == nil {
					break
				}
				if s.can(j, p.index) && s.width(p, j) > 0 {
					here, there := s.takes(p, j, batch), s.elsewhere(j, p, true, now)
					r := float64(here) / float64(j.best)
					if here >= there {
						s.arm(now + here - there + time.Microsecond)
					} else if now+here <= j.deadline && (now+sure*here <= j.deadline || now+there > j.deadline) && (best == nil || r < ratio) {
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
	p.tried = now
	s.stats.Stolen++
	return s.cut(p, best, now)
}

// stealLook is the number of jobs of a queue that steal looks at. A job that should meet
// its deadline elsewhere is not taken where it would miss it by taking sure times its
// expected time.
const stealLook, sure = 16, 3
