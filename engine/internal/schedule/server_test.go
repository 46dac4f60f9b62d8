package schedule

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"
)

// server is a machine like one that was measured: 16 cores and a GPU that answers a query of a
// batch in 2 µs, but takes 100 µs to start, beside a host whose core takes 30 µs.
func server() *machine {
	rng := rand.New(rand.NewPCG(1, 12))
	draw := func() float64 { return math.Exp(rng.NormFloat64()) }
	return &machine{
		cores: 16, quantum: 2 * ms, threads: 14, host: scaled(500, 40*us, draw),
		lanes: 4, launch: 80 * us, feed: 20 * us, each: 300, single: 4, device: scaled(500, 1000, draw),
		call: 15 * us, wrongHost: 1, wrongDevice: 1, threshold: 2048,
	}
}

// After a rush that made batches, single queries are answered as soon as by the better processor
// alone: by the host, although batches are the device's.
func TestAfterRush(t *testing.T) {
	m := server()
	rates := []float64{20_000, 60_000}
	if testing.Short() {
		rates = rates[1:]
	}
	for _, rate := range rates {
		best := never
		for _, u := range []use{alone, beside} {
			best = min(best, m.rushed(t, u, rate).median())
		}
		if got := m.rushed(t, both, rate); got.stats.Changes < 2 || isWorse(got.median(), best) {
			t.Errorf("%.0f queries/s: p50 is %v after %d changes of the mode, %v on the better one", rate, got.median(), got.stats.Changes, best)
		}
	}
}

func (d delays) median() time.Duration { return d.percentile(len(d.all), 50) }

// rushed returns the delays of queries that arrive at a rate, 300 ms after a rush that is more than
// the host can answer.
func (m *machine) rushed(t *testing.T, u use, rate float64) (d delays) {
	m.on(t, u, func(m *running, s *Scheduler) {
		rng := rand.New(rand.NewPCG(1, 5))
		var group sync.WaitGroup
		var mu sync.Mutex
		begin, at, now := time.Now(), 0.0, 600_000.0
		for i := 0; at < 0.4; i++ {
			if at > 0.05 {
				now = rate
			}
			at += rng.ExpFloat64() / now
			counts, arrived := at > 0.35, begin.Add(time.Duration(at*1e9))
			time.Sleep(time.Until(arrived))
			group.Go(func() {
				m.compute(m.call / 2)
				err := s.Do(context.Background(), &Job{Kind: "and", Load: 1, Work: []int{i % len(m.host)}, Deadline: arrived.Add(10 * ms)})
				m.compute(m.call / 2)
				mu.Lock()
				defer mu.Unlock()
				if counts && err == nil {
					d.all = append(d.all, time.Since(arrived))
				}
			})
		}
		group.Wait()
		d.stats = s.Stats()
	})
	slices.Sort(d.all)
	return d
}
