package schedule

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"heddle/engine/plan/testneeds"
)

// A processor without work steals a waiting job of another one if it ends it sooner, in both
// modes. It steals the last job of the queue.
func TestStealsWhatEndsSooner(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		var o order
		s := start(t, Options{Mode: Async}, fake(0, "gpu", 1), o.watch(fake(1, "host", 1)))
		jobs := jobsOf("", 12, 10*ms, 35*ms)
		runAll(t, s, jobs)
		// The fifth would wait for 40 ms: the host ends it after 35. By then six have run, and
		// the device needs 60 ms for the rest.
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
	testneeds.Bubble(t, func(t *testing.T) {
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
	testneeds.Bubble(t, func(t *testing.T) {
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
		// The device should be free at 10 and the second end at 20 ms. A late job is
		// expected to be as late again: at 50 ms it should end at 100, as on the host.
		if r := jobs[1].Trace; r.Processor != "host" || r.Queued < 45*ms || r.Queued > 55*ms {
			t.Errorf("%+v", r)
		}
	})
}

func TestHeap(t *testing.T) {
	for _, spread := range []int{1, 20, 3000} { // in order, almost, not at all
		rng := rand.New(rand.NewPCG(1, uint64(spread)))
		h := heap[*Job]{id: byUrgency}
		var jobs []*Job
		most := 0
		first := func(a, b *Job) int {
			return cmp.Or(cmp.Compare(a.deadline, b.deadline), cmp.Compare(a.seq, b.seq))
		}
		for n := range 3000 {
			key := time.Duration(n + rng.IntN(spread))
			i := 0
			if len(jobs) > 0 {
				i = rng.IntN(len(jobs))
			}
			step := rng.IntN(10)
			switch {
			case len(jobs) == 0 || n%1000 < 800 && step < 5:
				j := &Job{}
				j.deadline, j.seq = key, uint64(n+1)
				h.push(key, j.seq, j)
				jobs = append(jobs, j)
			case step < 6:
				jobs[i].deadline = key
				h.rekey(jobs[i].positions[byUrgency], key)
			default:
				j := jobs[i]
				if step < 9 {
					j = h.top().item
					i = slices.Index(jobs, j)
					if least := slices.MinFunc(jobs, first); j != least {
						t.Fatalf("step %d: %v is first, should be %v", n, j.deadline, least.deadline)
					}
				}
				jobs = slices.Delete(jobs, i, i+1)
				h.remove(j.positions[byUrgency])
				if j.positions[byUrgency] != absent {
					t.Fatal("removed, and still there")
				}
			}
			for i, e := range h.items {
				if e.item.positions[byUrgency] != i || i > 0 && e.before(&h.items[(i-1)/2]) {
					t.Fatalf("step %d: item %d of %d", n, i, len(h.items))
				}
			}
			for _, j := range jobs {
				if e := h.at(j.positions[byUrgency]); e.item != j || e.key != j.deadline {
					t.Fatalf("step %d: %v is not where it says", n, j.deadline)
				}
			}
			if h.len() != len(jobs) {
				t.Fatalf("step %d: %d items, %d expected", n, h.len(), len(jobs))
			}
			if most = max(most, len(jobs)); len(h.run) > 4*most+8 {
				t.Fatalf("step %d: a run of %d for %d jobs at most", n, len(h.run), most)
			}
		}
	}
}

// Jobs that would miss their deadlines are stolen, also by a processor that can only just
// meet them: under overload no processor is idle.
func TestStealWhatWouldBeLate(t *testing.T) {
	for _, mode := range Modes() {
		testneeds.Bubble(t, func(t *testing.T) {
			s := start(t, Options{Mode: mode}, fake(0, "gpu", 1), fake(1, "host", 1))
			var ends []<-chan error
			var jobs []*Job
			for range 1000 { // of which the gpu can answer 400, the host 167
				j := newJob(5*ms, 12*ms)
				j.Deadline = time.Now().Add(15 * ms)
				jobs, ends = append(jobs, j), append(ends, launch(s, j))
				time.Sleep(2 * ms)
			}
			host := 0
			for i, end := range ends {
				if err := <-end; err == nil && jobs[i].Trace.Processor == "host" {
					host++
				}
			}
			if host < 150 {
				t.Errorf("%v: the host answered %d jobs: %+v", mode, host, s.Stats())
			}
		})
	}
}
