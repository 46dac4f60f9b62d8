package schedule

import (
	"context"
	"slices"
	"time"
)

// stream is a call of DoAll.
type stream struct {
	Stream
	scheduler      *Scheduler
	ctx            context.Context
	caller         *caller
	arrived        time.Duration
	deadline       time.Duration // never: none
	nextOrder      time.Duration // place of the next block among jobs of the caller, as a time of arrival
	blocks         []*Job        // blocks that have not ended
	requeuedBlocks int           // elements of blocks that wait for another attempt
	on             []streamPart  // by processor
	ended          bool          // no query is left to cut
	finished       bool          // ended, and every block has ended
	err            error
	done           chan struct{}
}

// streamPart is what a processor does of a call.
type streamPart struct {
	out      int           // blocks that have not returned
	blocks   int           // blocks that run: of out, those that are not in delivery
	queries  int           // queries of blocks that run
	done     int           // queries of blocks that have run
	ran      time.Duration // time in which blocks ran, until ranUntil
	ranUntil time.Duration
}

func newStream(st Stream, processors int) *stream {
	return &stream{Stream: st, deadline: never, done: make(chan struct{}), on: make([]streamPart, processors)}
}

// DoAll runs the jobs of st and waits for their end. It ends early with the first error of
// a job, with ctx.Err(), with a DeadlineError, or as Do does; answers that have been written
// by then stay. A Run that still runs may read the Work of further jobs.
func (s *Scheduler) DoAll(ctx context.Context, st Stream, caller string, deadline time.Time) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	t := newStream(st, len(s.processors))
	t.scheduler, t.ctx = s, ctx
	now := s.lock()
	if err := t.open(caller, deadline, now); err != nil {
		s.unlock()
		return err
	}
	s.dispatch(now)
	s.unlock()
	select {
	case <-t.done:
	case <-ctx.Done():
		t.drop(ctx.Err(), s.lock())
		s.unlock()
		<-t.done
	}
	return t.err
}

// open admits t.
func (t *stream) open(caller string, deadline time.Time, now time.Duration) error {
	s := t.scheduler
	t.arrived, t.nextOrder = now, now
	var err error
	if t.deadline, err = s.admit(deadline, now); err != nil {
		return err
	}
	if !slices.ContainsFunc(s.processors, t.takes) {
		s.stats.Failed++
		return s.noProcessor(nil)
	}
	t.caller = s.callerNamed(caller)
	if err = s.checkRoom(t.caller); err != nil {
		s.stats.Refused++
		return err
	}
	t.caller.streams++
	s.streams = append(s.streams, t)
	if t.deadline != never {
		s.arm(t.deadline)
	}
	return nil
}

// before reports whether the next block of t runs before the next block of o.
func (t *stream) before(o *stream) bool {
	return t.caller.virtualStart < o.caller.virtualStart || t.caller.virtualStart == o.caller.virtualStart && t.nextOrder < o.nextOrder
}

// block cuts a block for p, of the call of the least served caller; nil if there is none, or if j, the
// next job of p, comes before it: its caller has been served less. Within a caller a block takes its
// turn like a large job: jobs that arrive within patience times the time of the last block overtake it.
func (p *processor) block(j *Job, now time.Duration) *Batch {
	s := p.scheduler
	for p.freeBlock() {
		var t *stream
		for _, o := range s.streams {
			if (t == nil || o.before(t)) && s.serves(p, o) {
				t = o
			}
		}
		if t == nil || j != nil && (j.caller.virtualStart < t.caller.virtualStart || j.caller.virtualStart == t.caller.virtualStart && (j.caller != t.caller || j.order() <= t.nextOrder)) {
			return nil
		}
		if err := t.ctx.Err(); err != nil { // DoAll has not seen it yet
			t.drop(err, now)
		} else if b := t.cutBlock(p, now); b != nil {
			return b
		}
	}
	return nil
}

// cutBlock returns a block of t for p; nil if no query is left, or if p cannot run the block, which then
// waits for another processor.
func (t *stream) cutBlock(p *processor, now time.Duration) *Batch {
	s := t.scheduler
	left := t.Left()
	j := t.Cut(p.index, p.Threshold(t.Kind()), s.policy.Block(p, t, &s.view))
	if j == nil {
		t.ended = true
		t.end()
		return nil
	}
	s.prepare(j)
	s.seq++
	j.seq, j.arrived, j.Trace.Arrived = s.seq, now, s.epoch.Add(now)
	j.batchPriced, j.runsAlone, j.stream, j.caller = false, true, t, t.caller
	s.heldJobs++
	t.blocks = append(t.blocks, j)
	switch {
	case !s.replace(j):
		s.fail(j, s.noProcessor(nil))
		return nil
	case !s.eligible(j, p.index):
		s.enqueue(j, now)
		return nil
	}
	b := p.newBatch(Sync)
	b.take(j)
	b.stream, b.queries = t, left-t.Left()
	b.cores = min(b.cores, s.blockCores(t))
	p.triedAt = now
	on := &t.on[p.index]
	if on.blocks == 0 {
		on.ranUntil = now
	}
	on.out++
	on.blocks++
	on.queries += b.queries
	t.nextOrder = now + patience*j.bestTime
	return b
}

// blockDone records the end of a block. The first error is the error of the stream.
func (t *stream) blockDone(j *Job, err error) {
	if err != nil { // before j leaves the blocks of t, so that t does not end without an error
		t.drop(err, t.scheduler.lockedAt)
	}
	t.blocks = without(t.blocks, j)
	t.end()
}

// drop ends t with err, and its blocks, except for blocks whose answers are being
// written.
func (t *stream) drop(err error, now time.Duration) {
	s := t.scheduler
	if t.err != nil || t.finished {
		return
	}
	t.err, t.ended = err, true
	for _, j := range slices.Clone(t.blocks) {
		if !j.finished && (j.kindQueue != nil || j.batch != nil) && s.detach(j, now) {
			s.complete(j, err)
		}
	}
	t.end()
}

// end tells the caller if nothing of t is left.
func (t *stream) end() {
	s := t.scheduler
	if t.finished || !t.ended || len(t.blocks) > 0 {
		return
	}
	t.finished = true
	s.streams = without(s.streams, t)
	t.caller.streams--
	close(t.done)
}

// expireStreams ends streams whose deadline has passed. It returns the next deadline.
func (s *Scheduler) expireStreams(now time.Duration) time.Duration {
	least := never
	for i := len(s.streams) - 1; i >= 0; i-- {
		t := s.streams[i]
		if t.deadline > now {
			least = min(least, t.deadline)
		} else {
			t.drop(&DeadlineError{Waited: now - t.arrived, Running: true}, now)
		}
	}
	return least
}

// blockReturned notes that a block of t has left its lane.
func (t *stream) blockReturned(b *Batch, now time.Duration) {
	p := b.processor.index
	on := &t.on[p]
	on.blocks--
	on.queries -= b.queries
	on.done += b.queries
	on.ran += now - on.ranUntil
	on.ranUntil = now
	t.Learn(p, b.Jobs[0], on.ran/time.Duration(on.done))
}
