package schedule

import (
	"math"
	"time"
)

// capacity learns the throughput of a processor, because lanes need not be parallel machines and
// estimates need not be right. It fits a line through recent single jobs: a job beside n jobs takes
// alone + n·beside times its estimate. The scheduler's lock guards it.
type capacity struct {
	lanes                float64       // single jobs at a time
	weight, x, y, xx, xy float64       // weighted sums over observations (x: jobs beside, y: time over estimate)
	alone, beside        float64       // the line
	guessedBeside        float64       // beside before the first observation
	singleAt             time.Duration // last observation of a single job

	batchFactor float64       // mean time of a batch over its estimate
	batchAt     time.Duration // last observation of a batch
}

// forgetRate is the share of the observations that each further one replaces. guessWeight is the
// number of observations for which the first guess counts at each end of the line.
const forgetRate, guessWeight = 1.0 / 128, 8

// newCapacity assumes that estimates are right, that lanes of the host are parallel, and
// that lanes of a device take turns.
func newCapacity(lanes int, host bool) capacity {
	c := capacity{lanes: float64(lanes), alone: 1, batchFactor: 1}
	if !host {
		c.beside, c.guessedBeside = 1, 1
	}
	for range guessWeight {
		c.addGuess()
	}
	return c
}

// addGuess adds the guess as two observations.
func (c *capacity) addGuess() {
	c.add(0, 1)
	c.add(c.lanes-1, 1+c.guessedBeside*(c.lanes-1))
}

// forget moves the line and batchFactor towards the first guess after a pause of forgetAfter without
// an observation, so that a processor that was slow in a rush gets work again.
func (c *capacity) forget(now time.Duration) {
	if now-c.singleAt >= forgetAfter {
		c.singleAt = now
		for range guessWeight {
			c.addGuess()
		}
		c.fit()
	}
	if now-c.batchAt >= forgetAfter {
		c.batchAt = now
		c.batchFactor += (1 - c.batchFactor) / 8
	}
}

const forgetAfter = time.Second

func (c *capacity) add(x, y float64) {
	const keep = 1 - forgetRate
	c.weight, c.x, c.y = c.weight*keep+1, c.x*keep+x, c.y*keep+y
	c.xx, c.xy = c.xx*keep+x*x, c.xy*keep+x*y
}

// learn records the time that a single job took beside a mean number of jobs.
func (c *capacity) learn(now time.Duration, others float64, took, estimate time.Duration) {
	c.singleAt = now
	// One that was held up by something else must not turn the line.
	most := 4 * (c.alone + c.beside*others)
	c.add(others, min(float64(took)/float64(max(estimate, 1)), most))
	c.fit()
}

// fit draws the line. If every job ran beside other jobs, no observation has the time alone: then
// some guessed jobs that took their estimates count, too.
func (c *capacity) fit() {
	guess := guessWeight * min(c.x/c.weight, 1)
	weight := c.weight + guess
	x, y := c.x/weight, (c.y+guess)/weight
	if spread := c.xx/weight - x*x; spread > 0.1 {
		c.beside = max(0, (c.xy/weight-x*y)/spread)
	}
	c.alone = max(0.05, y-c.beside*x)
}

// singleTime is the expected time of a job with this estimate beside a number of jobs.
func (c *capacity) singleTime(estimate time.Duration, others int) time.Duration {
	return boundedTime(float64(estimate) * (c.alone + c.beside*float64(others)))
}

// learnBatch records the time of a batch since the end of the batch before it, as lanes take turns.
func (c *capacity) learnBatch(now, took, estimate time.Duration) {
	c.batchAt = now
	y := min(float64(max(took, 0))/float64(max(estimate, 1)), 4*c.batchFactor)
	c.batchFactor = max(0.05, c.batchFactor+(y-c.batchFactor)/16)
}

// batchTimeBeside is the expected time of a batch beside a number of batches.
func (c *capacity) batchTimeBeside(estimate time.Duration, beside int) time.Duration {
	return boundedTime(float64(estimate) * c.batchFactor * float64(1+beside))
}

// rate is the estimated time of single jobs that the processor does per second, with jobs at a time.
func (c *capacity) rate(jobs float64) float64 { return jobs / (c.alone + c.beside*(jobs-1)) }

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

	feedCores float64 // mean cores that feed devices while they run; may be below 0 at first
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
	if c.clock == nil || c.total == 0 || now-c.measuredFrom < feedInterval {
		return
	}
	cpu := c.clock()
	if c.deviceTime > feedInterval/4 {
		// Other work may have gone on in the time without devices: they had no more than all cores.
		fed := min(float64(cpu-c.measuredCPU-c.hostTime), float64(c.deviceTime)*float64(c.total))
		c.feedCores += (fed/float64(c.deviceTime) - c.feedCores) / 8
	}
	c.measuredFrom, c.measuredCPU, c.hostTime, c.deviceTime = now, cpu, 0, 0
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
}

// coresOf is the number of cores that j takes alone on host p: its CPU time over its time alone.
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
