package schedule

import (
	"testing"
	"testing/synctest"
	"time"

	"heddle/engine/plan/testneeds"
)

func TestSyncClosesBatches(t *testing.T) {
	for _, c := range []struct {
		name   string
		jobs   int
		load   uint64
		left   time.Duration // of the deadline of the last; 0 is none
		queued time.Duration // of the first
		batch  int
	}{
		{name: "threshold", jobs: 8, load: 1, batch: 8},
		{name: "threshold, large jobs", jobs: 3, load: 3, batch: 3},
		{name: "age", jobs: 4, load: 1, queued: ms, batch: 4},
		{name: "urgent", jobs: 4, load: 1, left: 1500 * us, queued: 350 * us, batch: 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			testneeds.Bubble(t, func(t *testing.T) {
				p := fake(0, "gpu", 1)
				s := start(t, Options{Mode: Sync}, p)
				var jobs []*Job
				var errs []<-chan error
				for i := range c.jobs {
					j := newJob(100 * us)
					j.Work.(*task).added = []time.Duration{10 * us}
					j.Load = c.load
					if i == c.jobs-1 && c.left > 0 {
						j.Deadline = time.Now().Add(c.left)
					}
					jobs, errs = append(jobs, j), append(errs, launch(s, j))
					synctest.Wait()
				}
				for i, e := range errs {
					if err := <-e; err != nil {
						t.Error(err)
					}
					r := jobs[i].Trace
					if r.Queued != c.queued || r.Batch != c.batch || r.Mode != Sync || answers(jobs[i]) != 1 ||
						r.Estimate != time.Duration(c.batch)*10*us {
						t.Errorf("job %d: %+v, %d answers", i, r, answers(jobs[i]))
					}
				}
			})
		})
	}
}

// A processor without work does not wait for a batch to fill, unless Sync was asked for.
func TestSyncWithoutWork(t *testing.T) {
	for _, c := range []struct {
		opt, job Mode
		queued   time.Duration
	}{{Auto, Auto, 0}, {Auto, Sync, ms}, {Sync, Auto, ms}} {
		testneeds.Bubble(t, func(t *testing.T) {
			s := start(t, Options{Mode: c.opt, Hold: time.Hour}, fake(0, "gpu", 1))
			for range 100 { // a load that makes Auto Sync, which stays
				if err := s.Do(t.Context(), newJob(2*ms)); err != nil {
					t.Fatal(err)
				}
			}
			j := newJob(100 * us)
			j.Mode = c.job
			if err := s.Do(t.Context(), j); err != nil {
				t.Fatal(err)
			}
			if j.Trace.Mode != Sync || j.Trace.Queued != c.queued {
				t.Errorf("%v, job %v: %+v", c.opt, c.job, j.Trace)
			}
		})
	}
}

// Jobs that a batch leaves behind count by their own age, though the timer fired while the
// processor was busy with earlier jobs.
func TestLeftoversGrowOld(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		p := fake(0, "gpu", 1)
		p.Threshold = func(any) uint64 { return 2 }
		s := start(t, Options{Mode: Sync, MaxAge: 10 * ms}, p)
		began := time.Now()
		var ends []<-chan error
		for i, cost := range []time.Duration{6 * ms, 6 * ms, ms, ms, 0} { // the first two until 12 ms
			if i == 4 {
				time.Sleep(5 * ms)
			}
			ends = append(ends, launch(s, newJob(cost)))
			synctest.Wait()
		}
		for _, c := range ends {
			if err := <-c; err != nil {
				t.Error(err)
			}
		}
		if took := time.Since(began); took < 15*ms || took > 16*ms {
			t.Errorf("the last has ended after %v, it came after 5ms and is old after 10ms more", took)
		}
	})
}
