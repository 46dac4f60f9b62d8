package schedule

import (
	"math"
	"time"
)

// cores shares the cores of the machine between the host and the work that feeds devices:
// preparation of batches, copies of answers, callers. It measures how many cores that work
// takes while devices run, as the CPU time of the process less that of the host's batches.
// The scheduler's lock guards it.
type cores struct {
	all   int                  // 0: they are not counted
	clock func() time.Duration // CPU time of the process; nil: nothing is measured

	host, devices int           // cores of running batches of the host, running batches of devices
	changed       time.Duration // when one of them did
	// Since the last measurement:
	began, cpu     time.Duration // it, and the CPU time by then
	hosted, active time.Duration // CPU time of the host's batches, time in which devices ran
	jobs           int           // that devices have answered

	mean float64 // of the cores that feed devices while they run; one measurement may be below 0
	each float64 // CPU time that feeds them with a job, ns
}

// measured is the time over which the cores that feed devices are measured. These devices keep
// room times as many cores: the work comes in bursts, and takes fewer cores than it needs while
// the host leaves it too few. So the host gives up cores until some are idle.
const measured, room = 5 * time.Millisecond, 4.0 / 3

// pass brings the sums up to now.
func (c *cores) pass(now time.Duration) {
	d := now - c.changed
	c.changed = now
	c.hosted += d * time.Duration(c.host)
	if c.devices > 0 {
		c.active += d
	}
	if c.clock == nil || now-c.began < measured {
		return
	}
	cpu := c.clock()
	if c.active > measured/4 {
		// Other work may have gone on in the time without devices: they had no more than all cores.
		fed := min(float64(cpu-c.cpu-c.hosted), float64(c.active)*float64(c.all))
		c.mean += (fed/float64(c.active) - c.mean) / 8
		if c.jobs > 0 {
			c.each += (max(fed, 0)/float64(c.jobs) - c.each) / 8
		}
	}
	c.began, c.cpu, c.hosted, c.active, c.jobs = now, cpu, 0, 0, 0
}

// feed is the number of cores that feed devices while they run.
func (c *cores) feed() float64 { return min(max(c.mean, 0), float64(c.all)) }

// free is the number of cores that a further batch of the host may take, 0 or less for none.
// While devices run, the cores that feed them are not free; these are at least one.
func (c *cores) free() int {
	if c.all == 0 {
		return math.MaxInt
	}
	reserved := 0
	if c.devices > 0 {
		reserved = max(1, int(math.Ceil(room*c.feed())))
	}
	return c.all - reserved - c.host
}

// change notes that a batch of p begins, or ends with sign -1.
func (c *cores) change(b *Batch, sign int, now time.Duration) {
	if c.all == 0 {
		return
	}
	c.pass(now)
	if b.p.Host {
		c.host += sign * b.threads
		if sign < 0 && b.cpu > 0 { // threads that waited for cores took less CPU time than their time
			c.hosted -= max(time.Duration(b.threads)*(now-b.started)-b.cpu, 0)
		}
		return
	}
	c.devices += sign
	if sign < 0 {
		c.jobs += max(len(b.Jobs), b.queries)
	}
}

// threadsOf is the number of cores that j takes alone on p: its CPU time there, which all
// threads share in a batch, over its time.
func (p *processor) threadsOf(j *Job) int {
	if p.Threads <= 1 {
		return p.Threads
	}
	return min(max(int(math.Round(p.cpu(j)/float64(max(j.Trace.Estimates[p.index], 1)))), 1), p.Threads)
}

// cpu is the CPU time of j on host p, ns.
func (p *processor) cpu(j *Job) float64 { return float64(j.added[p.index]) * float64(p.Threads) }

// rate is how many seconds of estimates of single jobs p does in a second: a host that shares
// the cores with devices runs as many at a time as the cores that do not feed them are enough for.
func (s *Scheduler) rate(p *processor) float64 {
	if s.cores.all == 0 || p.Threads == 0 {
		return p.capacity.rate(p.capacity.lanes)
	}
	return p.capacity.rate(max(s.cores.left()*p.capacity.lanes/p.capacity.span(), 1))
}

// left is the share of the cores that do not feed devices.
func (c *cores) left() float64 {
	if c.all == 0 {
		return 1
	}
	return max(1-c.feed()/float64(c.all), 0.01)
}

// price is the cost of j on p. A batch on a host beside devices has only the cores that do not feed
// these: the fewer were left when j arrived, the more a query on the host costs. This stays so while
// it waits, so that the processor that suits it best still does.
func (s *Scheduler) price(j *Job, p *processor) time.Duration {
	cost := j.cost(p.index)
	if !j.batched || p.Threads == 0 {
		return cost
	}
	return time.Duration(float64(cost) / j.left)
}

// width is the number of cores that p may give to j; none if j must wait:
//   - free cores, always;
//   - the cores that feed devices, too, if j takes less CPU time on the host than it takes to feed
//     a device with it;
//   - all cores, if no device runs and j does not suit devices better, or if j starves.
func (s *Scheduler) width(p *processor, j *Job) int {
	c := &s.cores
	switch {
	case p.Threads == 0 || c.all == 0:
		return math.MaxInt
	case p.cpu(j) > c.each && (c.devices > 0 || j.Trace.Class == Device) && !j.starves(s.time):
		return c.free()
	case c.devices == 0 || c.host == 0:
		return c.all
	}
	return c.all - c.host
}

// narrow returns the number of cores that j gets on p, and the time that it takes longer than on as
// many as it can use.
func (s *Scheduler) narrow(p *processor, j *Job) (threads int, slower float64) {
	most := p.threadsOf(j)
	threads = min(most, max(s.width(p, j), 1))
	return threads, float64(max(most, 1)) / float64(max(threads, 1))
}

// taken is the share of the threads of a host that device p takes by being fed.
func (s *Scheduler) taken(p *processor) (share float64) {
	if p.Host || s.cores.all == 0 {
		return 0
	}
	fed := max(1, int(math.Ceil(s.cores.feed())))
	for _, o := range s.processors {
		if o.Threads > 0 {
			share = max(share, float64(o.Threads+fed-s.cores.all)/float64(o.Threads))
		}
	}
	return share
}
