package schedule

import (
	"context"
	"errors"
	"testing"

	"heddle/engine/plan"
)

// TestReserve: a reserve runs no job that another processor can run, however fast it is; it
// runs jobs that the others cannot run, and all jobs when the others are removed. A restored
// processor works again.
func TestReserve(t *testing.T) {
	device, host := fake(0, "device", 1), fake(1, "host", 1)
	host.Reserve = true
	s := start(t, Options{}, device, host)
	ask := func(want string, jobs ...*Job) {
		t.Helper()
		for _, j := range jobs {
			if err := s.Do(context.Background(), j); err != nil || j.Trace.Processor != want || answers(j) != 1 {
				t.Errorf("ran on %q, want %q: %v", j.Trace.Processor, want, err)
			}
		}
	}
	ask("device", newJob(2*ms, us), newJob(2*ms, us))
	ask("host", newJob(-1, us))
	ask("device", newJob(2*ms, us))
	many := make([]*Job, 20)
	var done []<-chan error
	for i := range many {
		many[i] = newJob(ms, us)
		done = append(done, launch(s, many[i]))
	}
	for i, d := range done {
		if err := <-d; err != nil || many[i].Trace.Processor != "device" {
			t.Errorf("job %d ran on %q: %v", i, many[i].Trace.Processor, err)
		}
	}
	s.TakeOut(0, plan.ErrDeviceLost)
	ask("host", newJob(2*ms, us), newJob(2*ms, us))
	if out := s.Stats().Processors[0].Out; !errors.Is(out, plan.ErrDeviceLost) {
		t.Errorf("removed: %v", out)
	}
	s.Restore(0)
	s.Restore(0)
	ask("device", newJob(2*ms, us))
}
