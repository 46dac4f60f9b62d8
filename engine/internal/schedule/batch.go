package schedule

import (
	"context"
	"errors"
	"slices"
	"time"
)

// newBatch returns an empty batch for p.
func (p *processor) newBatch(mode Mode) *Batch {
	s := p.scheduler
	b := s.batches.Get().(*Batch)
	b.processor, b.Mode, b.Jobs, b.answered = p, mode, b.Jobs[:0], b.answered[:0]
	b.Estimate, b.Added, b.Threads, b.Inside, b.longestJob, b.cores, b.cpuTime = 0, 0, 0, 0, 0, 0, 0
	b.Narrow, b.inline, b.abandoned, b.delivering = false, false, false, false
	return b
}

// take moves j into b.
func (b *Batch) take(j *Job) {
	s := b.scheduler
	if j.kindQueue != nil {
		s.dequeue(j)
	}
	cost := j.Trace.Estimates[b.processor.index]
	if b.Mode == Sync && j.stream == nil {
		cost = j.added[b.processor.index]
	}
	s.charge(j.caller, cost)
	threads, slower := b.processor.coresOf(j), 1.0
	if len(b.Jobs) == 0 && j.stream == nil {
		threads, slower = s.allotment(b.processor, j)
	}
	longest := time.Duration(float64(j.Trace.Estimates[b.processor.index]) * slower)
	if slower > 1 {
		b.Threads, b.Narrow = threads, true
		if b.Mode == Async {
			cost = longest
		}
	}
	b.Estimate += cost
	b.Added += j.added[b.processor.index]
	b.longestJob = max(b.longestJob, longest)
	b.cores = min(b.cores+threads, b.processor.Threads)
	b.cpuTime += time.Duration(b.processor.cpuTime(j))
	b.Jobs = append(b.Jobs, j)
}

// cut takes a batch for p out of the queue of first: first alone under Async, else as many jobs as the
// threshold allows, in the order of fairness, as long as no job misses its deadline by it. A stolen
// batch continues with the youngest jobs, as long as it ends before they would end elsewhere.
func (p *processor) cut(first *Job, d decision, now time.Duration) *Batch {
	s := p.scheduler
	q, class := first.kindQueue, first.Trace.Class
	b := p.newBatch(d.mode)
	b.take(first)
	if b.Mode == Async {
		return b
	}
	if p.Start != nil {
		b.Estimate += min(max(p.Start(q.kind), 0), maxEstimate)
	}
	load, end, threshold := first.Load, first.deadline, p.Threshold(q.kind)
	if now+b.Estimate > end {
		end = never // first misses its deadline anyway
	}
	width := max(s.cores.free(), 1)
	for load < threshold && (b.cores < width || width >= p.Threads) {
		j := q.queues[class].last
		if !d.stolen {
			j = s.nextInBatch(q, p, now)
		}
		if j == nil || !d.stolen && !(s.suits(j, p) && s.timely(j, p, now)) ||
			d.stolen && !(s.eligible(j, p.index) && b.with(j) <= s.endElsewhere(j, p)) {
			break
		}
		if s.late(j, now) {
			s.postpone(j)
			continue
		}
		if !j.postponed {
			end = min(end, j.deadline)
		}
		if end != never && now+b.with(j)+slack > end {
			break
		}
		load += j.Load
		b.take(j)
	}
	return b
}

// with is the expected time of b with j.
func (b *Batch) with(j *Job) time.Duration {
	p := b.processor
	return p.capacity.batchTimeBeside(b.timeFloor(b.Estimate+j.cost(p.index)), p.runningBatches)
}

// nextInBatch returns the job of q that follows in a batch of p.
func (v *view) nextInBatch(q *kindQueue, p *processor, now time.Duration) *Job {
	a, b := q.queues[p.class].head(), q.queues[Either].head()
	if a == nil || b != nil && v.before(b, a, now) {
		return b
	}
	return a
}

// begin marks the jobs of b as running.
func (b *Batch) begin(now time.Duration) {
	s, p := b.scheduler, b.processor
	b.concurrent = len(p.running)
	b.expectedTime = p.capacity.singleTime(b.Estimate, b.concurrent)
	if b.Mode == Sync {
		b.concurrent = p.runningBatches
		if s.cores.total > 0 {
			b.Threads = b.cores
		}
		b.expectedTime = p.capacity.batchTimeBeside(b.timeFloor(b.Estimate), b.concurrent)
	}
	s.cores.change(b, 1, now)
	p.running = append(p.running, b)
	p.sinceStarving++
	p.starvingDebt = max(p.starvingDebt-min(b.Estimate, maxEstimate), 0)
	if b.Mode == Sync {
		p.runningBatches++
	}
	s.activeBatches++
	b.ctx.begin(context.Background(), time.Time{})
	b.started, b.limit = now, now+s.allowance(b)
	s.arm(b.limit)
	for _, j := range b.Jobs {
		j.batch = b
		j.owner.Store(b)
		j.Trace.Attempts++
		j.Trace.Mode, j.Trace.Batch, j.Trace.Estimate = b.Mode, len(b.Jobs), b.Estimate
		j.Trace.Queued = now - j.arrived
	}
}

// lane runs b, then further batches of its processor, until there is none.
func (b *Batch) lane() {
	s := b.scheduler
	for b != nil {
		ctx := context.Background()
		switch {
		case !b.processor.Inline: // devices finish what they have begun
		case b.stream != nil:
			ctx = polled{&b.ctx}
		default:
			ctx = &b.ctx
		}
		err := b.processor.Run(ctx, b)
		reuse := b.ctx.end()
		ended := s.now()
		now := s.lockAt(ended)
		b.finish(err, ended)
		next := b.processor.pick(now)
		if next != nil {
			next.begin(now)
		}
		s.dispatch(now) // p may leave work to other processors: failed jobs, blocks, jobs of an age
		s.unlock()
		b.end()
		if reuse && !b.abandoned {
			s.batches.Put(b)
		}
		b = next
	}
}

// end wakes the callers of answered jobs. It wakes the first caller of each group of wakeGroupSize, and
// that caller wakes the rest of the group on its own core, so that the lane can go on.
func (b *Batch) end() {
	for group := range slices.Chunk(b.answered, wakeGroupSize) {
		for i, j := range group[1:] {
			group[i].next = j
		}
	}
	for i := 0; i < len(b.answered); i += wakeGroupSize {
		b.answered[i].done <- struct{}{}
	}
	clear(b.answered)
	clear(b.Jobs)
}

// wakeGroupSize is the number of callers of a group.
const wakeGroupSize = 16

// wakeGroup wakes the callers whose jobs are linked to j, which has ended.
func (j *Job) wakeGroup() {
	next := j.next
	for j.next = nil; next != nil; {
		other := next
		next, other.next = other.next, nil
		other.done <- struct{}{}
	}
}

// runInline runs b, which is j alone, on the goroutine of its caller. It returns whether j has ended;
// otherwise j waits, or runs on another processor. If Run panics, j fails, and the lane is free when
// the caller recovers.
func (b *Batch) runInline(j *Job) (finished bool) {
	s := b.scheduler
	err := errPanic
	defer func() {
		reuse := b.ctx.end()
		ended := s.now()
		now := s.lockAt(ended)
		b.finish(err, ended)
		finished = j.finished
		j.waiting = !finished
		s.dispatch(now)
		s.unlock()
		clear(b.Jobs)
		if reuse && !b.abandoned {
			s.batches.Put(b)
		}
	}()
	err = b.processor.Run(&b.ctx, b)
	return
}

// finish decides the fate of the jobs of b.
func (b *Batch) finish(err error, now time.Duration) {
	s, p := b.scheduler, b.processor
	busyFrom := p.busyFrom
	if b.abandoned {
		p.abandonedRuns--
	} else {
		s.activeBatches--
		if !b.delivering {
			b.leave(now)
		}
	}
	if b.stream != nil {
		b.stream.on[p.index].out--
		b.stream = nil
	}
	p.batches++
	left := b.Jobs[:0:0]
	for _, j := range b.Jobs {
		switch {
		case j.batch != b: // another attempt has it
		case j.owner.Load() != &claimed && j.release():
			left = append(left, j)
		default:
			p.jobs++
			j.Trace.Processor = p.Name
			j.Trace.Ran = now - b.started
			if len(j.failures) > 0 {
				s.blame(j, now)
			}
			s.complete(j, nil)
			if j.waiting {
				b.answered = append(b.answered, j)
			}
		}
	}
	if err == nil && len(left) == 0 {
		p.memoryFailures = 0
		p.successes++
		switch {
		case b.abandoned || b.delivering:
		case b.Mode == Sync:
			p.capacity.learnBatch(now, now-max(b.started, busyFrom), b.timeFloor(b.Estimate))
		case s.mode == Async || b.Jobs[0].Mode == Async || s.opt.Mode != Auto: // a single job under Sync is no sample of all jobs
			p.capacity.learn(now, float64(b.concurrent+len(p.running))/2, now-b.started, b.Estimate)
		}
		if !b.abandoned && !b.delivering {
			s.policy.Done(b, &s.view)
		}
	}
	if len(left) > 0 {
		b.handleFailure(left, err, now)
	}
}

// leave takes b off the lanes of its processor.
func (b *Batch) leave(now time.Duration) {
	s, p := b.scheduler, b.processor
	p.busy += now - b.started
	s.cores.change(b, -1, now)
	p.running = without(p.running, b)
	if b.Mode == Sync {
		p.runningBatches--
		p.busyFrom = now
	}
	if b.stream != nil {
		b.stream.blockReturned(b, now)
	}
}

// complete ends j, which is neither queued nor running.
func (s *Scheduler) complete(j *Job, err error) {
	j.finished, j.err, j.batch, j.lastError = true, err, nil, nil
	if j.positions[byDeadline] != absent {
		s.deadlines.remove(j.positions[byDeadline])
	}
	s.heldJobs--
	switch {
	case err == nil:
		s.stats.Answered++
	case errors.Is(err, ErrDeadline):
		s.stats.Expired++
	default:
		s.stats.Failed++
	}
	if j.stream != nil {
		j.stream.blockDone(j, err)
	}
}

// fail ends j with err and tells its caller.
func (s *Scheduler) fail(j *Job, err error) {
	s.complete(j, err)
	if j.waiting {
		j.done <- struct{}{}
	}
}

// withdraw ends j early with err, queued or running; false if its answer is being written, or is
// written.
func (s *Scheduler) withdraw(j *Job, err error) bool {
	now := s.lock()
	defer s.unlock()
	if j.finished || !s.detach(j, now) {
		return false
	}
	s.complete(j, err)
	return true
}

// detach takes j from where it is queued or runs; false if its answer is being written.
func (s *Scheduler) detach(j *Job, now time.Duration) bool {
	if j.kindQueue != nil {
		s.dequeue(j)
		return true
	}
	b := j.batch
	if !j.release() {
		return false
	}
	j.Trace.Ran = now - b.started
	if !slices.ContainsFunc(b.Jobs, func(o *Job) bool { return o != j && o.batch == b }) { // the last one
		b.ctx.end()
	}
	return true
}
