package schedule

import "time"

// ding is the scheduler of Ding et al. 2009, section 9. Each job runs alone. It waits in one of three
// classes: much faster on devices, much faster on the host, or either. A processor takes the jobs of
// its own class, then of either class, then steals from the other class. A job near its deadline runs
// next on the processors of its class. The paper says nothing of batches: a job that asks for Sync
// runs in batches that close by threshold or age.
type ding struct{}

func newDing(*Options, int) Policy { return ding{} }

// Mode implements Policy.
func (ding) Mode() Mode { return Async }

// Place implements Policy.
func (ding) Place(j *Job, v *view) *processor {
	j.batchPriced = j.Mode == Sync && j.stream == nil
	classify(j, v)
	if j.Mode == Sync {
		return nil
	}
	return soonest(j, v)
}

// Next implements Policy.
func (ding) Next(p *processor, t turn, j *Job, v *view) decision {
	switch {
	case t == idle:
		return steal(p, v, func(*Job) bool { return true })
	case !v.suits(j, p):
		return decision{}
	}
	mode := v.modeOf(j.kindQueue)
	if mode == Sync && t != urgent {
		return v.closes(j.kindQueue, p)
	}
	return decision{mode: mode}
}

// Block implements Policy: all processors share a call.
func (ding) Block(p *processor, t *stream, v *view) int {
	return guidedBlock(t, v.takers(t, Device)+v.takers(t, Host))
}

// Done implements Policy.
func (ding) Done(*Batch, *view) {}

// classify sets the class of j, and the cost up to which a processor suits it.
func classify(j *Job, v *view) {
	device, host := never, never
	for i, p := range v.processors {
		switch {
		case !v.eligible(j, i):
		case p.Host:
			host = min(host, v.cost(j, p))
		default:
			device = min(device, j.cost(i))
		}
	}
	j.similarCost = time.Duration(v.opt.Similar * float64(min(device, host, maxEstimate)))
	j.Trace.Class = v.opt.classOf(device, host)
}

// classOf is the class of a job by its least times on devices and on hosts.
func (o *Options) classOf(device, host time.Duration) Class {
	switch {
	case o.Similar*float64(device) <= float64(host):
		return Device
	case o.Similar*float64(host) <= float64(device):
		return Host
	}
	return Either
}

// soonest returns the processor that should end j first, if j can begin there at once, and nothing
// that waits for it would be overtaken.
func soonest(j *Job, v *view) *processor {
	best, end := v.processors[0], never
	for i, p := range v.processors {
		if len(v.processors) == 1 || !v.eligible(j, i) { // the only one needs no times
			continue
		}
		took := v.runTime(p, j, false)
		if wait := v.waitAt(p, j, false, v.lockedAt); wait > 0 {
			took += wait + v.queueTime(p, false)
		}
		if took < end {
			best, end = p, took
		}
	}
	if v.placeable(j, best) {
		return best
	}
	return nil
}

// steal chooses a job of the other class, or of a faster processor, that ends sooner on p: of the
// youngest jobs, which would wait longest, the one whose time grows least. Queues whose youngest job is
// not worthwhile are left out. If no job ends sooner yet, but one will if its own processors are late, it
// asks for another offer at that time.
func steal(p *processor, v *view, worthwhile func(j *Job) bool) (d decision) {
	if len(v.processors) == 1 {
		return d
	}
	again, least := never, 0.0
	for _, q := range v.nonEmpty {
		batch := v.modeOf(q) == Sync
		if !p.free(batch) {
			continue
		}
		for class := range q.queues {
			jobs := &q.queues[class]
			if at := v.ageAt(jobs); batch && jobs.load < p.Threshold(q.kind) && at > v.lockedAt {
				again = min(again, at)
				continue
			}
			j := jobs.last
			if j != nil && v.eligible(j, p.index) && !worthwhile(j) {
				continue
			}
			for n := 0; n < stealDepth && j != nil; n, j = n+1, j.prev {
				if !v.eligible(j, p.index) || v.coresFor(p, j) <= 0 {
					continue
				}
				here, there := v.runTime(p, j, batch), v.endElsewhere(j, p)
				loss := float64(here) / float64(j.bestTime)
				switch now := v.lockedAt; {
				case here >= there:
					again = min(again, now+here-there+time.Microsecond)
				case now+here <= j.deadline && (d.job == nil || loss < least):
					d, least = decision{mode: v.modeOf(q), job: j, stolen: !v.suits(j, p)}, loss
				}
			}
		}
	}
	d.again = again
	return d
}

// stealDepth is the number of jobs of a queue that an idle processor looks at.
const stealDepth = 16
