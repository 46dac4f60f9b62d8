package schedule

import (
	"math"
	"time"
)

// cores divides the cores of the machine between the host's batches and the work that feeds devices:
// the preparation of batches, copies of answers, callers. It measures the cores that feed devices as
// the CPU time of the process less the CPU time of the host's batches. The scheduler's lock guards it.
type cores struct {
	total int                  // cores of the machine; 0: they are not counted
	clock func() time.Duration // CPU time of the process; nil: nothing is measured

	hostCores     int           // cores of the running batches of the host
	deviceBatches int           // running batches of devices
	changedAt     time.Duration // last change of hostCores or deviceBatches

	// The present measurement.
	measuredFrom time.Duration // its start
	measuredCPU  time.Duration // clock at its start
	hostTime     time.Duration // CPU time of the host's batches
	deviceTime   time.Duration // time in which devices ran
	deviceJobs   int           // jobs that devices answered

	feedCores float64 // mean cores that feed devices while they run; may be below 0 at first
	feedTime  float64 // mean CPU time that feeds a device with a job, ns
}

// feedInterval is the least duration of a measurement. reserveFactor times feedCores are kept free for
// devices while they run: feeding comes in bursts, and takes fewer cores than it needs while the host
// leaves it too few. So the host gives up cores until some are idle.
const feedInterval, reserveFactor = 5 * time.Millisecond, 4.0 / 3

// advance adds the time since changedAt to the measurement, and ends it after feedInterval.
func (c *cores) advance(now time.Duration) {
	d := now - c.changedAt
	c.changedAt = now
	c.hostTime += d * time.Duration(c.hostCores)
	if c.deviceBatches > 0 {
		c.deviceTime += d
	}
	if c.clock == nil || now-c.measuredFrom < feedInterval {
		return
	}
	cpu := c.clock()
	if c.deviceTime > feedInterval/4 {
		// Other work may have gone on in the time without devices: they had no more than all cores.
		fed := min(float64(cpu-c.measuredCPU-c.hostTime), float64(c.deviceTime)*float64(c.total))
		c.feedCores += (fed/float64(c.deviceTime) - c.feedCores) / 8
		if c.deviceJobs > 0 {
			c.feedTime += (max(fed, 0)/float64(c.deviceJobs) - c.feedTime) / 8
		}
	}
	c.measuredFrom, c.measuredCPU, c.hostTime, c.deviceTime, c.deviceJobs = now, cpu, 0, 0, 0
}

// feeding is the number of cores that feed devices while they run, 0 to total.
func (c *cores) feeding() float64 { return min(max(c.feedCores, 0), float64(c.total)) }

// free is the number of cores that a further batch of the host may take; 0 or less: none. While devices
// run, at least one core is kept for them.
func (c *cores) free() int {
	if c.total == 0 {
		return math.MaxInt
	}
	reserved := 0
	if c.deviceBatches > 0 {
		reserved = max(1, int(math.Ceil(reserveFactor*c.feeding())))
	}
	return c.total - reserved - c.hostCores
}

// change records that b begins (sign 1) or ends (sign -1).
func (c *cores) change(b *Batch, sign int, now time.Duration) {
	if c.total == 0 {
		return
	}
	c.advance(now)
	if b.processor.Host {
		c.hostCores += sign * b.cores
		if sign < 0 && b.cpuTime > 0 { // threads that waited for cores took less CPU time than their time
			c.hostTime -= max(time.Duration(b.cores)*(now-b.started)-b.cpuTime, 0)
		}
		return
	}
	c.deviceBatches += sign
	if sign < 0 {
		c.deviceJobs += max(len(b.Jobs), b.queries)
	}
}

// coresOf is the number of cores that j takes alone on p: its CPU time there, which all
// threads share in a batch, over its time.
func (p *processor) coresOf(j *Job) int {
	if p.Threads <= 1 {
		return p.Threads
	}
	return min(max(int(math.Round(p.cpuTime(j)/float64(max(j.Trace.Estimates[p.index], 1)))), 1), p.Threads)
}

// cpuTime is the CPU time of j on host p, ns.
func (p *processor) cpuTime(j *Job) float64 { return float64(j.added[p.index]) * float64(p.Threads) }

// unfedShare is the share of the cores that do not feed devices.
func (c *cores) unfedShare() float64 {
	if c.total == 0 {
		return 1
	}
	return max(1-c.feeding()/float64(c.total), 0.01)
}
