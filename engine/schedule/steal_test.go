package schedule

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// A processor without work takes what waits for another where it ends it sooner, in both
// modes, and of what waits the last.
func TestStealsWhatEndsSooner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var o order
		s := start(t, Options{Mode: Async}, fake(0, "gpu", 1), o.watch(fake(1, "host", 1)))
		jobs := jobsOf("", 12, 10*ms, 35*ms)
		runAll(t, s, jobs)
		// The fifth would wait for 40 ms: the host ends it after 35. By then six have run, and
		// the device needs 60 ms for what is left.
		if n := len(o.jobs); n < 2 || n > 3 {
			t.Errorf("%d jobs on the host", n)
		}
		last := time.Duration(0)
		for _, j := range jobs {
			if j.Trace.Class != Device {
				t.Errorf("%+v", j.Trace)
			}
			last = max(last, j.Trace.Queued+j.Trace.Ran)
		}
		if last > 100*ms { // 12/(1/10+1/35) = 93
			t.Errorf("all have ended after %v", last)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		s := start(t, Options{Mode: Sync}, fake(0, "gpu", 1), fake(1, "host", 1))
		jobs := jobsOf("", 64, ms, 3*ms)
		runAll(t, s, jobs)
		last, host := time.Duration(0), 0
		for _, j := range jobs {
			if j.Trace.Processor == "host" {
				host++
			}
			last = max(last, j.Trace.Queued+j.Trace.Ran)
		}
		if host < 8 || last > 56*ms { // 48 at best
			t.Errorf("%d of 64 on the host, all have ended after %v", host, last)
		}
	})
}

// Nothing is stolen that ends sooner where it waits; if that takes longer than it should,
// it is.
func TestStealsFromTheLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gpu := fake(0, "gpu", 1)
		run, slow := gpu.Run, true
		gpu.Run = func(ctx context.Context, b *Batch) error {
			if slow {
				slow = false
				time.Sleep(time.Second) // it should take 10 ms
			}
			return run(ctx, b)
		}
		s := start(t, Options{Mode: Async}, gpu, fake(1, "host", 1))
		jobs := jobsOf("", 2, 10*ms, 50*ms)
		runAll(t, s, jobs)
		// The device should be free at 10 and the second end at 20 ms. What is late is
		// expected to be as late again: at 50 ms it should end at 100, as on the host.
		if r := jobs[1].Trace; r.Processor != "host" || r.Queued < 45*ms || r.Queued > 55*ms {
			t.Errorf("%+v", r)
		}
	})
}

func TestHeap(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	h := heap[*Job]{id: byUrgency}
	var jobs []*Job
	for n := range 3000 {
		switch rng.IntN(3) {
		case 0, 1:
			j := &Job{}
			j.latest, j.seq = time.Duration(rng.IntN(100)), uint64(n)
			h.push(j.latest, j.seq, j)
			jobs = append(jobs, j)
		case 2:
			if len(jobs) == 0 {
				continue
			}
			i := rng.IntN(len(jobs))
			j := jobs[i]
			jobs = slices.Delete(jobs, i, i+1)
			h.remove(j.at[byUrgency])
			if j.at[byUrgency] != -1 {
				t.Fatal("removed, and still there")
			}
		}
		for i, e := range h.items {
			if e.item.at[byUrgency] != i || i > 0 && e.before(&h.items[(i-1)/2]) {
				t.Fatalf("step %d: item %d of %d", n, i, len(h.items))
			}
		}
		if len(h.items) != len(jobs) {
			t.Fatalf("%d items, %d expected", len(h.items), len(jobs))
		}
	}
}
