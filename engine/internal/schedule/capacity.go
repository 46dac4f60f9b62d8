package schedule

import "time"

// capacity learns the throughput of a processor, because lanes need not be parallel machines and
// estimates need not be right. It fits a line through recent single jobs: a job beside n jobs takes
// alone + n·beside times its estimate. The scheduler's lock guards it.
type capacity struct {
	lanes                float64       // single jobs at a time
	weight, x, y, xx, xy float64       // weighted sums over observations (x: jobs beside, y: time over estimate)
	alone, beside        float64       // the line
	guessedBeside        float64       // beside before the first observation
	cpuSum, timeSum      float64       // CPU time and time of recent single jobs on a host, ns
	singleAt             time.Duration // last observation of a single job

	batchFactor          float64       // mean time of a batch over its estimate
	batchAt              time.Duration // last observation of a batch
	batchWork, batchTime float64       // sums of the estimates of recent batches, and of the time in which any ran, ns
}

// forgetRate is the share of the observations that each further one replaces. guessWeight is the
// number of observations for which the first guess counts at each end of the line.
const forgetRate, guessWeight = 1.0 / 128, 8

// newCapacity assumes that estimates are right, that lanes of the host are parallel, and
// that lanes of a device take turns.
func newCapacity(lanes int, host bool) capacity {
	c := capacity{lanes: float64(lanes), alone: 1, batchFactor: 1, cpuSum: 1, timeSum: 1, batchWork: 1, batchTime: 1}
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

// learn records the time that a single job took on cores of a host, beside a mean number of jobs.
func (c *capacity) learn(now time.Duration, others float64, took, estimate time.Duration, cores int) {
	const keep = 1 - forgetRate
	c.singleAt = now
	c.cpuSum, c.timeSum = c.cpuSum*keep+float64(cores)*float64(estimate), c.timeSum*keep+float64(estimate)
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

// endBatch records the end of a batch, and the busy time of the processor since the end before it.
func (c *capacity) endBatch(estimate, busy time.Duration) {
	const keep = 1 - 1.0/32
	c.batchWork, c.batchTime = c.batchWork*keep+float64(max(estimate, 1)), c.batchTime*keep+float64(max(busy, 1))
}

// batchRate is the estimated time of batches that the processor does per second of busy time.
func (c *capacity) batchRate() float64 { return c.batchWork / c.batchTime }

// learnBatch records the time of a batch since the end of the batch before it, as lanes take turns.
func (c *capacity) learnBatch(now, took, estimate time.Duration) {
	c.batchAt = now
	y := min(float64(took)/float64(max(estimate, 1)), 4*c.batchFactor)
	c.batchFactor = max(0.05, c.batchFactor+(y-c.batchFactor)/16)
}

// batchTimeBeside is the expected time of a batch beside a number of batches.
func (c *capacity) batchTimeBeside(estimate time.Duration, beside int) time.Duration {
	return boundedTime(float64(estimate) * c.batchFactor * float64(1+beside))
}

// coresPerJob is the mean number of cores of a single job while it runs.
func (c *capacity) coresPerJob() float64 { return max(c.cpuSum/c.timeSum, 1) }

// rate is the estimated time of single jobs that the processor does per second, with jobs at a time.
func (c *capacity) rate(jobs float64) float64 { return jobs / (c.alone + c.beside*(jobs-1)) }
