package schedule

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"
)

// newBatch returns an empty batch for p.
func (s *Scheduler) newBatch(p *processor, mode Mode) *Batch {
	b := s.batches.Get().(*Batch)
	b.p, b.Mode, b.Jobs, b.woken = p, mode, b.Jobs[:0], b.woken[:0]
	b.Estimate, b.Added, b.Threads, b.Inside, b.longest, b.threads, b.cpu = 0, 0, 0, 0, 0, 0, 0
	b.Narrow, b.inline, b.gone, b.delivering = false, false, false, false
	return b
}

// take moves j into b.
func (s *Scheduler) take(b *Batch, j *Job) {
	if j.line != nil {
		s.dequeue(j)
	}
	cost := j.Trace.Estimates[b.p.index]
	if b.Mode == Sync && j.stream == nil {
		cost = j.added[b.p.index]
	}
	s.charge(j.caller, cost)
	threads, slower := b.p.threadsOf(j), 1.0
	if len(b.Jobs) == 0 && j.stream == nil {
		threads, slower = s.narrow(b.p, j)
	}
	longest := time.Duration(float64(j.Trace.Estimates[b.p.index]) * slower)
	if slower > 1 {
		b.Threads, b.Narrow = threads, true
		if b.Mode == Async {
			cost = longest
		}
	}
	b.Estimate += cost
	b.Added += j.added[b.p.index]
	b.longest = max(b.longest, longest)
	b.threads = min(b.threads+threads, b.p.Threads)
	b.cpu += time.Duration(b.p.cpu(j))
	b.Jobs = append(b.Jobs, j)
}

// cut takes a batch for p out of the line of first: first alone under Async, else as many
// jobs as the threshold allows, in the order of fairness, as long as none misses its
// deadline by it. If p steals, it takes the youngest jobs that end sooner here than elsewhere.
func (s *Scheduler) cut(p *processor, first *Job, now time.Duration) *Batch {
	l, stolen := first.line, !s.suits(first, p)
	q := &l.queues[first.Trace.Class]
	mode := s.modeOf(l)
	if !stolen && s.single(l, p) {
		mode = Async
	}
	b := s.newBatch(p, mode)
	s.take(b, first)
	if b.Mode == Async {
		return b
	}
	if p.Start != nil {
		b.Estimate += min(max(p.Start(l.kind), 0), longest)
	}
	load, end, threshold := first.Load, first.deadline, p.Threshold(l.kind)
	if now+b.Estimate > end {
		end = never // too late for it
	}
	width := max(s.cores.free(), 1)
	for load < threshold && len(b.Jobs) < p.Most && (b.threads < width || width >= p.Threads) {
		var j *Job
		if stolen {
			j = q.last
		} else {
			j = s.next(l, p, now)
		}
		if j == nil {
			break
		}
		took := b.Estimate + j.cost(p.index)
		switch {
		case stolen && (!s.can(j, p.index) || p.capacity.takesBatch(b.least(took), p.several) > s.elsewhere(j, p, true, now)):
			return b
		case s.doomed(j, now):
			s.putBehind(j)
			continue
		}
		if !j.late {
			end = min(end, j.deadline)
		}
		if end != never && now+p.capacity.takesBatch(b.least(took), p.several)+s.opt.Slack > end {
			break
		}
		load += j.Load
		s.take(b, j)
	}
	return b
}

// next returns the job of l that should follow in a batch of p.
func (s *Scheduler) next(l *line, p *processor, now time.Duration) *Job {
	a, b := l.queues[p.class].head(), l.queues[Either].head()
	if a == nil || b != nil && s.before(b, a, now) {
		a = b
	}
	if a == nil || !s.suits(a, p) || !s.timely(a, p, now) {
		return nil
	}
	return a
}

// begin marks the jobs of b as running.
func (s *Scheduler) begin(b *Batch, now time.Duration) {
	p := b.p
	b.beside = len(p.running)
	b.expected = p.capacity.takes(b.Estimate, b.beside)
	if b.Mode == Sync {
		b.beside = p.several
		if s.cores.all > 0 {
			b.Threads = b.threads
		}
		b.expected = p.capacity.takesBatch(b.least(b.Estimate), b.beside)
	}
	s.cores.change(b, 1, now)
	if len(p.running) == 0 {
		p.ended = now
	}
	p.running = append(p.running, b)
	p.passed++
	p.owed = max(p.owed-min(b.Estimate, longest), 0)
	if b.Mode == Sync {
		p.several++
	}
	s.active++
	b.started, b.limit = now, now+s.allowance(b)
	s.arm(b.limit)
	for _, j := range b.Jobs {
		j.cur = b
		j.owner.Store(b)
		j.Trace.Attempts++
		j.Trace.Mode, j.Trace.Batch, j.Trace.Estimate = b.Mode, len(b.Jobs), b.Estimate
		j.Trace.Queued = now - j.arrived
	}
}

// lane runs b, then further batches of its processor, until there is none.
func (s *Scheduler) lane(b *Batch) {
	for b != nil {
		err := b.p.Run(context.Background(), b)
		ended := s.now()
		now := s.lock()
		s.finish(b, err, ended)
		next := s.pick(b.p, now)
		if next != nil {
			s.begin(next, now)
		}
		s.dispatch(now) // jobs to run again, jobs that waited for the delivery, old jobs
		s.unlock()
		b.end()
		if !b.gone {
			s.batches.Put(b)
		}
		b = next
	}
}

// end wakes the callers of answered jobs: of many, the first of each group, which wakes the others
// on its own core, so that the lane can go on.
func (b *Batch) end() {
	for group := range slices.Chunk(b.woken, woken) {
		for i, j := range group[1:] {
			group[i].next = j
		}
	}
	for i := 0; i < len(b.woken); i += woken {
		b.woken[i].done <- struct{}{}
	}
	clear(b.woken)
	clear(b.Jobs)
}

// woken is the number of callers of a group.
const woken = 16

// wakeGroup wakes the callers whose jobs are linked to j, which has ended.
func (j *Job) wakeGroup() {
	next := j.next
	for j.next = nil; next != nil; {
		other := next
		next, other.next = other.next, nil
		other.done <- struct{}{}
	}
}

// inline runs b on the goroutine of j's caller. It returns whether that was the end of j;
// else it is queued, or runs elsewhere. Where Run panics, j has failed and the lane is
// free when the caller recovers.
func (s *Scheduler) inline(b *Batch, j *Job) (finished bool) {
	err := errPanic
	defer func() {
		reuse := b.ctx.end()
		ended := s.now()
		now := s.lock()
		s.finish(b, err, ended)
		finished = j.finished
		j.waiting = !finished
		s.dispatch(now)
		s.unlock()
		clear(b.Jobs)
		if reuse && !b.gone {
			s.batches.Put(b)
		}
	}()
	err = b.p.Run(&b.ctx, b)
	return
}

// finish decides the fate of the jobs of b.
func (s *Scheduler) finish(b *Batch, err error, now time.Duration) {
	p := b.p
	if b.gone {
		p.stray--
	} else {
		s.active--
		if !b.delivering {
			s.leave(b, now)
		}
	}
	if b.stream != nil {
		b.stream.out[p.index]--
		b.stream = nil
	}
	p.batches++
	left := b.Jobs[:0:0]
	for _, j := range b.Jobs {
		switch {
		case j.cur != b: // given up
		case j.release():
			left = append(left, j)
		default:
			p.jobs++
			j.Trace.Processor = p.Name
			s.ran(j, b, now)
			if len(j.odd) > 0 {
				s.blame(j, now)
			}
			s.complete(j, nil)
			if j.waiting {
				b.woken = append(b.woken, j)
			}
		}
	}
	if err == nil && len(left) == 0 {
		p.memory = 0
		p.successes++
		switch {
		case b.gone || b.delivering:
		case b.Mode == Sync:
			p.capacity.learnBatch(now, now-max(b.started, p.ended), b.least(b.Estimate))
			p.capacity.end(b.Estimate, now-p.ended)
			p.ended = now
			took := max(s.time-b.started, 1) // of the lane
			p.inside += (float64(cmp.Or(b.Inside, took))/float64(took) - p.inside) / 16
		case s.mode == Async || b.Jobs[0].Mode == Async || s.opt.Mode != Auto: // else only jobs that suit p better than batches do
			p.capacity.learn(now, float64(b.beside+len(p.running))/2, now-b.started, b.Estimate, b.threads)
		}
	}
	if len(left) > 0 {
		s.failed(b, left, err, now)
	}
}

// leave takes b off the lanes of its processor.
func (s *Scheduler) leave(b *Batch, now time.Duration) {
	p := b.p
	p.busy += now - b.started
	s.cores.change(b, -1, now)
	for i, o := range p.running {
		if o == b {
			last := len(p.running) - 1
			p.running[i], p.running[last] = p.running[last], nil
			p.running = p.running[:last]
			break
		}
	}
	if b.Mode == Sync {
		p.several--
	}
	if b.stream != nil {
		b.stream.returned(b, now)
	}
}

// ran notes how long j ran.
func (s *Scheduler) ran(j *Job, b *Batch, now time.Duration) { j.Trace.Ran = now - b.started }

// complete ends j, which is neither queued nor running.
func (s *Scheduler) complete(j *Job, err error) {
	j.finished, j.err, j.cur, j.reason = true, err, nil, nil
	j.owner.Store(nil)
	if j.at[byDeadline] != absent {
		s.deadlines.remove(j.at[byDeadline])
	}
	s.held--
	switch {
	case err == nil:
		s.stats.Answered++
	case errors.Is(err, ErrDeadline):
		s.stats.Expired++
	default:
		s.stats.Failed++
	}
	if j.stream != nil {
		s.blockDone(j, err)
	}
}

// fail ends j with err and tells its caller.
func (s *Scheduler) fail(j *Job, err error) {
	s.complete(j, err)
	if j.waiting {
		j.done <- struct{}{}
	}
}

// give ends j early with err, wherever it is; false if its answer is being written, or
// has been.
func (s *Scheduler) give(j *Job, err error) bool {
	now := s.lock()
	defer s.unlock()
	if j.finished || !s.drop(j, now) {
		return false
	}
	s.complete(j, err)
	return true
}

// drop takes j from where it is queued or runs; false if its answer is being written.
func (s *Scheduler) drop(j *Job, now time.Duration) bool {
	if j.line != nil {
		s.dequeue(j)
		return true
	}
	b := j.cur
	if !j.release() {
		return false
	}
	s.ran(j, b, now)
	if b.inline {
		b.ctx.cancel(context.Canceled)
	}
	return true
}
