package schedule

import (
	"cmp"
	"math"
	"time"
)

// cooperative combines the modes of Wu et al. 2010 (wu.go) with the classes and the stealing of Ding et
// al. 2009 (ding.go), and keeps the rule of cooperation: with all processors no measure is worse than
// with the best set of them (cooperation_test.go). So the host leaves the cores that feed devices
// (cores.go), a processor that would add little gets no work of the other ones, and under heavy load a
// processor with too little work starts a batch early.
type cooperative struct {
	modeSwitch
	insideRatio []float64 // mean Batch.Inside over the time of a batch, 0 to 1, by processor
}

func newCooperative(opt *Options, processors int) Policy {
	c := &cooperative{newModeSwitch(opt), make([]float64, processors)}
	for p := range c.insideRatio {
		c.insideRatio[p] = 1
	}
	return c
}

// Place implements Policy.
func (c *cooperative) Place(j *Job, v *view) *processor {
	arrives := c.price(j, v)
	classify(j, v)
	if !arrives || j.batchPriced {
		return nil
	}
	return soonest(j, v)
}

// Next implements Policy.
func (c *cooperative) Next(p *processor, t turn, j *Job, v *view) (d decision) {
	if t == idle {
		return steal(p, v, func(j *Job) bool { return v.worthwhile(p, j) })
	}
	q, mode := j.kindQueue, v.modeOf(j.kindQueue)
	switch {
	case !v.suits(j, p):
		return d
	case mode == Async || c.runsSingly(q, p):
		d.mode = Async
	case t == urgent || c.automatic(q) && len(p.running) < c.minBatches(p):
		d.mode = Sync
	case p.free(true) || t == starving:
		d = v.closes(q, p)
	}
	d.wait = t != urgent && v.coresFor(p, j) <= 0
	return d
}

// automatic says whether no caller and no option has asked for the mode of q.
func (c *cooperative) automatic(q *kindQueue) bool { return c.opt.Mode == Auto && q.mode == Auto }

// runsSingly says whether the jobs of q run one by one on p under Sync, too, because a host has a free
// lane for each of them.
func (c *cooperative) runsSingly(q *kindQueue, p *processor) bool {
	n := q.queues[p.class].jobs + q.queues[Either].jobs
	return p.Host && c.automatic(q) && p.free(false) && n > 0 && n <= p.Singles-len(p.running)
}

// minBatches is the number of batches below which a further one need not be full or old: one on a
// host. On a device one batch is transferred while another one runs, and insideTarget batches are
// inside the device on average.
func (c *cooperative) minBatches(p *processor) int {
	if p.Host {
		return 1
	}
	return min(max(2, int(math.Ceil(insideTarget/c.insideRatio[p.index]))), p.Lanes)
}

// insideTarget is the mean number of batches inside a device that keeps it busy.
const insideTarget = 1.7

// Done implements Policy: it learns the part of the time of a batch that is inside the device.
func (c *cooperative) Done(b *Batch, v *view) {
	if b.Mode == Sync {
		took, ratio := max(v.lockedAt-b.started, 1), &c.insideRatio[b.processor.index]
		*ratio += (float64(cmp.Or(b.Inside, took))/float64(took) - *ratio) / 16
	}
}

// worthwhile tells whether p should take jobs like j from the other processors, by the rates of all in
// batches: p adds to the others, and takes threads of the host by being fed. A host has the cores that do
// not feed devices.
func (v *view) worthwhile(p *processor, j *Job) bool {
	own, others, host := 0.0, 0.0, 0.0
	for i, o := range v.processors {
		rate := 1 / float64(j.added[i])
		switch {
		case !v.eligible(j, i):
		case o != p:
			others += rate
			if o.Host {
				host += rate
			}
		case p.Threads > 0:
			own = rate * v.cores.unfedShare()
		default:
			own = rate
		}
	}
	return v.lockedAt-p.triedAt >= trialInterval || own >= minShare*others+v.fedShare(p)*host
}

// minShare is the least addition to the rate of the other processors that is worth the cores and the
// memory bandwidth that it takes. A processor below it gets no work of the other ones, except for one
// job or block each trialInterval, because its costs, or the cores that feed it, may have changed. Such
// a block takes at most minShare of the interval.
const minShare, trialInterval = 0.03, 2 * time.Second

// fedShare is the share of the threads of a host that device p takes by being fed.
func (v *view) fedShare(p *processor) (share float64) {
	if p.Host || v.cores.total == 0 {
		return 0
	}
	fed := max(1, int(math.Ceil(v.cores.feeding())))
	for _, o := range v.processors {
		if o.Threads > 0 {
			share = max(share, float64(o.Threads+fed-v.cores.total)/float64(o.Threads))
		}
	}
	return share
}

// Block implements Policy. A call ends at about the same time on all processors: blocks of the fastest
// one are guided, blocks of further devices take as long, and blocks of a host take a share of the
// time that all need for the rest. A host takes one only while cores are free, or if t starves.
func (c *cooperative) Block(p *processor, t *stream, v *view) int {
	left, fed := t.Left(), v.fedShare(p)
	running, all, full, best, host, rest := 0, 0.0, t.rate(p), 0.0, 0.0, float64(left)
	threads, own := 1, full
	if p.Threads > 0 {
		threads = min(p.Threads, v.blockCores(t))
		own *= float64(threads) / float64(p.Threads)
	}
	for _, o := range v.processors {
		if o == p || t.takes(o) && !v.inReserve(o) {
			rate := t.rate(o)
			if o == p {
				rate = own
			}
			running, all, best = running+1, all+rate, max(best, rate)
			if o.Host {
				host += rate
			}
			rest += float64(t.on[o.index].queries)
		}
	}
	largest := guidedBlock(t, running)
	switch {
	case running == 1 || left == 0:
		return largest
	case p.Threads > 0 && v.cores.free() <= 0 && !t.starves(v.lockedAt):
		return 0
	case own == 0 && p.Host:
		return firstHostBlock
	case own == 0:
		return minBlock
	case full >= best: // the other ones may leave all of the rest to it
		return max(int(float64(largest)*own/full), 1)
	}
	n := rest*own/all - float64(t.on[p.index].queries) // queries for p beside its blocks while all do the rest
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
	case own >= minShare*best+fed*host/max(1-fed, 0.1): // what is left to the host is 1-fed of its rate
		return part
	case v.lockedAt-p.triedAt < trialInterval:
		return 0
	}
	return min(part, minBlock, int(own*minShare*float64(trialInterval)))
}

// firstHostBlock is the size of a block on a host beside devices whose time is unknown.
const firstHostBlock = 8

// lanes is the number of blocks of t that run on p at a time. On a host the threads bound them.
func (t *stream) lanes(p *processor) int {
	if p.Threads > 0 {
		return 1
	}
	return min(p.Blocks, t.Blocks(p.index))
}

// rate is the queries per nanosecond of p in t, or in earlier calls; 0: unknown.
func (t *stream) rate(p *processor) float64 {
	if on := &t.on[p.index]; on.ran > 0 {
		return float64(on.done) / float64(on.ran)
	}
	if each := t.Each(p.index); each > 0 {
		return 1 / float64(each)
	}
	return 0
}
