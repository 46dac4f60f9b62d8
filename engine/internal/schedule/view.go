package schedule

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// view is the part of a scheduler that policies read: processors with their learnt throughput,
// queues, calls, the load and the cores. The scheduler's lock guards all fields below the space.
type view struct {
	opt        Options
	processors []*processor
	policy     Policy

	_        [cacheLine]byte // the fields above do not change
	lockedAt time.Duration   // the time at which the present holder took the lock

	// Queues. A job waits in the queue of its kind, its class and its caller.
	nonEmpty   []*kindQueue       // queues with jobs
	queued     [3]int             // waiting jobs by class
	queuedTime [3][]time.Duration // estimated time of waiting jobs by class and processor
	streams    []*stream          // calls that have not ended

	// Load.
	arrivalRate [3]float64 // seconds of single-job time that arrive per second, by class, at decayedAt
	decayedAt   time.Duration
	rateFell    bool // arrivalRate decayed before the last arrival
	cores       cores

	// State of the whole.
	closed bool // each further job fails with errClosed
}

// inReserve says whether p waits in reserve while other processors work.
func (v *view) inReserve(p *processor) bool {
	return p.Reserve && slices.ContainsFunc(v.processors, func(o *processor) bool { return !o.Reserve && o.removal == nil })
}

func (v *view) totalQueued() int { return v.queued[Either] + v.queued[Device] + v.queued[Host] }

// eligible says whether processor p can run j now.
func (v *view) eligible(j *Job, p int) bool {
	return v.capable(j, p) && (j.reserveOnly || !v.processors[p].Reserve)
}

// capable is eligible without regard to reserves.
func (v *view) capable(j *Job, p int) bool {
	return j.Trace.Estimates[p] >= 0 && v.processors[p].removal == nil && j.barredOn>>p&1 == 0
}

// noProcessor is the reason why a job can run nowhere: the error of its last attempt, or
// else the errors for which the processors were removed.
func (v *view) noProcessor(reason error) error {
	if reason == nil {
		var outs []error
		for _, p := range v.processors {
			outs = append(outs, p.removal)
		}
		if reason = errors.Join(outs...); reason == nil {
			return ErrNoProcessor
		}
	}
	return fmt.Errorf("%w: %w", ErrNoProcessor, reason)
}

// waitAt is the expected time until p can begin j, if j is next there.
func (v *view) waitAt(p *processor, j *Job, batch bool, now time.Duration) time.Duration {
	if p.free(batch) && v.coresFor(p, j) > 0 {
		return 0
	}
	return p.nextLane(now)
}

// nextLane is the expected time until the first running batch of p ends. A batch that is late is
// expected to be late by as much again.
func (p *processor) nextLane(now time.Duration) time.Duration {
	least := maxEstimate
	for _, b := range p.running {
		end := b.started + b.expectedTime
		least = min(least, max(end-now, now-end))
	}
	return least
}

// runTime is the expected time of j on p beside the running jobs, on the cores that p may give to j now.
// Without such cores it is the time on as many cores as j can use, because j waits for them.
func (v *view) runTime(p *processor, j *Job, batch bool) time.Duration {
	slower := 1.0
	if v.coresFor(p, j) > 0 {
		_, slower = v.allotment(p, j)
	}
	alone := time.Duration(float64(j.Trace.Estimates[p.index]) * slower)
	if batch {
		return p.capacity.batchTimeBeside(alone, min(p.runningBatches, p.Lanes-1))
	}
	return p.capacity.singleTime(alone, min(len(p.running), p.Singles-1))
}

// queueTime is the expected time of p for the waiting jobs of its class, and for half of the jobs of
// either class.
func (v *view) queueTime(p *processor, batch bool) time.Duration {
	rate := 0.0
	for _, o := range v.processors {
		if o.removal == nil && o.class == p.class {
			if batch {
				rate += 1 / o.capacity.batchFactor
			} else {
				rate += v.singleRate(o)
			}
		}
	}
	return boundedTime(float64(v.queuedTime[p.class][p.index]+v.queuedTime[Either][p.index]/2) / rate)
}

// modeOf is how the jobs of q run now.
func (v *view) modeOf(q *kindQueue) Mode {
	if q.mode == Auto {
		return v.policy.Mode()
	}
	return q.mode
}

// suits says whether j costs no more on p than the class of j allows.
func (v *view) suits(j *Job, p *processor) bool {
	return v.eligible(j, p.index) && v.cost(j, p) <= j.similarCost
}

// timely says whether p should end j by its deadline, or else no other processor should.
func (v *view) timely(j *Job, p *processor, now time.Duration) bool {
	if j.deadline == never || j.postponed || now+v.runTime(p, j, true) <= j.deadline {
		return true
	}
	for i, o := range v.processors {
		if o != p && v.eligible(j, i) && now+v.waitAt(o, j, true, now)+v.runTime(o, j, true) <= j.deadline {
			return false
		}
	}
	return true
}

// before reports whether a runs before b on a processor that suits both: first the job of
// the least served caller, then of the processor's own class, then small and old jobs. A
// job of either class that has waited for patience times its own time counts as own.
func (v *view) before(a, b *Job, now time.Duration) bool {
	if a.caller.virtualStart != b.caller.virtualStart {
		return a.caller.virtualStart < b.caller.virtualStart
	}
	x, y := a.order(), b.order()
	if own := v.inOwnClass(a, now); own != v.inOwnClass(b, now) {
		return own
	}
	return x < y || x == y && a.seq < b.seq
}

func (v *view) inOwnClass(j *Job, now time.Duration) bool {
	return j.Trace.Class != Either || j.order() < now
}

func (j *Job) order() time.Duration { return j.callerQueue.jobs.at(j.positions[byOrder]).key }

// late says whether j could have met its deadline when it arrived, and cannot any more.
func (v *view) late(j *Job, now time.Duration) bool {
	last := j.lastStart()
	return !j.postponed && now > last && j.arrived <= last
}

// endElsewhere is the expected time until j ends on another processor than p, after all jobs that wait
// for that processor.
func (v *view) endElsewhere(j *Job, p *processor) time.Duration {
	batch := v.modeOf(j.kindQueue) == Sync
	end := never
	for i, o := range v.processors {
		if o == p || !v.eligible(j, i) {
			continue
		}
		took := max(v.runTime(o, j, batch), v.queueTime(o, batch)) // the queue includes j
		end = min(end, v.waitAt(o, j, batch, v.lockedAt)+took)
	}
	return end
}

// load is the utilisation: arriving work over the capacity of the processors for single
// jobs. It is the maximum of the whole and of each class on its own processors.
func (v *view) load() float64 {
	var rates [3]float64
	for _, p := range v.processors {
		if p.removal == nil && !v.inReserve(p) {
			rates[p.class] += v.singleRate(p)
		}
	}
	load := 0.0
	if all := rates[Device] + rates[Host]; all > 0 {
		load = (v.arrivalRate[Either] + v.arrivalRate[Device] + v.arrivalRate[Host]) / all
	}
	for _, class := range [2]Class{Device, Host} {
		if rates[class] > 0 {
			load = max(load, v.arrivalRate[class]/rates[class])
		}
	}
	return load
}

// singleLanes is the number of single jobs that processors of a class run at a time; Either: all
// processors.
func (v *view) singleLanes(class Class) (n int) {
	for _, p := range v.processors {
		if p.removal == nil && (class == Either || class == p.class) {
			n += p.Singles
		}
	}
	return n
}

// singleRate is the estimated time of single jobs that p does per second. A host beside devices runs as
// many at a time as there are cores that feed no device.
func (v *view) singleRate(p *processor) float64 {
	if v.cores.total == 0 || p.Threads == 0 {
		return p.capacity.rate(p.capacity.lanes)
	}
	return p.capacity.rate(max(v.cores.unfedShare()*p.capacity.lanes, 1))
}

// cost is the time by which p is compared with other processors for j. A batch on a host beside devices
// has only the cores that do not feed devices, so its cost is divided by their share. The share is the
// one at the arrival of j, so that the processor that suits j best does not change while j waits.
func (v *view) cost(j *Job, p *processor) time.Duration {
	cost := j.cost(p.index)
	if !j.batchPriced || p.Threads == 0 {
		return cost
	}
	return time.Duration(float64(cost) / j.freeCores)
}

// coresFor is the number of cores that p may give to j; none if j must wait:
//   - free cores in any case;
//   - all cores, if no device runs and j does not suit devices better, or if j starves.
func (v *view) coresFor(p *processor, j *Job) int {
	c := &v.cores
	switch {
	case p.Threads == 0 || c.total == 0:
		return math.MaxInt
	case (c.deviceBatches > 0 || j.Trace.Class == Device) && !j.starves(v.lockedAt):
		return c.free()
	case c.deviceBatches == 0 || c.hostCores == 0:
		return c.total
	}
	return c.total - c.hostCores
}

// allotment returns the number of cores that j gets on p, and the factor by which its time grows because
// it gets fewer cores than it can use.
func (v *view) allotment(p *processor, j *Job) (threads int, slower float64) {
	most := p.coresOf(j)
	threads = min(most, max(v.coresFor(p, j), 1))
	return threads, float64(max(most, 1)) / float64(max(threads, 1))
}

// blockCores is the number of cores that a block of t may take on a host, at least one. One core is kept
// for a device that is about to take a block, because feeding it would wait behind the host's threads.
func (v *view) blockCores(t *stream) int {
	free := v.cores.free()
	if v.cores.deviceBatches == 0 && slices.ContainsFunc(v.processors, func(o *processor) bool {
		return o.class == Device && o.freeBlock() && v.serves(o, t)
	}) {
		free--
	}
	return max(free, 1)
}

// takes says whether p works and can run blocks of t.
func (t *stream) takes(p *processor) bool { return p.removal == nil && t.Blocks(p.index) > 0 }

// serves says whether p may take a block of t now. A reserve takes none while another processor can.
func (v *view) serves(p *processor, t *stream) bool {
	if t.ended || t.err != nil || t.requeuedBlocks > 0 || t.on[p.index].out >= 2*p.Blocks || t.on[p.index].blocks >= t.Blocks(p.index) || v.policy.Block(p, t, v) == 0 {
		return false
	}
	return !p.Reserve || !slices.ContainsFunc(v.processors, func(o *processor) bool { return !o.Reserve && t.takes(o) })
}

// closes decides whether p begins a batch of q: it is full, no further job can come, or its oldest job
// has waited for MaxAge.
func (v *view) closes(q *kindQueue, p *processor) decision {
	own, either := &q.queues[p.class], &q.queues[Either]
	if own.jobs+either.jobs == 0 {
		return decision{}
	}
	threshold := p.Threshold(q.kind)
	if own.load+either.load >= threshold {
		return decision{mode: Sync}
	}
	again := min(v.ageAt(own), v.ageAt(either))
	if again <= v.lockedAt {
		return decision{mode: Sync}
	}
	if q.closesAt == 0 || threshold < q.closesAt {
		q.closesAt = threshold
	}
	return decision{again: again}
}

// ageAt is the time at which the oldest job of q closes a batch; never: q is empty.
func (v *view) ageAt(q *classQueue) time.Duration {
	if q.first == nil {
		return never
	}
	return q.first.arrived + v.opt.MaxAge
}

// placeable says whether p can begin j at once, and no waiting job or call would be overtaken.
func (v *view) placeable(j *Job, p *processor) bool {
	return p.free(false) && v.coresFor(p, j) > 0 && v.queued[p.class]+v.queued[Either] == 0 && len(v.streams) == 0
}

// fastest is the processor of a class with the least estimate of j alone; Either: of all. nil: none can
// run j.
func (v *view) fastest(j *Job, class Class) (best *processor) {
	for i, p := range v.processors {
		if v.eligible(j, i) && (class == Either || class == p.class) && (best == nil || j.Trace.Estimates[i] < j.Trace.Estimates[best.index]) {
			best = p
		}
	}
	return best
}

// takers is the number of working processors of a class that can run blocks of t.
func (v *view) takers(t *stream, class Class) (n int) {
	for _, p := range v.processors {
		if p.class == class && t.takes(p) && !v.inReserve(p) {
			n++
		}
	}
	return n
}
