package schedule

import (
	"testing"
	"testing/synctest"

	"heddle/engine/plan/testneeds"
)

// A job that must wait for cores is expected to get all that it can use: it waits for a host that ends it
// sooner than a free device.
func TestWaitsForCores(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		busy, host, gpu := fake(0, "gpu0", 1), fake(1, "host", 4), fake(2, "gpu1", 1)
		host.Threads = 4
		s := start(t, Options{Mode: Async, Cores: 5}, busy, host, gpu)
		ends := []<-chan error{launch(s, newJob(20*ms, -1, -1)), launch(s, newJob(20*ms, ms, -1))} // on all cores
		synctest.Wait()
		j := newJob(-1, ms, 3*ms)
		for _, end := range append(ends, launch(s, j)) {
			if err := <-end; err != nil {
				t.Error(err)
			}
		}
		if r := j.Trace; r.Processor != "host" || r.Queued != ms || r.Ran != ms {
			t.Errorf("ends after 2 ms on the host, 3 on the device: %+v", r)
		}
	})
}
