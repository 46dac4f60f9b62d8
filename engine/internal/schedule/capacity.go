package schedule

import "time"

// capacity learns the throughput of a processor for single jobs: lanes need not be parallel
// machines, and estimates need not be right. A job that runs beside n jobs takes
//
//	alone + n·beside
//
// times its estimate, by a line through recent observations. The scheduler's lock guards
// it.
type capacity struct {
	lanes                float64
	weight, x, y, xx, xy float64 // sums over observations; older ones weigh less
	alone, beside        float64
	guess                float64 // of beside
	several              float64 // time of a batch, in units of its estimate
	cores, time          float64 // of recent single jobs on a host: their CPU time and their time

	single, batch time.Duration // when it last learnt from one
	done, busy    float64       // estimates of recent batches, and the time that they took together
}

// The share of the observations that each job makes obsolete, and the number of jobs that
// the first guess counts for at each end of the line.
const forgets, guessed = 1.0 / 128, 8

// newCapacity assumes that estimates are right, that lanes of the host are parallel, and
// that lanes of a device take turns.
func newCapacity(lanes int, host bool) capacity {
	c := capacity{lanes: float64(lanes), alone: 1, several: 1, cores: 1, time: 1, done: 1, busy: 1}
	if !host {
		c.beside, c.guess = 1, 1
	}
	for range guessed {
		c.expect()
	}
	return c
}

// expect adds the guess as two observations.
func (c *capacity) expect() {
	c.add(0, 1)
	c.add(c.lanes-1, 1+c.guess*(c.lanes-1))
}

// forget brings the line, or the time of batches, nearer to the guess where nothing has been learnt
// for pause: a processor that was slow in a rush gets work again.
func (c *capacity) forget(now time.Duration) {
	if now-c.single >= pause {
		c.single = now
		for range guessed {
			c.expect()
		}
		c.fit()
	}
	if now-c.batch >= pause {
		c.batch = now
		c.several += (1 - c.several) / 8
	}
}

const pause = time.Second

func (c *capacity) add(x, y float64) {
	const keep = 1 - forgets
	c.weight, c.x, c.y = c.weight*keep+1, c.x*keep+x, c.y*keep+y
	c.xx, c.xy = c.xx*keep+x*x, c.xy*keep+x*y
}

// learn records the time of a job beside a mean number of jobs, on a number of cores.
func (c *capacity) learn(now time.Duration, others float64, took, estimate time.Duration, cores int) {
	const keep = 1 - forgets
	c.single = now
	c.cores, c.time = c.cores*keep+float64(cores)*float64(estimate), c.time*keep+float64(estimate)
	// One that was held up by something else must not turn the line.
	most := 4 * (c.alone + c.beside*others)
	c.add(others, min(float64(took)/float64(max(estimate, 1)), most))
	c.fit()
}

// fit draws the line. Where all jobs ran beside others, nothing tells what one takes alone: some
// that took their estimates count, too.
func (c *capacity) fit() {
	guess := guessed * min(c.x/c.weight, 1)
	weight := c.weight + guess
	x, y := c.x/weight, (c.y+guess)/weight
	if spread := c.xx/weight - x*x; spread > 0.1 {
		c.beside = max(0, (c.xy/weight-x*y)/spread)
	}
	c.alone = max(0.05, y-c.beside*x)
}

// takes is the expected time of a job with the estimate alone, beside a number of jobs.
func (c *capacity) takes(estimate time.Duration, others int) time.Duration {
	return believed(float64(estimate) * (c.alone + c.beside*float64(others)))
}

// end records that a batch ended, and the time since the last one did in which batches ran.
func (c *capacity) end(estimate, busy time.Duration) {
	const keep = 1 - 1.0/32
	c.done, c.busy = c.done*keep+float64(max(estimate, 1)), c.busy*keep+float64(max(busy, 1))
}

// yield is how many seconds of estimates of batches it does in a second in which it runs any.
func (c *capacity) yield() float64 { return c.done / c.busy }

// learnBatch records the time of a batch since the end of the one before it: lanes take turns.
func (c *capacity) learnBatch(now, took, estimate time.Duration) {
	c.batch = now
	y := min(float64(took)/float64(max(estimate, 1)), 4*c.several)
	c.several = max(0.05, c.several+(y-c.several)/16)
}

// takesBatch is the expected time of a batch beside a number of batches.
func (c *capacity) takesBatch(estimate time.Duration, beside int) time.Duration {
	return believed(float64(estimate) * c.several * float64(1+beside))
}

// span is the mean number of cores of a single job while it runs.
func (c *capacity) span() float64 { return max(c.cores/c.time, 1) }

// rate is how many seconds of estimates of single jobs it does in a second, a number at a time.
func (c *capacity) rate(jobs float64) float64 { return jobs / (c.alone + c.beside*(jobs-1)) }
