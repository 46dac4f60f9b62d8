package schedule

import (
	"slices"
	"sync/atomic"
	"time"
)

// Heaps that a job may be in at the same time.
const (
	byOrder    = iota // of its caller in a queue: small and old ones first
	byUrgency         // of a class: by the latest start that meets the deadline
	byDeadline        // of the scheduler: all that have one, queued and running
	heaps
)

// jobState is the scheduler's part of a job. All but owner is under the scheduler's lock
// while the job is held. Times are since the scheduler's start. Fields that are used together lie
// together: they come from the memory of another core.
type jobState struct {
	// owner is the attempt that may answer: nil is none, &claimed that the answer is
	// being written. It is the one thing that decides between an answer and its being too
	// late.
	owner atomic.Pointer[Batch]

	done chan struct{} // receives once, if waiting, or refused after it was posted
	next *Job          // in the queue, in the inbox, or whose caller is woken next
	prev *Job          // in the queue by arrival
	cur  *Batch        // where it runs

	err      error
	waiting  bool
	finished bool
	batched  bool  // classified by its addition to batches
	solo     bool  // it runs alone, whatever the mode
	reserved bool  // only reserve processors can run it
	late     bool  // it has gone behind jobs that can still meet their deadlines
	single   Class // that it would have if it ran alone
	line     *line // where it is queued
	flow     *flow
	caller   *caller
	arrived  time.Duration
	best     time.Duration // alone where it is fastest
	left     float64       // share of the cores that did not feed devices

	added    []time.Duration
	times    [2][4]time.Duration // memory of added and Trace.Estimates, for few processors
	at       [heaps]int          // in heaps, or absent
	stream   *stream             // it is a block of, nil is none
	seq      uint64
	similar  time.Duration // cost of processors that are about as good as any
	barred   uint64        // processors that it does not run on again
	deadline time.Duration
	latest   time.Duration // start, to meet the deadline: then it is urgent
	odd      []failure     // on some of them, by errors that may have been its own
	reason   error         // of its last attempt
}

// claimed is the owner of jobs whose answers are being written.
var claimed Batch

// moved notes a place in a heap.
func (j *Job) moved(heap uint8, at int) { j.at[heap] = at }

// cost is the time of j on processor p: alone, or in a batch if it is classified so.
func (j *Job) cost(p int) time.Duration {
	if j.batched {
		return j.added[p]
	}
	return j.Trace.Estimates[p]
}

// batchState is the scheduler's part of a batch.
type batchState struct {
	s              *Scheduler
	p              *processor
	started, limit time.Duration // limit: hung beyond
	beside         int           // batches that ran then
	threads        int           // cores of the host that it takes
	cpu            time.Duration // estimated CPU time on a host
	longest        time.Duration // of its jobs alone
	expected       time.Duration // by the times of earlier jobs
	inline         bool
	gone           bool    // hung: it is not waited for any more
	delivering     bool    // its lane is free
	stream         *stream // whose block it is
	queries        int     // of the block
	ctx            runContext
	woken          []*Job // answered, whose callers are to be told
	run            func() // on a goroutine
}

// least is the estimated time of a batch that has the estimate of b or more, but no less than
// its longest job takes alone.
func (b *Batch) least(estimate time.Duration) time.Duration { return max(estimate, b.longest) }

// Claim asks whether the answer of Jobs[i] may be written: true once, unless the job was
// given up. After true the answer must be written before Run returns. It is safe for
// concurrent use.
func (b *Batch) Claim(i int) bool {
	return b.Jobs[i].owner.CompareAndSwap(b, &claimed)
}

// Delivering frees the lane for the next batch. Run may call it, once, when it has claimed
// its jobs and needs the processor no more, before it hands answers to a caller that may be
// slow. A stream has at most twice as many blocks running and in delivery as the processor
// has lanes.
func (b *Batch) Delivering() {
	s := b.s
	now := s.lock()
	defer s.unlock()
	if b.gone || b.delivering {
		return
	}
	s.leave(b, now)
	b.delivering = true
	s.dispatch(now)
}

// claimed says whether an answer of b is being written.
func (b *Batch) claimed() bool {
	return slices.ContainsFunc(b.Jobs, func(j *Job) bool { return j.cur == b && j.owner.Load() == &claimed })
}

// release takes j from the attempt that runs it; false where its answer is being written.
func (j *Job) release() bool {
	if !j.owner.CompareAndSwap(j.cur, nil) {
		return false
	}
	j.cur = nil
	return true
}
