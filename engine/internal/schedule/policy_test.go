package schedule

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"heddle/engine/plan"
)

// eachPolicy runs f in virtual time under every policy, on a host alone and beside 1 to 7 devices.
func eachPolicy(t *testing.T, f func(t *testing.T, policy string, devices int)) {
	for _, policy := range Policies() {
		for devices := range 8 {
			t.Run(fmt.Sprintf("%s on %d processors", policy, 1+devices), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { f(t, policy, devices) })
			})
		}
	}
}

// evenly returns a job that takes d on each of n processors.
func evenly(n int, d time.Duration) *Job {
	alone := make([]time.Duration, n)
	for i := range alone {
		alone[i] = d
	}
	return newJob(alone...)
}

// Under every policy each job and each call ends once, whatever processors do.
func TestPoliciesEndEachJobOnce(t *testing.T) {
	eachPolicy(t, func(t *testing.T, policy string, devices int) {
		rng := rand.New(rand.NewPCG(uint64(devices), 21))
		host := faulty(0, "host", 1+rng.IntN(2), 400, time.Hour, 1)
		host.Inline, host.Singles, host.Threads = rng.IntN(2) == 0, 3, 2
		all := []Processor{host}
		for d := range devices {
			all = append(all, faulty(1+d, "gpu", 1+rng.IntN(3), 40, time.Hour, uint64(d)))
		}
		s := start(t, Options{Policy: policy, Capacity: 40, Hang: time.Second, Cores: 2}, all...)
		cost := func() []time.Duration {
			out := make([]time.Duration, 1+devices)
			for i := range out {
				if out[i] = time.Duration(rng.ExpFloat64() * float64(ms)); rng.IntN(10) == 0 {
					out[i] = -1
				}
			}
			return out
		}
		var group sync.WaitGroup
		for n := range 200 {
			j := newJob(cost()...)
			j.Kind, j.Load, j.Caller, j.Mode = rng.IntN(2), rng.Uint64N(4), fmt.Sprint(rng.IntN(3)), Mode(rng.IntN(3))
			ctx, cancel := context.WithCancel(context.Background())
			switch rng.IntN(8) {
			case 0:
				j.Deadline = time.Now().Add(time.Duration(rng.IntN(5000)) * us)
			case 1:
				time.AfterFunc(time.Duration(rng.IntN(5000))*us, cancel)
			}
			group.Go(func() {
				defer cancel()
				if err := ended(s.Do(ctx, j), j); err != nil {
					t.Error(err)
				}
			})
			if n%80 == 40 {
				st := &blocks{}
				for range 10 {
					st.left = append(st.left, newJob(cost()...))
				}
				group.Go(func() {
					err := s.DoAll(context.Background(), st, "call", time.Time{})
					for _, j := range st.cut {
						if wrong := ended(err, j); wrong != nil && (err == nil || answers(j) > 1) {
							t.Error(wrong)
						}
					}
				})
			}
			time.Sleep(time.Duration(rng.ExpFloat64() * float64(300*us) / float64(1+devices)))
		}
		group.Wait()
		time.Sleep(2 * time.Hour) // hung batches come back
	})
}

// A load of half of the devices leaves no job waiting under any policy, in time for deadlines.
func TestPoliciesServeBoundedLoads(t *testing.T) {
	eachPolicy(t, func(t *testing.T, policy string, devices int) {
		all := []Processor{fake(0, "host", 1)}
		for d := range devices {
			all = append(all, fake(1+d, fmt.Sprint("gpu", d), 1))
		}
		s := start(t, Options{Policy: policy}, all...)
		rng := rand.New(rand.NewPCG(uint64(devices), 22))
		var group sync.WaitGroup
		for i := range 500 {
			d := time.Duration(rng.IntN(2000)) * us
			if i%100 == 50 {
				d = 20 * ms
			}
			j := evenly(1+devices, d)
			j.Kind, j.Caller, j.Deadline = rng.IntN(2), fmt.Sprint(rng.IntN(3)), time.Now().Add(500*ms)
			group.Go(func() {
				if err := s.Do(context.Background(), j); err != nil || answers(j) != 1 {
					t.Errorf("a job of %v: %d answers, %v: %+v", d, answers(j), err, j.Trace)
				}
			})
			time.Sleep(time.Duration(rng.ExpFloat64() * float64(2*ms) / float64(max(devices, 1))))
		}
		group.Wait()
	})
}

// When devices are lost, the other processors answer; restored ones get work again.
func TestPoliciesFailOver(t *testing.T) {
	eachPolicy(t, func(t *testing.T, policy string, devices int) {
		lost := make([]bool, devices)
		all := []Processor{fake(0, "host", 1)}
		for d := range devices {
			p := fake(1+d, "gpu", 1)
			run := p.Run
			p.Run = func(ctx context.Context, b *Batch) error {
				if lost[d] {
					return &plan.DeviceError{Kind: plan.ErrDeviceLost, Device: "gpu", Op: "run"}
				}
				return run(ctx, b)
			}
			all = append(all, p)
		}
		s := start(t, Options{Policy: policy}, all...)
		burst := func() (onHost int) {
			var group sync.WaitGroup
			jobs := make([]*Job, 20)
			for i := range jobs {
				jobs[i] = evenly(1+devices, ms)
				if devices > 0 {
					jobs[i].Work.(*task).alone[0], jobs[i].Work.(*task).added[0] = 5*ms, 5*ms // better on a device
				}
				group.Go(func() { s.Do(context.Background(), jobs[i]) })
			}
			calls := &blocks{left: []*Job{evenly(1+devices, ms), evenly(1+devices, ms)}}
			if err := s.DoAll(context.Background(), calls, "", time.Time{}); err != nil {
				t.Error(err)
			}
			group.Wait()
			for _, j := range append(jobs, calls.cut...) {
				if answers(j) != 1 {
					t.Errorf("%d answers: %+v", answers(j), j.Trace)
				}
				if j.Trace.Processor == "host" {
					onHost++
				}
			}
			return onHost
		}
		for d := range devices {
			if n := burst(); n == 22 {
				t.Errorf("no job ran on %d devices", devices-d)
			}
			lost[d] = true
		}
		if n := burst(); n != 22 {
			t.Errorf("%d of 22 jobs ran on the host, the only processor", n)
		}
		for d := range devices {
			lost[d] = false
			s.Restore(1 + d)
		}
		if n := burst(); devices > 0 && n == 22 {
			t.Error("no job ran on restored devices")
		}
	})
}

// Each policy places jobs as its source says.
func TestPoliciesDiffer(t *testing.T) {
	for _, c := range []struct {
		policy       string
		host, device time.Duration // estimates of each of 16 jobs that come together
		want         string        // jobs on the host, on the device; largest batch
	}{
		{"device-first", ms, 2 * ms, "0 16 8"},
		{"wu-async", ms, 2 * ms, "16 0 1"},
		{"wu-async", 3 * ms, ms, "0 16 1"},
		{"wu-sync", ms, 2 * ms, "0 16 8"},
		{"ding", ms, 2 * ms, "11 5 1"}, // the device steals jobs that it ends sooner
		{"cooperative", -1, ms, "0 16 8"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := start(t, Options{Policy: c.policy}, fake(0, "host", 1), fake(1, "gpu", 1))
			jobs := make([]*Job, 16)
			var group sync.WaitGroup
			for i := range jobs {
				jobs[i] = newJob(c.host, c.device)
				group.Go(func() { s.Do(context.Background(), jobs[i]) })
			}
			group.Wait()
			host, device, batch := 0, 0, 0
			for _, j := range jobs {
				batch = max(batch, j.Trace.Batch)
				if j.Trace.Processor == "host" {
					host++
				} else {
					device++
				}
			}
			if got := fmt.Sprint(host, device, batch); got != c.want {
				t.Errorf("%s, %v on the host, %v on the device: %s, want %s", c.policy, c.host, c.device, got, c.want)
			}
		})
	}
}

func TestUnknownPolicy(t *testing.T) {
	_, err := New(Options{Policy: "never"}, fake(0, "host", 1))
	if err == nil || !strings.Contains(err.Error(), `unknown policy "never" (one of cooperative, device-first, wu, wu-async, wu-sync, ding)`) {
		t.Error(err)
	}
	if err := CheckPolicy("DING"); err != nil {
		t.Error(err)
	}
}
