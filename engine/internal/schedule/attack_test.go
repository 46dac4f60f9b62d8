package schedule

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"heddle/engine/file/mapped"
	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
)

// A stream that waits for a lane fails when the last processor is taken out: no block of
// it will ever be cut.
func TestStreamLosesItsProcessors(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		p := fake(0, "gpu", 1)
		lost := &plan.DeviceError{Kind: plan.ErrDeviceLost, Device: "gpu", Op: "run"}
		p.Run = func(context.Context, *Batch) error {
			time.Sleep(ms)
			return lost
		}
		s := start(t, Options{}, p)
		single := launch(s, newJob(ms))
		synctest.Wait()
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		err := s.DoAll(ctx, &blocks{left: []*Job{newJob(ms)}}, "", time.Time{})
		if !errors.Is(err, ErrNoProcessor) || !errors.Is(err, plan.ErrDeviceLost) {
			t.Errorf("a stream that no block was cut off: %v", err)
		}
		if err := <-single; !errors.Is(err, plan.ErrDeviceLost) {
			t.Error(err)
		}
	})
}

// A batch with claimed answers no longer counts as hung: a stream that delivers slowly is
// not the fault of the device.
func TestSlowDeliveryIsNoHang(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		p := fake(0, "gpu", 1)
		p.Run = func(_ context.Context, b *Batch) error {
			err := answer(b)
			time.Sleep(time.Minute) // delivers
			return err
		}
		s := start(t, Options{Hang: time.Second}, p)
		if err := s.DoAll(t.Context(), &blocks{left: []*Job{newJob(ms)}}, "", time.Time{}); err != nil {
			t.Error(err)
		}
		if out := s.Stats().Processors[0].Out; out != nil {
			t.Errorf("taken out: %v", out)
		}
	})
}

// A process that was stopped for a while finds all limits passed, of batches that had no
// time to end.
func TestStoppedProcessIsNoHang(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		p := fake(0, "gpu", 1)
		s := start(t, Options{Hang: time.Second}, p, fake(1, "host", 1))
		j := newJob(500*ms, 10*time.Second)
		end := launch(s, j)
		synctest.Wait()
		s.lock() // as if an hour had passed without anything having run
		for _, b := range s.processors[0].running {
			b.started, b.limit = b.started-time.Hour, b.limit-time.Hour
		}
		s.timerAt, s.tickedAt = s.timerAt-time.Hour, s.tickedAt-time.Hour
		s.timer.Reset(0)
		s.unlock()
		if err := <-end; err != nil || j.Trace.Processor != "gpu" {
			t.Errorf("%v, answered by %s", err, j.Trace.Processor)
		}
	})
}

// A job that no memory holds, asked over and over, does not take the last processor from
// others.
func TestLastProcessorStays(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		p := fake(0, "host", 1)
		p.Run = func(_ context.Context, b *Batch) error {
			for _, j := range b.Jobs {
				if j.Work.(*task).fail != nil {
					return &plan.DeviceError{Kind: plan.ErrOutOfMemory, Device: "host", Op: "run"}
				}
			}
			return answer(b)
		}
		s := start(t, Options{}, p)
		for range 5 {
			j := newJob(ms)
			j.Work.(*task).fail = errOwn
			if err := <-launch(s, j); !errors.Is(err, plan.ErrOutOfMemory) {
				t.Error(err)
			}
		}
		if err := <-launch(s, newJob(ms)); err != nil {
			t.Error(err)
		}
	})
}

// A batch that comes back at the moment when it counts as hung is waited for where it has
// claimed a job: the job has its answer, and no other batch writes one.
func TestComesBackAsItHangs(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		p := fake(0, "gpu", 1)
		back, claimed := make(chan struct{}), make(chan struct{})
		p.Run = func(_ context.Context, b *Batch) error {
			<-back
			if !b.Claim(0) {
				t.Error("given up already")
			}
			close(claimed)
			time.Sleep(ms)
			b.Jobs[0].Work.(*task).answers.Add(1)
			return nil
		}
		s := start(t, Options{Hang: time.Second, Event: func(e Event) {
			close(back)
			<-claimed
		}}, p, fake(1, "host", 1))
		j := newJob(ms, time.Second)
		if err := <-launch(s, j); err != nil || answers(j) != 1 {
			t.Errorf("%v, %d answers", err, answers(j))
		}
		if out := s.Stats().Processors[0].Out; !errors.Is(out, ErrHung) {
			t.Errorf("taken out: %v", out)
		}
	})
}

// A process that takes all cores leaves the second device its part of a stream: its host gives
// up cores, which do not count as work for the devices.
func TestBusyProcessLeavesDevices(t *testing.T) {
	cpu := time.Duration(0)
	h := fake(0, "host", 4)
	h.Threads = 16
	s := start(t, Options{Cores: 16, CPU: func() time.Duration { return cpu }}, h, fake(1, "gpu0", 4), fake(2, "gpu1", 4))
	c := &s.cores
	blocks := func() int {
		return s.blockSize(newStream(&known{left: 100_000, each: []time.Duration{10 * us, us, us + us/10}}, 3), s.processors[2])
	}
	before, now := blocks(), c.changedAt
	c.deviceBatches, c.hostCores = 1, 13
	for range 10 {
		now += 6 * ms
		cpu += 16 * 6 * ms
		c.advance(now)
	}
	if after := blocks(); before == 0 || after < before || c.free() > 16-13 {
		t.Errorf("%d blocks for the second device, %d before the process took all cores; %d cores free", after, before, c.free())
	}
}

// A processor that meets damage of a mapped file is not at fault, however often.
func TestFaultOfFile(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		gpu := fake(0, "gpu", 1)
		met := 0
		gpu.Run = func(context.Context, *Batch) error {
			met++
			time.Sleep(us)
			return &mapped.Fault{Err: errOwn}
		}
		s := start(t, Options{Mode: Async}, gpu, fake(1, "host", 1))
		for range 6 {
			if err := <-launch(s, newJob(ms, 50*ms)); err != nil {
				t.Error(err)
			}
		}
		if out := s.Stats().Processors[0].Out; out != nil || met < 6 {
			t.Errorf("behind %d faults: %v", met, out)
		}
	})
}
