package schedule

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"heddle/engine/plan/testneeds"
)

// chance draws machines and loads.
type chance struct{ *rand.Rand }

func (r chance) between(lo, hi float64) float64 { return lo * math.Pow(hi/lo, r.Float64()) }

func (r chance) time(lo, hi time.Duration) time.Duration {
	return time.Duration(r.between(float64(lo), float64(hi)))
}

func (r chance) one(n int) bool { return r.IntN(n) == 0 }

// cpu is a clock of CPU time: one that is right, constant or changing, or one that tells anything.
func (r chance) cpu(cores int) func() time.Duration {
	own := chance{rand.New(rand.NewPCG(r.Uint64(), 3))}
	began, read, busy := time.Now(), time.Duration(0), r.Float64()*float64(cores)
	switch r.IntN(6) {
	case 0:
		return nil
	case 1:
		return func() time.Duration { return time.Duration(busy * float64(time.Since(began))) }
	case 2: // all cores
		return func() time.Duration { return time.Since(began) * time.Duration(cores) }
	case 3:
		return func() time.Duration {
			if own.one(20) {
				busy = own.Float64() * float64(cores)
			}
			read += time.Duration(busy * float64(feedInterval))
			return read
		}
	case 4: // jumps
		return func() time.Duration { read += time.Duration((own.Float64() - 0.3) * 1e12); return read }
	}
	return func() time.Duration { return time.Duration(own.Int64() - own.Int64()) }
}

// processor is a host or a device with any lanes, whose estimates may be wrong.
func (r chance) processor(p int, host bool, cores int) Processor {
	name := fmt.Sprint("gpu", p)
	if host {
		name = "host"
	}
	out := fake(p, name, 1+r.IntN(4))
	if r.one(2) {
		out.Singles = 1 + r.IntN(6)
	}
	if r.one(2) {
		out.Blocks = 1 + r.IntN(6)
	}
	if r.one(3) {
	}
	if host {
		out.Inline = r.one(2)
		if !r.one(4) {
			out.Threads = 1 + r.IntN(2*max(cores, 1))
		}
	} else {
		out.Reserve = r.one(6)
		if r.one(2) {
			start := r.time(10*us, 2*ms)
			out.Start = func(any) time.Duration { return start }
		}
	}
	threshold, wrong := uint64(1+r.IntN(30)), 1.0
	if r.one(2) {
		wrong = r.between(0.1, 4)
	}
	out.Threshold = func(any) uint64 { return threshold }
	out.Run = func(ctx context.Context, b *Batch) error {
		if !sleep(ctx, time.Duration(wrong*float64(b.Estimate))) {
			return ctx.Err()
		}
		return answer(b)
	}
	return out
}

// sender is some goroutines that send jobs or calls one after the other.
type sender struct {
	n            int
	caller       string
	kind         int
	mode         Mode
	alone, added []time.Duration // by processor
	deadline     time.Duration   // 0: none
	blocks       int             // of a call; 0: jobs
	each         []time.Duration // of a query of a call, as is thought; nil: unknown
	pause        time.Duration   // after each
}

// alike sends jobs that take alone on processors, the same in batches.
func alike(n int, caller string, alone ...time.Duration) sender {
	return sender{n: n, caller: caller, alone: alone, added: alone}
}

func (r chance) sender(processors int) sender {
	x := sender{caller: fmt.Sprint(r.IntN(3)), kind: r.IntN(2), n: 1 + r.IntN(10), alone: make([]time.Duration, processors), added: make([]time.Duration, processors)}
	if r.one(2) {
		x.mode = Mode(r.IntN(3))
	}
	sure := r.IntN(processors)
	for p := range processors {
		x.alone[p] = r.time(2*ms, 40*ms)
		x.added[p] = time.Duration(float64(x.alone[p]) * r.between(0.01, 1))
		if p != sure && r.one(3) {
			x.alone[p], x.added[p] = -1, -1
		}
	}
	switch r.IntN(4) {
	case 0:
		x.deadline = r.time(2*ms, 2*time.Second)
	case 1:
		x.blocks, x.n = 1+r.IntN(8), min(x.n, 4)
		for range x.alone {
			x.each = append(x.each, r.time(ms, 100*ms))
		}
		if r.one(3) {
			x.each = nil
		}
	}
	if r.one(2) {
		x.pause = r.time(ms, 100*ms)
	}
	return x
}

// job returns the next job.
func (x *sender) job() *Job {
	j := newJob(x.alone...)
	j.Work.(*task).added = x.added
	j.Kind, j.Caller, j.Mode = x.kind, x.caller, x.mode
	if x.deadline > 0 {
		j.Deadline = time.Now().Add(x.deadline)
	}
	return j
}

// call is a stream that some processors cannot run.
type call struct {
	blocks
	x      *sender
	last   time.Time     // when a block was cut
	waited time.Duration // the longest time without one
}

func (c *call) Each(p int) time.Duration {
	if c.x.each == nil {
		return 0
	}
	return c.x.each[p]
}

func (c *call) Cut(p int, load uint64, most int) *Job {
	c.waited, c.last = max(c.waited, time.Since(c.last)), time.Now()
	return c.blocks.Cut(p, load, most)
}

func (c *call) Blocks(p int) int {
	if c.x.alone[p] < 0 {
		return 0
	}
	return 1 << 16
}

// once sends a job or a call and waits for its end. It returns how long the job, or a block of the
// call, has waited.
func (x *sender) once(s *Scheduler) (waited time.Duration, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	began := time.Now()
	if x.blocks == 0 {
		err = s.Do(ctx, x.job())
		return time.Since(began), err
	}
	c := &call{x: x, last: began}
	for range x.blocks {
		c.left = append(c.left, x.job())
	}
	err = s.DoAll(ctx, c, x.caller, time.Time{})
	return max(c.waited, time.Since(c.last)), err
}

// crowd is senders at work.
type crowd struct {
	sync.WaitGroup
	mu       sync.Mutex
	sent     int
	problems []error
}

// newCrowd starts senders. They note the jobs and calls that have not ended within a bound.
func newCrowd(s *Scheduler, senders []sender, end time.Time, bound time.Duration) *crowd {
	c := &crowd{}
	for _, x := range senders {
		for range x.n {
			c.Go(func() {
				for time.Now().Before(end) {
					took, err := x.once(s)
					c.note(&x, err, took, bound)
					time.Sleep(max(x.pause, 300*us))
				}
			})
		}
	}
	return c
}

func (c *crowd) note(x *sender, err error, took, bound time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent++
	if took >= bound || err != nil && !errors.Is(err, ErrDeadline) && !errors.Is(err, ErrNoProcessor) {
		c.problems = append(c.problems, fmt.Errorf("%v after %v: %+v", err, took, *x))
	}
}

// Whatever the machine, its clock and the load are, and whoever takes processors out, no job waits for
// more than starvationLimit and some time, and no call waits so long for its next block.
func TestWaitsAreBounded(t *testing.T) {
	seeds := []uint64{0, 1, 26, 48, 55, 70, 72, 94, 97, 102, 127, 128, 143, 152, 184, 187, 196} // all but two failed once
	if testneeds.Full() {
		seeds = nil
		for seed := range uint64(200) {
			seeds = append(seeds, seed)
		}
	}
	const bound = starvationLimit + 1500*ms
	for _, seed := range seeds {
		testneeds.Bubble(t, func(t *testing.T) {
			r := chance{rand.New(rand.NewPCG(seed, 17))}
			opt := Options{Mode: Mode(r.IntN(3)), Similar: 1 + float64(r.IntN(3))/5, Cores: r.IntN(9)}
			opt.CPU = r.cpu(opt.Cores)
			processors := make([]Processor, 1+r.IntN(4))
			for p := range processors {
				processors[p] = r.processor(p, p == 0 && !r.one(4), opt.Cores)
			}
			senders := make([]sender, 2+r.IntN(4))
			for i := range senders {
				senders[i] = r.sender(len(processors))
			}
			s := start(t, opt, processors...)
			end := time.Now().Add(bound + 100*ms)
			c := newCrowd(s, senders, end, bound)
			if r.one(3) {
				c.Go(func() {
					for time.Now().Before(end) {
						p := r.IntN(len(processors))
						s.takeOut(p, errOwn)
						time.Sleep(r.time(ms, time.Second))
						s.Restore(p)
						time.Sleep(r.time(ms, time.Second))
					}
				})
			}
			c.Wait()
			if len(c.problems) > 0 {
				t.Errorf("seed %d: %d of %d jobs and calls waited too long, one: %v\n%+v\n%+v\n%+v", seed, len(c.problems), c.sent, c.problems[0], opt, processors, senders)
			}
		})
	}
}
