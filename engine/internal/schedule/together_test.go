package schedule

import (
	"context"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"heddle/engine/plan/testneeds"
)

// mix returns the times of n queries alone on a device and on the host, similar to
// Ding et al. 2009, section 9: a device starts slowly and is fast on long lists, the host
// is fast on short lists. unit is about the time of a query on the host.
func mix(n int, kind string, unit time.Duration, seed uint64) (device, host []time.Duration) {
	rng := rand.New(rand.NewPCG(seed, 1))
	for range n {
		size := math.Exp(rng.NormFloat64()*0.8 - 0.32) // 1 on average
		d, h := 0.3+0.35*size, size*(0.2+1.6*rng.Float64())
		switch kind {
		case "slight": // every query is a little better on the device
			h = 1.5 * d
		}
		device = append(device, time.Duration(d*float64(unit)))
		host = append(host, time.Duration(h*float64(unit)))
	}
	return device, host
}

// missed is the share of n queries that arrive at random at rate, a second, and have not
// ended by their deadline.
func missed(t *testing.T, opt Options, kind, use string, rate float64, n int, unit, deadline time.Duration) (share float64, delay time.Duration) {
	testneeds.Bubble(t, func(t *testing.T) {
		device, host := mix(n, kind, unit, 3)
		gpu, cpu := fake(0, "gpu", 1), fake(1, "host", 1)
		switch use {
		case "device":
			for i := range host {
				host[i] = -1
			}
		case "host":
			for i := range device {
				device[i] = -1
			}
		}
		s := start(t, opt, gpu, cpu)
		rng := rand.New(rand.NewPCG(5, 5))
		var group sync.WaitGroup
		late := 0
		var mu sync.Mutex
		begin := time.Now()
		at := 0.0
		for i := range n {
			at += rng.ExpFloat64() / rate
			time.Sleep(time.Until(begin.Add(time.Duration(at * 1e9))))
			j := newJob(device[i], host[i])
			j.Deadline = time.Now().Add(deadline)
			group.Go(func() {
				err := s.Do(context.Background(), j)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					late++
				}
				delay += time.Since(j.Trace.Arrived) / time.Duration(n)
			})
		}
		group.Wait()
		share = float64(late) / float64(n)
	})
	return share, delay
}

// Both processors together reach at least 90 % of the sum of their separate rates, while at
// most one query in a thousand misses its deadline.
func TestTogether(t *testing.T) {
	const n = 500
	for _, c := range []struct {
		kind           string
		unit, deadline time.Duration
	}{{"ding", 10 * ms, 500 * ms}, {"ding", 500 * us, 10 * ms}, {"slight", 10 * ms, 500 * ms}, {"slight", 500 * us, 10 * ms}} {
		for _, mode := range []Mode{Async, Sync} {
			sum := 0.0
			for i, use := range []string{"device", "host"} {
				device, host := mix(n, c.kind, c.unit, 3)
				mean := 0.0 // rate at which it is always busy
				for _, d := range [2][]time.Duration{device, host}[i] {
					mean += d.Seconds() / n
				}
				lo, hi := 0.3/mean, 1.1/mean
				for hi/lo > 1.05 {
					mid := math.Sqrt(lo * hi)
					if miss, _ := missed(t, Options{Mode: mode}, c.kind, use, mid, n, c.unit, c.deadline); miss <= 0.001 {
						lo = mid
					} else {
						hi = mid
					}
				}
				sum += lo
			}
			miss, delay := missed(t, Options{Mode: mode}, c.kind, "both", 0.9*sum, n, c.unit, c.deadline)
			t.Logf("%s, %v, %v: separately %.0f/s in sum; at 90 %% of it %v, mean delay %v", c.kind, c.deadline, mode, sum, miss, delay)
			if miss > 0.001 {
				t.Errorf("%s: within %v under %v, at %.0f/s: %v are late", c.kind, c.deadline, mode, 0.9*sum, miss)
			}
		}
	}
}

// A processor that was slow for some time gets work again when it has been idle: no further job tells
// that it is fast.
func TestSlowProcessorRecovers(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		host, gpu, slow := fake(0, "host", 2), fake(1, "gpu", 2), true
		host.Run = func(ctx context.Context, b *Batch) error {
			if slow {
				time.Sleep(19 * b.Estimate)
			}
			sleep(ctx, b.Estimate)
			return answer(b)
		}
		s := start(t, Options{Mode: Async}, host, gpu)
		for range 200 {
			ranOn(t, s, newJob(ms, -1), "host")
		}
		slow = false
		ranOn(t, s, newJob(ms, 5*ms), "gpu")
		for range 60 {
			time.Sleep(time.Second)
			if err := s.Do(t.Context(), newJob(ms, 5*ms)); err != nil {
				t.Fatal(err)
			}
		}
		ranOn(t, s, newJob(ms, 5*ms), "host")
	})
}
