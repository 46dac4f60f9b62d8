package schedule

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"heddle/engine/plan/testneeds"
)

func TestAsyncTakesWhatEndsFirst(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		device, host := fake(0, "gpu", 1), fake(1, "host", 1)
		host.Inline = true
		s := start(t, Options{Mode: Async}, device, host)
		for _, c := range []struct {
			device, host time.Duration
			name         string
			class        Class
		}{
			{10 * ms, 2 * ms, "host", Host}, {2 * ms, 10 * ms, "gpu", Device},
			{10 * ms, 9 * ms, "host", Either}, {9 * ms, 10 * ms, "gpu", Either},
			{-1, 9 * ms, "host", Host}, {9 * ms, -1, "gpu", Device},
		} {
			j := newJob(c.device, c.host)
			begin := time.Now()
			if err := s.Do(context.Background(), j); err != nil {
				t.Fatal(err)
			}
			best := min(c.device, c.host)
			if best < 0 {
				best = max(c.device, c.host)
			}
			r := j.Trace
			if r.Processor != c.name || r.Class != c.class || r.Mode != Async || r.Batch != 1 || r.Attempts != 1 ||
				r.Queued != 0 || r.Ran != best || r.Estimate != best || time.Since(begin) != best || answers(j) != 1 {
				t.Errorf("%+v: %+v, %d answers after %v", c, r, answers(j), time.Since(begin))
			}
		}
	})
}

// The faster processor is busy: the slower one takes the job if it ends it first.
func TestAsyncWaitsWhereItEndsFirst(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		s := start(t, Options{Mode: Async}, fake(0, "gpu", 1), fake(1, "host", 1))
		long := launch(s, newJob(20*ms, 100*ms))
		synctest.Wait()
		a, b, c := newJob(5*ms, 23*ms), newJob(5*ms, 60*ms), newJob(5*ms, 60*ms)
		ends := []<-chan error{long}
		for _, j := range []*Job{a, b, c} {
			ends = append(ends, launch(s, j))
			synctest.Wait()
		}
		for _, end := range ends {
			if err := <-end; err != nil {
				t.Error(err)
			}
		}
		if a.Trace.Processor != "host" || a.Trace.Queued != 0 {
			t.Errorf("ends after 23 ms on the host, 25 on the device: %+v", a.Trace)
		}
		if b.Trace.Processor != "gpu" || b.Trace.Queued != 20*ms || c.Trace.Processor != "gpu" || c.Trace.Queued != 25*ms {
			t.Errorf("waits for the device: %+v, %+v", b.Trace, c.Trace)
		}
	})
}
