package schedule

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"heddle/engine/plan/testneeds"
)

// Of starvationTurns batches one serves a small job that starves, although a single other batch takes as much time
// as starvationTurns of them.
func TestStarvingJobsTakeTurns(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		var o order
		s := start(t, Options{Mode: Async}, o.watch(fake(0, "gpu", 1)))
		s.lock()
		s.callerNamed("ahead").virtualStart = time.Hour // its turn never comes
		s.unlock()
		small := jobsOf("ahead", 4, ms)
		runAll(t, s, slices.Concat(jobsOf("", 1, ms), small, jobsOf("", 60, 100*ms)))
		if o.place(small[0]) > 30 {
			t.Errorf("the first one is in place %d", o.place(small[0]))
		}
		for i, j := range small[1:] {
			if n := o.place(j) - o.place(small[i]); n != starvationTurns {
				t.Errorf("%d batches after the one before it", n)
			}
		}
	})
}

// Of a job and a call that starve, the older one is served first.
func TestOlderOfJobAndCall(t *testing.T) {
	for _, callFirst := range []bool{false, true} {
		testneeds.Bubble(t, func(t *testing.T) {
			var o order
			s := start(t, Options{Mode: Async}, o.watch(fake(0, "gpu", 1)))
			s.lock()
			s.callerNamed("ahead").virtualStart = time.Hour // its turn never comes
			s.unlock()
			first := launch(s, newJob(ms))
			synctest.Wait()
			job, calls := jobsOf("ahead", 1, ms)[0], &blocks{left: jobsOf("", 1, ms)}
			ends := []func() error{
				func() error { return s.Do(t.Context(), job) },
				func() error { return s.DoAll(t.Context(), calls, "ahead", time.Time{}) },
			}
			if callFirst {
				slices.Reverse(ends)
			}
			end := make(chan error, len(ends))
			for _, do := range ends {
				go func() { end <- do() }()
				time.Sleep(us)
			}
			runAll(t, s, jobsOf("", 50, 100*ms))
			for _, c := range []<-chan error{first, end, end} {
				if err := <-c; err != nil {
					t.Error(err)
				}
			}
			if a, b := o.place(job), o.place(calls.cut[0]); (b < a) != callFirst || max(a, b) > 40 {
				t.Errorf("the call came first: %v; the job is in place %d, the block in place %d", callFirst, a, b)
			}
		})
	}
}

// A host takes a block of a call although all cores are taken, if the call starves.
func TestHostServesStarvingCall(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		host := fake(0, "host", 2)
		host.Threads = 2
		s := start(t, Options{Cores: 2}, host, fake(1, "gpu", 1))
		s.cores.hostCores = 2
		st := newStream(&known{left: 100_000, each: []time.Duration{20 * us, 10 * us}}, 2)
		for _, at := range []time.Duration{0, starvationLimit - 1, starvationLimit} {
			time.Sleep(at - s.now())
			if n := s.blockSize(st, s.processors[0]); (n > 0) != (at >= starvationLimit) {
				t.Errorf("after %v: a block of %d queries", at, n)
			}
		}
		s.cores.hostCores = 0
	})
}

// Failures before a success or a restoration do not count after it, where their jobs are answered elsewhere only then.
func TestOddErrorsOfOldDoNotCount(t *testing.T) {
	for _, restored := range []bool{false, true} {
		testneeds.Bubble(t, func(t *testing.T) {
			gpu := fake(0, "gpu", 1)
			var works atomic.Bool
			gpu.Run = func(_ context.Context, b *Batch) error {
				if !works.Load() {
					return errOwn
				}
				return answer(b)
			}
			s := start(t, Options{Mode: Async}, gpu, fake(1, "host", maxSuspectFailures))
			var ends []<-chan error
			run := func(onHost time.Duration) {
				ends = append(ends, launch(s, newJob(ms, onHost)))
				time.Sleep(us)
			}
			for range maxSuspectFailures - 1 {
				run(time.Second)
			}
			if restored {
				run(time.Second)
				s.takeOut(0, errOwn)
				s.Restore(0)
			} else {
				works.Store(true)
				run(20 * ms)
				works.Store(false)
				run(20 * ms)
			}
			for _, end := range ends {
				if err := <-end; err != nil {
					t.Error(err)
				}
			}
			if out := s.Stats().Processors[0].Out; out != nil {
				t.Errorf("restored %v: it is out: %v", restored, out)
			}
		})
	}
}

// The time of a batch that fails does not count for the batch beside it, which waits for it inside the device.
func TestFailedBatchTakesItsTime(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		gpu, runs := fake(0, "gpu", 2), atomic.Int32{}
		turn := make(chan struct{}, 1)
		gpu.Run = func(_ context.Context, b *Batch) error {
			fails := runs.Add(1) == 1
			turn <- struct{}{}
			defer func() { <-turn }()
			if fails {
				time.Sleep(100 * ms)
				return errOwn
			}
			time.Sleep(b.Estimate)
			return answer(b)
		}
		s := start(t, Options{Mode: Sync}, gpu, fake(1, "host", 1))
		ends := []<-chan error{launch(s, newJob(10*ms, time.Second))}
		time.Sleep(2 * ms) // the first batch is closed by age
		ends = append(ends, launch(s, newJob(10*ms, -1)))
		for _, end := range ends {
			if err := <-end; err != nil {
				t.Error(err)
			}
		}
		if f := s.processors[0].capacity.batchFactor; f != 1 {
			t.Errorf("its batches are thought to take %.2f times their estimates", f)
		}
	})
}

// A processor runs a job of its own class before one of either class, which is older and smaller. One of either class
// that has waited for patience times its own time goes first.
func TestOwnClassGoesFirst(t *testing.T) {
	for _, policy := range []string{"ding", "cooperative"} {
		for hold, ownFirst := range map[time.Duration]bool{10 * ms: true, 30 * ms: false} {
			testneeds.Bubble(t, func(t *testing.T) {
				var o order
				s := start(t, Options{Policy: policy, Mode: Async}, o.watch(fake(0, "gpu", 1)), fake(1, "host", 1))
				either, own := newJob(5*ms, 5*ms), newJob(10*ms, time.Second)
				runAll(t, s, []*Job{newJob(hold, -1), newJob(-1, time.Second), either, own})
				if either.Trace.Class != Either || own.Trace.Class != Device {
					t.Fatalf("classes %v and %v", either.Trace.Class, own.Trace.Class)
				}
				if first := o.place(own) < o.place(either); first != ownFirst {
					t.Errorf("%s, after %v: its own job goes first: %v", policy, hold, first)
				}
			})
		}
	}
}

// A device whose batches were slow gets jobs with deadlines again after a pause.
func TestSlowDeviceRecovers(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		s := start(t, Options{Mode: Sync}, fake(0, "gpu", 1), fake(1, "host", 1))
		for range 200 {
			s.processors[0].capacity.learnBatch(0, time.Second, ms)
		}
		run := func() string {
			j := newJob(ms, 2*ms)
			j.Deadline = time.Now().Add(10 * ms)
			if err := s.Do(t.Context(), j); err != nil {
				t.Error(err)
			}
			return j.Trace.Processor
		}
		if p := run(); p != "host" {
			t.Errorf("a slow device ends in time: it ran on %s", p)
		}
		for range 60 {
			time.Sleep(forgetAfter)
			s.Stats()
		}
		if p := run(); p != "gpu" {
			t.Errorf("after a minute it ran on %s", p)
		}
	})
}

// One batch, however long it took, moves the factor of batch times by little. So does one whose end was noted after
// the end of a later one.
func TestOneBatchTeachesLittle(t *testing.T) {
	for took, want := range map[time.Duration]float64{-time.Hour: 15. / 16, 0: 15. / 16, ms: 1, time.Hour: 1 + 3./16} {
		c := newCapacity(1, false)
		if c.learnBatch(0, took, ms); c.batchFactor != want {
			t.Errorf("%v: %v, want %v", took, c.batchFactor, want)
		}
	}
}

// A call of which a block waits for another processor cuts no further block.
func TestWaitingBlockHoldsItsCall(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		s := start(t, Options{}, fake(0, "gpu", 1), fake(1, "host", 1))
		calls, end := &blocks{left: jobsOf("", 6, -1, 10*ms)}, make(chan error, 1)
		go func() { end <- s.DoAll(t.Context(), calls, "", time.Time{}) }()
		time.Sleep(5 * ms)
		s.lock()
		if n := len(calls.cut); n != 2 {
			t.Errorf("%d blocks are cut while one runs", n)
		}
		s.unlock()
		if err := <-end; err != nil {
			t.Error(err)
		}
	})
}

// A job that runs once more finds its place from the nearer end of a long queue: no search passes the middle.
func TestLinkSearchesFromNearerEnd(t *testing.T) {
	at := func(arrived time.Duration) *Job { return &Job{jobState: jobState{arrived: arrived}} }
	var q classQueue
	for arrived := range time.Duration(5) {
		q.link(at(10 * arrived))
	}
	middle := q.first.next.next
	middle.prev, middle.next = nil, nil // a search that comes here goes astray
	old, young := at(5), at(35)
	q.link(old)
	q.link(young)
	if q.first.next != old || old.prev != q.first || q.last.prev != young || young.next != q.last {
		t.Error("a search has passed the middle")
	}
}

// Jobs of several classes that came at one time wait in the order of their coming once a processor is taken out.
func TestTakeOutKeepsTheOrder(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		s := start(t, Options{Mode: Async}, fake(0, "gpu", 1), fake(1, "host", 1))
		jobs := jobsOf("", 2, time.Second, time.Second) // one on each processor
		for range 12 {
			jobs = append(jobs, newJob(ms, 20*ms), newJob(20*ms, ms), newJob(ms, ms))
		}
		var ends []<-chan error
		for _, j := range jobs {
			if ends = append(ends, launch(s, j)); len(ends) < 3 {
				time.Sleep(us)
			}
			synctest.Wait()
		}
		s.takeOut(0, errOwn)
		s.lock()
		n := 0
		for j := s.nonEmpty[0].queues[Host].first; j != nil && j.next != nil; j = j.next {
			if n++; j.seq > j.next.seq {
				t.Errorf("number %d is before number %d", j.seq, j.next.seq)
			}
		}
		if n < 30 {
			t.Errorf("%d jobs wait", n)
		}
		s.unlock()
		for _, end := range ends {
			if err := <-end; err != nil {
				t.Error(err)
			}
		}
	})
}

// A goroutine that leaves the lock returns after maxInboxRounds, although each round brings a further job.
func TestUnlockReturns(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		var s *Scheduler
		var posted []*Job
		returned := make(chan struct{})
		post := func() {
			j := newJob(ms)
			j.done = make(chan struct{}, 1)
			s.prepare(j)
			posted = append(posted, j)
			s.inbox.Store(j)
		}
		arrives := func() { // called under the lock
			switch {
			case s.inbox.Load() != nil || len(posted) == 3*maxInboxRounds:
			case len(posted) == 2*maxInboxRounds:
				select {
				case <-returned:
				case <-time.After(time.Second):
					t.Error("it goes on")
				}
				fallthrough
			default:
				post()
			}
		}
		s = start(t, Options{Mode: Sync}, fake(0, "gpu", 1))
		s.lock()
		s.policy = placing{s.policy, arrives}
		post()
		s.unlock()
		close(returned)
		synctest.Wait()
		for _, j := range posted {
			<-j.done
			j.wakeGroup()
		}
		if len(posted) != 3*maxInboxRounds {
			t.Errorf("%d jobs came", len(posted))
		}
	})
}

// placing is a policy that calls a function for each job that arrives.
type placing struct {
	Policy
	arrives func()
}

func (p placing) Place(j *Job, v *view) *processor {
	p.arrives()
	return p.Policy.Place(j, v)
}
