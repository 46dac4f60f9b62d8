package schedule

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"heddle/engine/plan/testneeds"
)

// machine is the cost structure of a host and a device that share the cores of a machine.
// It runs in virtual time: cores take turns between goroutines, as an operating system does.
type machine struct {
	cores   int
	quantum time.Duration // that a goroutine keeps a core while others wait

	threads int             // of the host, which share a batch
	whole   bool            // they share a single query too
	host    []time.Duration // CPU time of a query, by query

	devices    int           // like the one below; 0: one
	lanes      int           // of the device
	launch     time.Duration // of a batch beside its kernels
	feed, each time.Duration // CPU time that a batch takes, and each query of it
	single     float64       // least time of a kernel, in units of the longest query's time in a batch
	device     []time.Duration

	call                   time.Duration // CPU time of a caller for a query
	wrongHost, wrongDevice float64       // factors of estimates
	threshold              uint64        // queries of a full batch
}

// scaled returns n times, of which the mean is mean.
func scaled(n int, mean time.Duration, draw func() float64) []time.Duration {
	all, sum := make([]float64, n), 0.0
	for i := range all {
		all[i] = draw()
		sum += all[i]
	}
	out := make([]time.Duration, n)
	for i, x := range all {
		out[i] = max(time.Duration(x/sum*float64(n)*float64(mean)), 1)
	}
	return out
}

// anyMachine draws a cost structure. The device is 1/8 to 1,000 times as fast as the host.
func anyMachine(seed uint64) *machine {
	rng := chance{rand.New(rand.NewPCG(seed, 11))}
	between := rng.between
	us := func(lo, hi float64) time.Duration { return time.Duration(between(lo, hi) * 1e3) }
	m := &machine{
		cores: int(between(2, 17)), quantum: us(200, 4000), whole: rng.IntN(3) == 0,
		lanes: 1 + rng.IntN(8), launch: us(20, 300), feed: us(5, 100), single: between(1, 16),
		call: us(0.1, 20), wrongHost: between(0.85, 1.18), wrongDevice: between(0.85, 1.18), threshold: uint64(between(16, 512)),
	}
	m.threads = m.cores
	if rng.IntN(2) == 0 {
		m.threads = max(m.cores-m.cores/8, 1)
	}
	const n = 500
	spread := between(0.2, 1.2)
	sizes := make([]float64, n)
	for i := range sizes {
		sizes[i] = math.Exp(rng.NormFloat64() * spread)
	}
	mean := us(100, 500)
	together, i := 1-rng.Float64()*rng.Float64(), 0 // of the time that depends on the size
	draw := func() float64 {
		i++
		return together*sizes[(i-1)%n] + (1-together)*(0.2+1.6*rng.Float64())
	}
	m.device = scaled(n, mean, draw)
	m.host = scaled(n, time.Duration(float64(mean)*float64(m.threads)*between(0.125, 1000)), draw)
	m.each = time.Duration(float64(mean) * between(0.02, 0.5))
	if seed%3 == 2 {
		m.quicken(float64(us(5, 30))/float64(mean), between(0.3, 2))
	}
	return m
}

// quicken multiplies the times of queries by a factor, and sets the CPU time of callers: they
// take a number of all cores at the rate of the device.
func (m *machine) quicken(by, callers float64) {
	mean := sum(m.device, &Job{Work: indexes(len(m.device))}) / time.Duration(len(m.device))
	m.call = time.Duration(callers * by * float64(mean) * float64(m.cores))
	for _, times := range [][]time.Duration{m.host, m.device} {
		for i := range times {
			times[i] = max(time.Duration(by*float64(times[i])), 1)
		}
	}
	m.each = time.Duration(by * float64(m.each))
}

// indexes returns the numbers below n.
func indexes(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

func (m *machine) String() string {
	mean := func(times []time.Duration) time.Duration {
		d := time.Duration(0)
		for _, x := range times {
			d += x
		}
		return d / time.Duration(len(times))
	}
	return fmt.Sprintf("%d cores, quantum %v; host %d threads (whole %v), %v; device %d lanes, %v, alone x%.1f, launch %v, feed %v+%v; call %v; wrong %.2f %.2f; batches of %d",
		m.cores, m.quantum, m.threads, m.whole, mean(m.host), m.lanes, mean(m.device), m.single, m.launch, m.feed, m.each, m.call, m.wrongHost, m.wrongDevice, m.threshold)
}

// running is a machine in time.
type running struct {
	*machine
	free chan struct{} // cores

	mu     sync.Mutex
	cpu    time.Duration   // of the process
	learnt []time.Duration // time of a query in calls, by processor
}

// compute uses a core for d.
func (m *running) compute(d time.Duration) {
	for d > 0 {
		step := min(d, m.quantum)
		m.free <- struct{}{}
		time.Sleep(step)
		<-m.free
		m.mu.Lock()
		m.cpu += step
		m.mu.Unlock()
		d -= step
	}
}

// share computes d on a number of threads.
func (m *running) share(d time.Duration, threads int) {
	var group sync.WaitGroup
	for range threads {
		group.Go(func() { m.compute(d / time.Duration(threads)) })
	}
	group.Wait()
}

// use says which processors work.
type use string

const alone, beside, both use = "host", "device", "both"

// queries of a job: one, or those of a block of a stream.
func queries(j *Job) []int { return j.Work.([]int) }

func sum(times []time.Duration, jobs ...*Job) (d time.Duration) {
	for _, j := range jobs {
		for _, i := range queries(j) {
			d += times[i%len(times)]
		}
	}
	return d
}

func (m *machine) longest(b *Batch) (d time.Duration) {
	for _, j := range b.Jobs {
		for _, i := range queries(j) {
			d = max(d, m.device[i%len(m.device)])
		}
	}
	return d
}

func count(b *Batch) (n int) {
	for _, j := range b.Jobs {
		n += len(queries(j))
	}
	return n
}

// spent is the CPU time of the process.
func (m *running) spent() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.cpu
}

func (m *running) processors(u use) (all []Processor) {
	threshold := func(any) uint64 { return m.threshold }
	claim := func(b *Batch) error {
		for i := range b.Jobs {
			b.Claim(i)
		}
		return nil
	}
	if u != beside {
		all = append(all, Processor{
			Name: "host", Host: true, Inline: true, Lanes: min(2, m.threads), Singles: m.threads, Blocks: 4, Threads: m.threads, Threshold: threshold,
			Estimate: func(j *Job) (time.Duration, time.Duration, bool) {
				d := time.Duration(m.wrongHost * float64(sum(m.host, j)))
				if m.whole || len(queries(j)) > 1 {
					return d / time.Duration(m.threads), d / time.Duration(m.threads), true
				}
				return d, d / time.Duration(m.threads), true
			},
			Run: func(_ context.Context, b *Batch) error {
				n := min(count(b), m.threads)
				if m.whole {
					n = m.threads
				}
				if b.Threads > 0 {
					n = min(n, b.Threads)
				}
				m.share(sum(m.host, b.Jobs...), n)
				return claim(b)
			},
		})
	}
	for range max(m.devices, 1) {
		if u == alone {
			break
		}
		kernel := make(chan struct{}, 1) // runs one at a time
		all = append(all, Processor{
			Name: "device", Lanes: m.lanes, Threshold: threshold,
			Estimate: func(j *Job) (time.Duration, time.Duration, bool) {
				n := time.Duration(len(queries(j)))
				d := float64(sum(m.device, j))
				more := time.Duration(m.wrongDevice*d) + n*m.each
				if n > 1 {
					return more + m.launch + m.feed, more, true
				}
				return time.Duration(m.wrongDevice*d*m.single) + m.launch + m.feed + m.each, more, true
			},
			Start: func(any) time.Duration { return m.launch + m.feed },
			Run: func(_ context.Context, b *Batch) error {
				n := count(b)
				half := (m.feed + time.Duration(n)*m.each) / 2
				m.compute(half)
				time.Sleep(m.launch)
				kernel <- struct{}{}
				d := sum(m.device, b.Jobs...)
				time.Sleep(d)
				<-kernel
				time.Sleep(time.Duration(m.single*float64(m.longest(b))) - d)
				m.compute(half)
				return claim(b)
			},
		})
	}
	return all
}

// on runs f with a scheduler on a machine, in virtual time.
func (m *machine) on(t *testing.T, u use, f func(m *running, s *Scheduler)) {
	testneeds.Bubble(t, func(t *testing.T) {
		r := &running{machine: m, free: make(chan struct{}, m.cores), learnt: make([]time.Duration, 1+max(m.devices, 1))}
		opt := Options{Capacity: 1 << 16}
		if u == both { // as an engine does
			opt.Cores, opt.CPU = m.cores, r.spent
		}
		f(r, start(t, opt, r.processors(u)...))
	})
}
