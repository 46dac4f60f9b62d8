package schedule

import (
	"context"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"heddle/engine/plan/testneeds"
)

// Auto goes to Sync above Enter and back below Leave, and stays in between.
func TestAutoFollowsLoad(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		var events []Event
		s := start(t, Options{Event: func(e Event) { events = append(events, e) }}, fake(0, "gpu", 1), fake(1, "host", 1))
		var group sync.WaitGroup
		// feed submits jobs of 1 ms for a second, at load times the rate of both processors.
		feed := func(load float64) (first, last *Job) {
			for begin := time.Now(); time.Since(begin) < time.Second; {
				last = newJob(ms, ms)
				if first == nil {
					first = last
				}
				group.Go(func() {
					if err := s.Do(t.Context(), last); err != nil {
						t.Error(err)
					}
				})
				synctest.Wait()
				time.Sleep(time.Duration(float64(ms) / 2 / load))
			}
			group.Wait()
			return first, last
		}
		for i, c := range []struct {
			load    float64
			mode    Mode
			changes uint64
		}{{0.3, Async, 0}, {0.6, Async, 0}, {0.85, Sync, 1}, {0.55, Sync, 1}, {0.3, Async, 2}, {0.6, Async, 2}} {
			_, last := feed(c.load)
			st := s.Stats()
			if st.Mode != c.mode || st.Changes != c.changes || last.Trace.Mode != c.mode || uint64(len(events)) != c.changes {
				t.Errorf("step %d, load %v: %+v, events %+v", i, c.load, st, events)
			}
			if math.Abs(st.Load-c.load) > 0.05 {
				t.Errorf("step %d: load %v, is seen as %v", i, c.load, st.Load)
			}
		}
		if len(events) == 2 && (events[0].Mode != Sync || events[0].Load < 0.7 || events[1].Mode != Async || events[1].Load > 0.4) {
			t.Errorf("%+v", events)
		}
		if st := s.Stats(); st.Load > 0.7 {
			t.Error(st.Load)
		}
		time.Sleep(time.Second)
		if st := s.Stats(); st.Load > 1e-4 {
			t.Errorf("after a second of nothing the load is %v", st.Load)
		}
	})
}

// Sync stays for Hold, however the load goes; Async ends at once.
func TestAutoHolds(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		var events []Event
		s := start(t, Options{Hold: 300 * ms, Event: func(e Event) { events = append(events, e) }}, fake(0, "gpu", 1))
		var group sync.WaitGroup
		for range 20 { // bursts and pauses
			for range 20 {
				group.Go(func() { s.Do(t.Context(), newJob(ms)) })
			}
			synctest.Wait()
			if mode := s.Stats().Mode; mode != Sync {
				t.Fatalf("%v in a burst", mode)
			}
			time.Sleep(50 * ms)
			group.Wait()
		}
		if len(events) < 5 {
			t.Errorf("%d changes in a second", len(events))
		}
		for i := 1; i < len(events); i += 2 {
			if held := events[i].Time.Sub(events[i-1].Time); events[i].Mode != Async || held < 300*ms {
				t.Errorf("%v after %v", events[i].Mode, held)
			}
		}
	})
}

// A job's own mode wins over the scheduler's; one that asks for Async does not wait in a
// batch.
func TestModeOfJob(t *testing.T) {
	for _, mode := range Modes() {
		for _, own := range Modes() {
			testneeds.Bubble(t, func(t *testing.T) {
				s := start(t, Options{Mode: mode}, fake(0, "gpu", 1))
				j := newJob(2 * ms)
				j.Mode = own
				if err := s.Do(t.Context(), j); err != nil {
					t.Fatal(err)
				}
				want := own
				if own == Auto {
					want = mode
				}
				queued := time.Duration(0)
				if want == Sync {
					queued = ms
				} else {
					want = Async
				}
				if j.Trace.Mode != want || j.Trace.Queued != queued {
					t.Errorf("%v in %v: %+v", own, mode, j.Trace)
				}
			})
		}
	}
}

// Batches are of one kind, and singles go beside them as far as lanes allow.
func TestLanes(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		p := fake(0, "host", 1)
		p.Singles = 4
		s := start(t, Options{Mode: Async}, p)
		jobs := jobsOf("", 16, 10*ms)
		for i, j := range jobs {
			if i >= 8 {
				j.Mode, j.Kind = Sync, i%2
			}
		}
		runAll(t, s, jobs)
		for i, j := range jobs {
			r := j.Trace
			if want := time.Duration(i/4) * 10 * ms; i < 8 && r.Queued != want {
				t.Errorf("single %d: %+v", i, r)
			}
			if i >= 8 && (r.Batch != 4 || r.Ran != 40*ms) {
				t.Errorf("job %d of a batch: %+v", i, r)
			}
		}
		a, b := jobs[8].Trace, jobs[9].Trace
		if d := a.Queued - b.Queued; d != 40*ms && d != -40*ms {
			t.Errorf("two batches on one lane: %v and %v", a.Queued, b.Queued)
		}
	})
}

// The load is seen though lanes are not parallel and estimates are too low: more jobs arrive
// than processors can do one by one, but not more than they can do in batches.
func TestAutoSeesThroughEstimates(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		gpu := fake(0, "gpu", 16)
		turn := make(chan struct{}, 1)
		gpu.Run = func(_ context.Context, b *Batch) error {
			turn <- struct{}{}
			time.Sleep(250*us + time.Duration(len(b.Jobs))*50*us) // alone 300, thrice the estimate
			<-turn
			return answer(b)
		}
		host := fake(1, "host", 1)
		host.Singles = 16
		var events []Event
		begin := time.Now()
		s := start(t, Options{Event: func(e Event) { events = append(events, e) }}, gpu, host)
		var group sync.WaitGroup
		feed := func(gap, until time.Duration) {
			for time.Since(begin) < until {
				j := newJob(100*us, 20*ms)
				group.Go(func() {
					if err := s.Do(t.Context(), j); err != nil {
						t.Error(err)
					}
				})
				time.Sleep(gap)
			}
		}
		feed(2*ms, 500*ms) // 0.15
		if st := s.Stats(); st.Mode != Async || st.Changes != 0 || st.Load > 0.3 {
			t.Errorf("light: %+v", st)
		}
		feed(200*us, 1500*ms) // 1.5 alone, 0.4 in batches
		if st := s.Stats(); st.Mode != Sync || st.Changes != 1 || st.Load < 1 || st.Load > 2 || events[0].Time.Sub(begin) > 600*ms {
			t.Errorf("heavy: %+v, since %v", st, events)
		}
		feed(2*ms, 2500*ms)
		if st := s.Stats(); st.Mode != Async || st.Changes != 2 || st.Load > 0.3 {
			t.Errorf("light again: %+v, %v", st, events)
		}
		group.Wait()
	})
}

func TestCapacity(t *testing.T) {
	for _, c := range []struct {
		name                string
		host                bool
		lanes               int
		alone, beside, rate float64
	}{
		{"one lane", false, 1, 1, 0, 1},
		{"takes turns", false, 16, 1, 1, 1},
		{"takes turns, too low", false, 16, 3, 3, 1.0 / 3},
		{"parallel", false, 16, 1, 0, 16},
		{"parallel, too high", true, 8, 0.5, 0, 16},
		{"half of it", true, 4, 1, 1.0 / 3, 2},
	} {
		rng := rand.New(rand.NewPCG(1, 1))
		l := newCapacity(c.lanes, c.host)
		guess := map[bool]float64{false: 1, true: float64(c.lanes)}[c.host]
		if r := l.rate(l.lanes); math.Abs(r-guess) > 1e-9 {
			t.Errorf("%s: guesses %v", c.name, r)
		}
		for range 1000 {
			n := float64(rng.IntN(c.lanes))
			y := (c.alone + c.beside*n) * (0.8 + 0.4*rng.Float64())
			if rng.IntN(100) == 0 {
				y *= 1000
			}
			l.learn(0, n, time.Duration(y*float64(ms)), ms)
		}
		if r := l.rate(l.lanes); r > 1.4*c.rate || r < 0.5*c.rate {
			t.Errorf("%s: rate %v", c.name, r)
		}
		for range 1000 {
			l.learn(0, 0, 2*ms, ms) // says nothing of lanes
		}
		if r := l.rate(l.lanes); !(r > 0) || math.IsInf(r, 0) || math.Abs(l.alone-2) > 0.03 {
			t.Errorf("%s: %+v", c.name, l)
		}
	}
}

// Jobs that all ran beside others do not tell what one takes alone: lanes that disturb each other are
// no reason to think that a single job takes longer than its estimate.
func TestCapacityFull(t *testing.T) {
	l := newCapacity(14, true)
	for i := range 2000 {
		took := ms
		if i >= 1000 { // smaller jobs, or more callers
			took = 10 * ms
		}
		l.learn(0, 13, took, ms)
	}
	if alone, full := l.singleTime(ms, 0), l.singleTime(ms, 13); alone > 2*ms || full < 9*ms || full > 11*ms {
		t.Errorf("takes %v alone and %v beside 13: %+v", alone, full, l)
	}
}

// Under load a device runs so many batches that spare of them are inside on average, and at least two.
func TestLanesByTimeInside(t *testing.T) {
	for _, c := range []struct {
		inside time.Duration // of the 1,000 µs of a batch; 0: not told
		want   int
	}{{0, 2}, {900 * us, 2}, {600 * us, 3}, {500 * us, 4}, {300 * us, 6}, {50 * us, 8}} {
		testneeds.Bubble(t, func(t *testing.T) {
			gpu := fake(0, "gpu", 8)
			running, most := 0, 0
			var mu sync.Mutex
			count := func(n int) {
				mu.Lock()
				defer mu.Unlock()
				running += n
				most = max(most, running)
			}
			gpu.Threshold = func(any) uint64 { return 1 << 20 }
			gpu.Run = func(_ context.Context, b *Batch) error {
				count(1)
				defer count(-1)
				time.Sleep(ms)
				b.Inside = c.inside
				return answer(b)
			}
			s := start(t, Options{MaxAge: time.Minute}, gpu)
			var group sync.WaitGroup
			for i := range 100 {
				group.Go(func() {
					time.Sleep(time.Duration(i) * 10 * us) // so that there are many batches
					for n := range 300 {
						if i == 0 && n == 200 {
							mu.Lock()
							most = 0
							mu.Unlock()
						}
						if err := s.Do(t.Context(), newJob(ms, ms)); err != nil {
							t.Error(err)
						}
					}
				})
			}
			group.Wait()
			if most != c.want {
				t.Errorf("%v inside: %d batches at a time, want %d", c.inside, most, c.want)
			}
		})
	}
}

// A device that does not tell the time inside is inside all the time, even if its batches take none.
func TestInsideOfNoTime(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		gpu := fake(0, "gpu", 8)
		gpu.Run = func(_ context.Context, b *Batch) error { return answer(b) }
		s := start(t, Options{Mode: Sync}, gpu)
		for range 20 {
			if err := s.Do(t.Context(), newJob(ms, ms)); err != nil {
				t.Fatal(err)
			}
		}
		if got := s.policy.(*cooperative).insideRatio[0]; got != 1 {
			t.Errorf("%v of the time inside", got)
		}
	})
}

// After many callers of the host, whose lanes disturb each other, a single query goes to the host again.
func TestAfterCallers(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		host, gpu := fake(0, "host", 2), fake(1, "gpu", 3)
		host.Singles = 14
		var now atomic.Int32
		host.Run = func(ctx context.Context, b *Batch) error {
			n := now.Add(1)
			defer now.Add(-1)
			time.Sleep(time.Duration(n) * b.Estimate)
			return answer(b)
		}
		s := start(t, Options{}, host, gpu)
		var group sync.WaitGroup
		for range 16 {
			group.Go(func() {
				for range 60 {
					j := newJob(20*us, -1)
					j.Mode = Async
					if err := s.Do(context.Background(), j); err != nil {
						t.Error(err)
					}
				}
			})
		}
		group.Wait()
		c := s.policy.(*cooperative)
		c.mode, c.changedAt = Sync, s.now() // after a rush
		for range 1000 {
			j := newJob(20*us, -1)
			j.Mode = Async
			ranOn(t, s, j, "host")
		}
		if alone := s.processors[0].capacity.alone; alone > 1.2 {
			t.Errorf("a job alone takes %.1f of its estimate", alone)
		}
		for range 10 {
			j := newJob(20*us, 100*us)
			j.Mode = Async
			ranOn(t, s, j, "host")
		}
	})
}

// TestModeNames: each mode has the name that ParseMode reads, and a wrong one has its number in errors.
func TestModeNames(t *testing.T) {
	for _, m := range Modes() {
		if got, err := ParseMode(m.String()); err != nil || got != m {
			t.Errorf("%v is read as %v, %v", m, got, err)
		}
	}
	if name := Mode(7).String(); name != "mode(7)" {
		t.Errorf("mode 7 is called %q", name)
	}
}
