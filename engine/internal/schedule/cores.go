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

	feed float64 // cores that feed devices while they run
	each float64 // CPU time that feeds them with a job, ns
	lack float64 // cores that they keep beside these, while the process takes all cores
}

// measured is the time over which the cores that feed devices are measured. When the process
// takes the share full of all cores in this time, the work for devices may lack cores: then they
// keep one more in eight for as long. The host gives up cores in this way until some are idle.
const measured, full = 5 * time.Millisecond, 0.95

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
		fed := max(0, float64(cpu-c.cpu-c.hosted)/float64(c.active))
		all := float64(c.all)
		if float64(cpu-c.cpu) > full*all*float64(now-c.began) {
			c.lack = min(max(c.lack, fed-c.feed)+max(1, all/8), all)
		} else {
			c.lack -= c.lack / 8
		}
		c.feed += (min(fed, all) - c.feed) / 8
		if c.jobs > 0 {
			c.each += (fed*float64(c.active)/float64(c.jobs) - c.each) / 8
		}
	}
	c.began, c.cpu, c.hosted, c.active, c.jobs = now, cpu, 0, 0, 0
}

// free is the number of cores that a further batch of the host may take, 0 or less for none:
// devices that run keep those that feed them, at least one.
func (c *cores) free() int {
	if c.all == 0 {
		return math.MaxInt
	}
	reserved := 0
	if c.devices > 0 {
		reserved = max(1, int(math.Ceil(min(c.feed+c.lack, float64(c.all)))))
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
	left := 1 - s.cores.feed/float64(s.cores.all)
	return p.capacity.rate(max(left*p.capacity.lanes/p.capacity.span(), 1))
}

// fits tells whether p may take the cores for j. The free ones it may. A job that takes less CPU
// time on the host than feeding a device with it may take those that feed devices, too, and one
// that does not suit devices better may while no device runs.
func (s *Scheduler) fits(p *processor, j *Job) bool {
	c := &s.cores
	if p.Threads == 0 || c.all == 0 {
		return true
	}
	if p.cpu(j) <= c.each || c.devices == 0 && j.Trace.Class != Device {
		return c.devices == 0 || c.host == 0 || p.threadsOf(j) <= c.all-c.host
	}
	return p.threadsOf(j) <= c.free()
}

// taken is the share of the threads of a host that device p takes by being fed.
func (s *Scheduler) taken(p *processor) (share float64) {
	if p.Host || s.cores.all == 0 {
		return 0
	}
	fed := max(1, int(math.Ceil(s.cores.feed)))
	for _, o := range s.processors {
		if o.Threads > 0 {
			share = max(share, float64(o.Threads+fed-s.cores.all)/float64(o.Threads))
		}
	}
	return share
}
