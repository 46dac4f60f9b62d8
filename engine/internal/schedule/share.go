package schedule

import (
	"slices"
	"time"
)

// A processor that adds less than leastShare to the rate of the other ones is not worth the cores
// and the memory bandwidth that it takes from them: it gets no work that they can do, except
// for a trial now and then.
const minShare = 0.03

// A stream ends at about the same time on all processors: the blocks of the fastest one make at
// least guided of the rest for each processor, but have guidedLeast queries, blocks of further
// devices take as long, and blocks of a host take a share of the time that all need for the rest
// (guided self-scheduling, Polychronopoulos and Kuck 1987). first is the size of a first block on a
// host beside devices, whose time is unknown.
const guidedDivisor, minBlock, firstHostBlock = 4, 64, 8

// blockSize is the number of queries that the next block of t on p may have; 0: p has no part in the
// rest. A host takes one only while cores are free, or if t starves.
func (s *Scheduler) blockSize(t *stream, p *processor) int {
	left := t.Left()
	running, all, full, best, rest := 0, 0.0, t.rate(p), 0.0, float64(left)
	threads, own := 1, full
	if p.Threads > 0 {
		threads = min(p.Threads, s.blockCores(t))
		own *= float64(threads) / float64(p.Threads)
	}
	for _, o := range s.processors {
		if o == p || o.removal == nil && !s.inReserve(o) && t.Blocks(o.index) > 0 {
			rate := t.rate(o)
			if o == p {
				rate = own
			}
			running, all, best = running+1, all+rate, max(best, rate)
			rest += float64(t.queriesRunning[o.index])
		}
	}
	largest := max(minBlock, left/(guidedDivisor*running))
	switch {
	case running == 1 || left == 0:
		return largest
	case p.Threads > 0 && s.cores.free() <= 0 && !t.starves(s.lockedAt):
		return 0
	case own == 0 && p.Host:
		return firstHostBlock
	case own == 0:
		return minBlock
	case full >= best: // the other ones may leave all of the rest to it
		return max(int(float64(largest)*own/full), 1)
	}
	n := rest*own/all - float64(t.queriesRunning[p.index]) // that p can do beside its blocks while all do the rest
	part := min(int(float64(largest)*own/best), int(n))
	if p.Host {
		n /= float64(t.lanes(p))
		if n < float64(threads) { // the threads work on a query each, so a smaller block would take as long
			return 0
		}
		part = max(int(n/guidedDivisor), 1)
	}
	switch {
	case part <= 0:
		return 0
	case own*(1-s.fedShare(p)) >= (minShare+s.fedShare(p))*best: // the part of the host's threads that p takes is lost to the host
		return part
	case s.now()-p.triedAt < trialInterval:
		return 0
	}
	return min(part, minBlock, int(own*minShare*float64(trialInterval)))
}

// blockCores is the number of cores that a block of t may take on a host, at least one. A device that
// is about to take a block has one, too: its work would wait behind all threads of the host.
func (s *Scheduler) blockCores(t *stream) int {
	free := s.cores.free()
	if s.cores.deviceBatches == 0 && slices.ContainsFunc(s.processors, func(o *processor) bool {
		return o.class == Device && o.freeBlock() && s.serves(o, t)
	}) {
		free--
	}
	return max(free, 1)
}

// lanes is the number of blocks of t that run on p at a time.
func (t *stream) lanes(p *processor) int {
	if p.Threads > 0 { // the threads of the host bound them
		return 1
	}
	return min(p.Blocks, t.Blocks(p.index))
}

// rate is the queries per nanosecond of p in t, or in earlier calls; 0: unknown.
func (t *stream) rate(p *processor) float64 {
	if took := t.runTime[p.index]; took > 0 {
		return float64(t.queriesDone[p.index]) / float64(took)
	}
	if each := t.Each(p.index); each > 0 {
		return 1 / float64(each)
	}
	return 0
}

// rateShare is the rate at which p runs jobs like j in batches, in units of the rate of all other
// processors that can run it. A host has the cores that do not feed devices.
func (s *Scheduler) rateShare(p *processor, j *Job) float64 {
	others := 0.0
	for _, o := range s.processors {
		if o != p && s.eligible(j, o.index) {
			others += o.capacity.batchRate() / float64(j.added[o.index])
		}
	}
	own := p.capacity.batchRate() / float64(j.added[p.index])
	if p.Threads > 0 {
		own *= s.cores.unfedShare()
	}
	return own / others
}

// worthwhile tells whether p should take jobs like j from the other processors.
func (s *Scheduler) worthwhile(p *processor, j *Job, now time.Duration) bool {
	return now-p.triedAt >= trialInterval || s.rateShare(p, j) >= minShare+s.fedShare(p)
}

// trialInterval is the time between two jobs or blocks that a processor takes although it is not worth it:
// its costs, or the cores that feed it, may have changed. A block takes at most the share leastShare
// of that time.
const trialInterval = 2 * time.Second
