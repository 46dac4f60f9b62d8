package schedule

import (
	"context"
	"fmt"
	"slices"
	"time"
)

const (
	// ticksPerHang is the number of times that tick looks at running batches while Options.Hang
	// passes.
	ticksPerHang = 10
	// lateTick is the fraction of Options.Hang by which a tick may be late. A later one shows
	// that the machine, not a batch, had no time.
	lateTick = 1.0 / 200
	// hangPatience is the multiple of its allowance after which a batch is given up in any case.
	hangPatience = 10
	// leastWork is the part of a core that the process uses while a driver works. One that waits
	// for a device that hangs uses none.
	leastWork = 1.0 / 20
	// maxProbeFactor is the longest delay between two probes, in units of Options.Probe.
	maxProbeFactor = 256
)

// allowance is the time that b may take before it counts as hung.
func (v *view) allowance(b *Batch) time.Duration {
	return max(v.opt.Hang, 50*min(b.Estimate, maxEstimate))
}

// giveUpHung gives up batches that are past their limit, and removes their processors. It returns
// the next limit. Time that the machine has lost does not count. A batch without another
// processor that can run its jobs gets one more limit, and further ones while the process
// works, until hangPatience has run out. A batch whose answers are being written cannot hang any
// more. The last processor is never removed.
func (s *Scheduler) giveUpHung(now, lost time.Duration) time.Duration {
	next := never
	for _, p := range s.processors {
		for i := 0; i < len(p.running); i++ {
			b := p.running[i]
			end := b.started + hangPatience*s.allowance(b)
			b.limit = max(b.limit, min(b.limit+min(lost, now-b.started), end))
			if lost > 2*s.opt.Hang/ticksPerHang { // the process was stopped
				b.limit = max(b.limit, now+s.opt.Hang)
			}
			switch {
			case now < b.limit:
			case b.beingAnswered():
				b.limit = now + s.opt.Hang
			case now < end && !s.closed && s.irreplaceable(b) && b.works(now):
				b.limit = min(now+s.opt.Hang, end)
			case !s.closed && s.lastWorking(p):
				b.giveUp(now)
				b.limit = now + s.opt.Hang
			default:
				err := b.hangError(now)
				p.takeOut(err, now)
				b.abandon(err, now)
				if b.beingAnswered() { // it has just come back; the scheduler waits for its answers
					b.limit = now + s.opt.Hang
					break
				}
				b.abandoned = true
				p.abandonedRuns++
				s.activeBatches--
				b.leave(now)
				i--
				continue
			}
			next = min(next, b.limit)
		}
	}
	return next
}

// works tells whether the process has worked since the last call; the first one is true.
func (b *Batch) works(now time.Duration) bool {
	s := b.scheduler
	if s.opt.CPU == nil {
		return true
	}
	last := b.watched
	b.watched = usage{now, s.opt.CPU()}
	return last.at == 0 || float64(b.watched.cpu-last.cpu) > leastWork*float64(now-last.at)
}

func (b *Batch) hangError(now time.Duration) error {
	return fmt.Errorf("%s: %w for %v", b.processor.Name, ErrHung, now-b.started)
}

// irreplaceable tells whether no other working processor can run the jobs of b.
func (v *view) irreplaceable(b *Batch) bool {
	for i, o := range v.processors {
		if o != b.processor && o.removal == nil && !slices.ContainsFunc(b.Jobs, func(j *Job) bool { return j.batch == b && !v.capable(j, i) }) {
			return false
		}
	}
	return true
}

// lastWorking tells whether no processor works besides p.
func (v *view) lastWorking(p *processor) bool {
	return !slices.ContainsFunc(v.processors, func(o *processor) bool { return o != p && o.removal == nil })
}

// giveUp fails the jobs of b, which runs on the last processor and keeps its lane. If all
// lanes of the processor are lost like this, it fails the waiting jobs too.
func (b *Batch) giveUp(now time.Duration) {
	s := b.scheduler
	err := b.hangError(now)
	b.givenUp = true
	for _, j := range b.detachAll(now) {
		s.fail(j, err)
	}
	p := b.processor
	if p.free(false) || p.free(true) || p.freeBlock() || slices.ContainsFunc(p.running, func(o *Batch) bool {
		return !o.givenUp && now < o.started+hangPatience*s.allowance(o)
	}) {
		return
	}
	s.failWaiting(err, now)
}

// hangs tells whether a batch or a probe of p has not returned in time.
func (v *view) hangs(p *processor, now time.Duration) bool {
	return p.abandonedRuns > 0 || slices.ContainsFunc(p.running, func(b *Batch) bool { return now-b.started >= v.allowance(b) })
}

// probeLater plans the next probe of p, which has been removed.
func (p *processor) probeLater(now time.Duration) {
	s := p.scheduler
	p.probeAt = never
	if p.Probe == nil || s.closed {
		return
	}
	p.probeAt = now + p.probeDelay
	s.arm(p.probeAt)
}

// runProbes probes removed processors whose batches have all returned, and restores a processor
// whose probe succeeds. It returns the time of the next probe.
func (s *Scheduler) runProbes(now time.Duration) time.Duration {
	next := never
	for _, p := range s.processors {
		if p.removal == nil || p.probeAt == never || s.closed {
			continue
		}
		if p.probeAt <= now {
			if p.abandonedRuns == 0 && len(p.running) == 0 {
				p.beginProbe(now)
				continue
			}
			p.probeAt = now + p.probeDelay
		}
		next = min(next, p.probeAt)
	}
	return next
}

// beginProbe runs a probe of p as a batch without jobs, which may hang as well.
func (p *processor) beginProbe(now time.Duration) {
	s := p.scheduler
	p.probeAt = never
	p.probeDelay = min(2*p.probeDelay, maxProbeFactor*s.opt.Probe)
	b := p.newBatch(Async)
	b.begin(now)
	go func() {
		err := p.Probe(context.Background())
		now := s.lock()
		defer s.unlock()
		if b.abandoned {
			p.abandonedRuns--
		} else {
			s.activeBatches--
			b.leave(now)
		}
		switch {
		case p.removal == nil || s.closed: // restored meanwhile, or the scheduler ends
		case err != nil:
			p.probeLater(now)
		default:
			p.restore(now)
		}
	}()
}

// clock is the time of a scheduler, and the timer of its ticks.
type clock struct {
	epoch    time.Time     // the origin of all times
	hang     time.Duration // Options.Hang
	timer    *time.Timer
	timerAt  time.Duration // next tick; never if the timer is off
	tickedAt time.Duration // last tick, or start of the timer after a pause
}

// arm sees to a tick at t, and to ticksPerHang ticks per Options.Hang until then.
func (c *clock) arm(t time.Duration) {
	if t < c.timerAt {
		now := c.now()
		if c.timerAt == never {
			c.tickedAt = now
		}
		c.timerAt = min(t, now+c.hang/ticksPerHang)
		c.timer.Reset(max(c.timerAt-now, 0))
	}
}

// tick handles the passing of time: jobs expire, batches hang, and batches close by age.
func (s *Scheduler) tick() {
	now := s.lock()
	defer s.unlock()
	lost := s.lostTime(now)
	s.timerAt = never
	again := min(s.giveUpHung(now, lost), s.runProbes(now))
	for s.deadlines.len() > 0 {
		e := s.deadlines.top()
		if e.key > now {
			again = min(again, e.key)
			break
		}
		j := e.item
		s.deadlines.remove(j.positions[byDeadline])
		running := j.batch != nil
		if s.detach(j, now) { // else its answer is being written
			s.fail(j, &DeadlineError{Waited: now - j.arrived, Running: running})
		}
	}
	again = min(again, s.expireStreams(now))
	s.dispatch(now)
	for class := range s.urgentJobs {
		if h := &s.urgentJobs[class]; h.len() > 0 && h.top().key > now {
			again = min(again, h.top().key)
		}
	}
	if again != never {
		s.arm(again)
	}
}

func (c *clock) now() time.Duration { return time.Since(c.epoch) }

// lostTime returns the time since the last call if the tick that calls it is late: the process
// was stopped, or the machine has other work. It returns 0 otherwise.
func (c *clock) lostTime(now time.Duration) (lost time.Duration) {
	if c.timerAt != never && now-c.timerAt > time.Duration(lateTick*float64(c.hang)) {
		lost = now - c.tickedAt
	}
	c.tickedAt = now
	return lost
}
