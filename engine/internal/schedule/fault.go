package schedule

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"heddle/engine/file/mapped"
	"heddle/engine/plan"
)

var errPanic = errors.New("panic")

// errUnanswered is for jobs that Run neither claimed nor failed.
func errUnanswered(p *processor) error { return fmt.Errorf("%s: left without an answer", p.Name) }

// handleFailure decides what becomes of the unanswered jobs of b, which has returned with err.
func (b *Batch) handleFailure(jobs []*Job, err error, now time.Duration) {
	s, p := b.scheduler, b.processor
	switch {
	case err == nil:
		err = errUnanswered(p)
	case errors.Is(err, plan.ErrDeviceLost) || errors.Is(err, plan.ErrBuild) || errors.Is(err, plan.ErrSelfTest):
		p.takeOut(err, now)
		s.retry(err, now, jobs...)
		return
	case errors.Is(err, plan.ErrTooLarge) && len(b.Jobs) == 1: // of several jobs, each runs alone first
		for _, j := range jobs {
			j.barredOn |= 1 << p.index
		}
		s.retry(err, now, jobs...)
		return
	case errors.Is(err, plan.ErrOutOfMemory) && !errors.Is(err, plan.ErrTooLarge):
		b.outOfMemory(jobs, err, now)
		return
	}
	for _, j := range jobs {
		j.Trace.Ran = now - b.started
		switch {
		case b.inline && b.ctx.Context.Err() != nil:
			s.fail(j, b.ctx.Context.Err())
		case err == errPanic:
			s.fail(j, err)
		case len(b.Jobs) > 1:
			j.runsAlone = true
			s.retry(err, now, j)
		default:
			p.retryElsewhere(j, err, now)
		}
	}
}

// retryElsewhere runs j on another processor after it has failed alone on p, to find out whether the
// job or the processor is at fault. Without another processor the error is the job's own.
func (p *processor) retryElsewhere(j *Job, err error, now time.Duration) {
	s := p.scheduler
	j.barredOn |= 1 << p.index
	if !mapped.IsFault(err) { // else the file is at fault
		j.failures = append(j.failures, failure{p, p.successes})
	}
	if !s.replace(j) {
		s.fail(j, err)
		return
	}
	j.runsAlone = true
	s.retry(err, now, j)
}

// blame counts the failures of j, which has been answered, against the processors where it failed. It
// removes a processor after maxSuspectFailures in a row.
func (s *Scheduler) blame(j *Job, now time.Duration) {
	for _, f := range j.failures {
		p := f.p
		switch { // the answer may come long after the failure
		case f.successes < p.suspectSuccesses:
			continue
		case f.successes > p.suspectSuccesses:
			p.suspectSuccesses, p.suspectFailures = f.successes, 0
		}
		if p.suspectFailures++; p.suspectFailures >= maxSuspectFailures {
			p.takeOut(j.lastError, now)
		}
	}
}

// failure is the failure of a job whose error may have been its own.
type failure struct {
	p         *processor
	successes uint64 // successes of p before the failure
}

// maxSuspectFailures is the number of jobs in a row that a processor may fail although other
// processors answer them.
const maxSuspectFailures = 3

// maxMemoryFailures is the number of batches in a row that may run out of memory.
const maxMemoryFailures = 3

// outOfMemory runs jobs on another processor, or one by one without another one. It removes a processor
// after maxMemoryFailures in a row, unless it is the last one.
func (b *Batch) outOfMemory(jobs []*Job, err error, now time.Duration) {
	s, p := b.scheduler, b.processor
	if p.memoryFailures++; p.memoryFailures >= maxMemoryFailures && s.singleLanes(Either) > p.Singles {
		p.takeOut(err, now)
	}
	for _, j := range jobs {
		j.barredOn |= 1 << p.index
		if !s.replace(j) && len(b.Jobs) > 1 {
			j.barredOn &^= 1 << p.index
			j.runsAlone = true
		}
	}
	s.retry(err, now, jobs...)
}

// retry queues jobs once more, whose last attempt failed with err.
func (s *Scheduler) retry(err error, now time.Duration, jobs ...*Job) {
	for _, j := range jobs {
		j.lastError = err
		if s.requeue(j, now) {
			s.stats.Retried++
		}
	}
}

// requeue makes j wait for another attempt; false: j has failed, because none is possible.
func (s *Scheduler) requeue(j *Job, now time.Duration) bool {
	switch {
	case j.stream != nil && j.stream.err != nil:
		s.complete(j, j.stream.err)
	case s.closed:
		s.fail(j, errClosed)
	case !s.replace(j):
		s.fail(j, s.noProcessor(j.lastError))
	default:
		s.enqueue(j, now)
		return true
	}
	return false
}

// Restore lets processor p, which was removed, run jobs again. It has no effect on a
// processor that works.
func (s *Scheduler) Restore(p int) {
	now := s.lock()
	defer s.unlock()
	r := s.processors[p]
	r.probeDelay = s.opt.Probe
	r.restore(now)
}

func (p *processor) restore(now time.Duration) {
	s := p.scheduler
	if p.removal == nil {
		return
	}
	p.successes++ // so that failures before it do not count after it
	p.memoryFailures, p.suspectFailures, p.suspectSuccesses, p.restoredAt = 0, 0, p.successes, now
	p.setRemoval(nil, now)
	s.dispatch(now)
}

// event adds time and load to v and sends it to Options.Event.
func (s *Scheduler) event(v Event, now time.Duration) {
	if s.opt.Event != nil {
		v.Time, v.Load = s.epoch.Add(now), s.load()
		s.opt.Event(v)
	}
}

func (p *processor) takeOut(err error, now time.Duration) {
	s := p.scheduler
	if p.removal != nil {
		return
	}
	if now-p.restoredAt > maxProbeFactor*s.opt.Probe { // it has worked for long
		p.probeDelay = s.opt.Probe
	}
	p.probeLater(now)
	p.setRemoval(err, now)
	for _, b := range p.running {
		b.abandon(err, now)
	}
	for _, t := range slices.Clone(s.streams) {
		if !slices.ContainsFunc(s.processors, t.takes) {
			t.drop(s.noProcessor(nil), now)
		}
	}
}

// setRemoval removes p because of err, or restores it if err is nil. All jobs that wait are queued again,
// because the processors that can run them have changed.
func (p *processor) setRemoval(err error, now time.Duration) {
	s := p.scheduler
	waiting := s.dequeueAll()
	p.removal = err
	p.removed.Store(err != nil)
	s.event(Event{Processor: p.Name, Err: err}, now)
	for _, j := range waiting {
		s.requeue(j, now)
	}
}

// failWaiting fails the jobs and calls that wait.
func (s *Scheduler) failWaiting(err error, now time.Duration) {
	for _, t := range slices.Clone(s.streams) {
		t.drop(err, now)
	}
	for _, j := range s.dequeueAll() {
		s.fail(j, err)
	}
}

// dequeueAll takes all jobs that wait from their queues. It returns them in the order of their coming, so
// that they keep it and queueing them again needs no search.
func (s *Scheduler) dequeueAll() (all []*Job) {
	for len(s.nonEmpty) > 0 {
		l := s.nonEmpty[len(s.nonEmpty)-1]
		for class := range l.queues {
			for q := &l.queues[class]; q.first != nil; {
				all = append(all, q.first)
				s.dequeue(q.first)
			}
		}
	}
	slices.SortFunc(all, func(a, b *Job) int { return cmp.Compare(a.seq, b.seq) })
	return all
}

// abandon runs the jobs of b elsewhere that are not being answered.
func (b *Batch) abandon(err error, now time.Duration) {
	b.scheduler.retry(err, now, b.detachAll(now)...)
}

// detachAll takes the jobs from b that are not being answered.
func (b *Batch) detachAll(now time.Duration) (jobs []*Job) {
	for _, j := range b.Jobs {
		if j.batch == b && b.scheduler.detach(j, now) {
			jobs = append(jobs, j)
		}
	}
	return jobs
}
