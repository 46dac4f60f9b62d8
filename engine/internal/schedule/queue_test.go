package schedule

import (
	"cmp"
	"context"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
)

// TestLink: the jobs of a queue lie by arrival, and jobs that arrived at one time in the order of their coming.
func TestLink(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q classQueue
		var want []*Job
		for range rapid.IntRange(1, 12).Draw(t, "jobs") {
			j := &Job{jobState: jobState{arrived: time.Duration(rapid.IntRange(0, 6).Draw(t, "arrived"))}}
			q.link(j)
			want = append(want, j)
			if len(want) > 3 && rapid.Bool().Draw(t, "unlink") {
				i := rapid.IntRange(0, len(want)-1).Draw(t, "place")
				q.unlink(want[i])
				want = slices.Delete(want, i, i+1)
			}
			slices.SortStableFunc(want, func(a, b *Job) int { return cmp.Compare(a.arrived, b.arrived) })
			var got, back []*Job
			for j := q.first; j != nil; j = j.next {
				got = append(got, j)
			}
			for j := q.last; j != nil; j = j.prev {
				back = append(back, j)
			}
			if slices.Reverse(back); !slices.Equal(got, want) || !slices.Equal(back, want) {
				t.Fatalf("the jobs lie in another order")
			}
		}
	})
}

// TestVirtualStart: a caller without jobs and streams begins at the virtual time, unless it was served ahead of it; each
// job moves a caller, also one without a cost.
func TestVirtualStart(t *testing.T) {
	for name, want := range map[string]time.Duration{"behind": 10, "ahead": 30, "queued": 3, "streams": 3, "stranger": 10} {
		f := clients{callers: map[string]*caller{
			"behind": {virtualStart: 3}, "ahead": {virtualStart: 30}, "queued": {virtualStart: 3, queuedJobs: 1}, "streams": {virtualStart: 3, streams: 1},
		}, pruneAt: minCallers, virtualTime: 10}
		c := f.callerNamed(name)
		for _, cost := range []time.Duration{0, 1, 7} {
			if c.virtualStart != want {
				t.Errorf("%s begins at %d, want %d", name, c.virtualStart, want)
			}
			f.charge(c, cost)
			want += max(cost, 1)
		}
	}
}

// TestTakeOutEndsRun: a job on its caller's goroutine ends where its processor is taken out, and goes on elsewhere; a job
// whose answer is being written goes on where it is.
func TestTakeOutEndsRun(t *testing.T) {
	for _, claimed := range []bool{false, true} {
		testneeds.Bubble(t, func(t *testing.T) {
			gpu := fake(0, "gpu", 1)
			gpu.Inline = true
			gpu.Run = func(ctx context.Context, b *Batch) error {
				if claimed {
					b.Claim(0)
				}
				if !sleep(ctx, 900*ms) {
					return ctx.Err()
				}
				b.Jobs[0].Work.(*task).answers.Add(1)
				return nil
			}
			s := start(t, Options{Mode: Async}, gpu, fake(1, "host", 1))
			j := newJob(ms, 20*ms)
			end, began := launch(s, j), time.Now()
			time.Sleep(us)
			s.takeOut(0, errOwn)
			name, took := "host", us+20*ms
			if claimed {
				name, took = "gpu", 900*ms
			}
			if err := <-end; err != nil || j.Trace.Processor != name || answers(j) != 1 || time.Since(began) != took {
				t.Errorf("claimed %t, after %v: %v, %d answers, %+v", claimed, time.Since(began), err, answers(j), j.Trace)
			}
		})
	}
}

// TestRestoreForgets: failures before Restore do not count with failures after it.
func TestRestoreForgets(t *testing.T) {
	for name, failure := range map[string]error{"memory": &plan.DeviceError{Kind: plan.ErrOutOfMemory, Device: "gpu", Op: "run"}, "own": errOwn} {
		testneeds.Bubble(t, func(t *testing.T) {
			gpu := fake(0, "gpu", 1)
			gpu.Run = func(context.Context, *Batch) error { return failure }
			s := start(t, Options{Mode: Sync}, gpu, fake(1, "host", 1))
			fail := func(times int) error {
				for range times {
					if j := newJob(ms, 20*ms); s.Do(t.Context(), j) != nil || j.Trace.Processor != "host" {
						t.Errorf("%s: %+v", name, j.Trace)
					}
				}
				return s.Stats().Processors[0].Out
			}
			for range 3 {
				if out := fail(2); out != nil {
					t.Errorf("%s: out after two failures in a row: %v", name, out)
				}
				s.takeOut(0, errOwn)
				s.Restore(0)
			}
			if out := fail(3); out == nil {
				t.Errorf("%s: three failures in a row are allowed", name)
			}
		})
	}
}
