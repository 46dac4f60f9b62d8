package schedule

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"
)

// delays are the times of single queries that arrived at a rate, ascending; late is how many
// missed the deadline.
type delays struct {
	all   []time.Duration
	late  int
	stats Stats
}

// percentile of n delays; never if the load ended early.
func (d delays) percentile(n, p int) time.Duration {
	if len(d.all) < n {
		return never
	}
	return d.all[n*p/100]
}

// load sends queries at a rate, a second, for as long as the scheduler needs to learn it, and
// then n more, whose delays it returns. It ends early when too many are late.
func (m *machine) load(t *testing.T, u use, rate float64, n int, deadline time.Duration, seed uint64) (d delays) {
	m.on(t, u, func(m *running, s *Scheduler) {
		rng := rand.New(rand.NewPCG(seed, 5))
		var group sync.WaitGroup
		var mu sync.Mutex
		begin, at := time.Now(), 0.0
		warm := max(n, min(int(rate*learns.Seconds()), 10_000))
		for i := range warm + n {
			at += rng.ExpFloat64() / rate
			arrived := begin.Add(time.Duration(at * 1e9))
			time.Sleep(time.Until(arrived))
			mu.Lock()
			many := d.late > allowed(n)
			mu.Unlock()
			if many {
				break
			}
			group.Go(func() {
				m.compute(m.call / 2)
				j := &Job{Kind: "and", Load: 1, Work: []int{i % len(m.host)}, Deadline: arrived.Add(deadline)}
				err := s.Do(context.Background(), j)
				m.compute(m.call / 2)
				took := time.Since(arrived)
				mu.Lock()
				defer mu.Unlock()
				if i < warm {
					return
				}
				if err != nil || took > deadline {
					d.late++
					took = max(took, deadline)
				}
				d.all = append(d.all, took)
			})
		}
		group.Wait()
		d.stats = s.Stats()
	})
	slices.Sort(d.all)
	return d
}

// learns is the time in which the scheduler learns the costs of a load.
const learns = 100 * ms

// allowed is how many of n queries may be late.
func allowed(n int) int { return n / 500 }

// sustained is the highest rate at which nearly all queries meet the deadline, from lo on.
func (m *machine) sustained(t *testing.T, u use, deadline time.Duration) float64 {
	mean := func(times []time.Duration) float64 {
		d := time.Duration(0)
		for _, x := range times {
			d += x
		}
		return d.Seconds() / float64(len(times))
	}
	top := float64(m.threads) / mean(m.host) // it computes all the time
	if u == beside {
		top = 1 / mean(m.device)
	}
	top = 1.05 * min(top, float64(m.cores)/m.call.Seconds())
	lo, hi := 0.0, top
	for rate := top; lo == 0 && rate > top/64; rate *= 0.7 {
		if m.holds(t, u, rate, deadline, 0) {
			lo = rate
		} else {
			hi = rate
		}
	}
	for lo > 0 && hi/lo > 1.08 {
		if mid := math.Sqrt(lo * hi); m.holds(t, u, mid, deadline, 0) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

func (m *machine) holds(t *testing.T, u use, rate float64, deadline time.Duration, seed uint64) bool {
	n := m.arrivals(rate, deadline)
	d := m.load(t, u, rate, n, deadline, seed)
	return d.late <= allowed(n)
}

// arrivals is the number of queries of a load.
func (m *machine) arrivals(rate float64, deadline time.Duration) int {
	return min(max(int(4*rate*deadline.Seconds()), 500), 2000)
}

// series is a call with many queries.
type series struct {
	m       *running
	next, n int
}

func (s *series) Kind() any { return "and" }

func (s *series) Blocks(int) int { return 1 << 16 }

func (s *series) Left() int { return s.n - s.next }

func (s *series) Each(p int) time.Duration { return s.m.learnt[p] }

// Learn learns as an engine does.
func (s *series) Learn(p int, block *Job, each time.Duration) {
	weight := time.Duration(min(len(queries(block)), 256))
	s.m.learnt[p] = (cmp.Or(s.m.learnt[p], each)*(1024-weight) + each*weight) / 1024
}

func (s *series) Cut(p int, load uint64, most int) *Job {
	n := min(int(load), most, s.n-s.next)
	if n == 0 {
		return nil
	}
	work := make([]int, n)
	for i := range work {
		work[i] = s.next + i
	}
	s.next += n
	return &Job{Kind: "and", Work: work, Load: uint64(n)}
}

// callTakes is the time of one call with n queries, after another one.
func (m *machine) callTakes(t *testing.T, u use, n int) (took time.Duration) {
	m.on(t, u, func(m *running, s *Scheduler) {
		for range 2 {
			began := time.Now()
			if err := s.DoAll(context.Background(), &series{m: m, n: n}, "", time.Time{}); err != nil {
				t.Error(err)
			}
			took = time.Since(began)
		}
	})
	return took
}
