package schedule

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"heddle/engine/plan/testneeds"
)

// The cores that feed a device are measured while jobs wait. A job that suits the host when it arrives
// may suit no processor by the price of a core later. It still runs.
func TestJobRunsAtAnyPriceOfCores(t *testing.T) {
	for _, mode := range Modes() {
		testneeds.Bubble(t, func(t *testing.T) {
			host := fake(0, "host", 2)
			host.Threads = 2
			s := start(t, Options{Mode: mode, Cores: 2}, host, fake(1, "gpu", 1))
			own, device := newJob(10*ms, -1), newJob(-1, 10*ms)
			first, second := launch(s, own), launch(s, device)
			time.Sleep(2 * ms) // then the host has one core, and the device is fed by the other one
			waits := newJob(10*us, 90*us)
			waits.Work.(*task).added = []time.Duration{5 * us, 14 * us}
			third := launch(s, waits)
			synctest.Wait()
			s.lock()
			if s.queued != [3]int{Host: 1} {
				t.Errorf("%v jobs wait", s.queued)
			}
			s.cores.feedCores = 2
			s.unlock()
			for _, done := range []<-chan error{first, second, third} {
				if err := <-done; err != nil {
					t.Error(err)
				}
			}
			if waits.Trace.Queued > 11*ms {
				t.Errorf("%v: it waited for %v", mode, waits.Trace.Queued)
			}
		})
	}
}

// A device that always has work, and that all cores feed, leaves none to the host. A job and a call that
// suit the host get cores after a while.
func TestHostWaitsForCoresForAWhile(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		host := fake(0, "host", 2)
		host.Threads = 2
		s := start(t, Options{Cores: 2, Mode: Async}, host, fake(1, "gpu", 1))
		s.cores.feedCores = 2
		var device sync.WaitGroup
		for range 50 {
			device.Go(func() {
				if err := s.Do(t.Context(), newJob(-1, 200*ms)); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		began := time.Now()
		var others sync.WaitGroup
		others.Go(func() {
			j := newJob(50*us, 90*us)
			if err := s.Do(t.Context(), j); err != nil || time.Since(began) > starvationLimit+300*ms {
				t.Errorf("error %v, %v: %+v", err, time.Since(began), j.Trace)
			}
		})
		others.Go(func() {
			calls := &blocks{left: []*Job{newJob(ms, -1)}}
			if err := s.DoAll(t.Context(), calls, "other", time.Time{}); err != nil || time.Since(began) > starvationLimit+300*ms {
				t.Errorf("error %v, %v", err, time.Since(began))
			}
		})
		others.Wait()
		device.Wait()
	})
}

// A block of the host is as large as its cores allow, and the device that begins with it keeps one.
func TestBlockFitsItsCores(t *testing.T) {
	host := fake(0, "host", 2)
	host.Threads = 16
	s := start(t, Options{Cores: 16}, host, fake(1, "gpu", 2))
	st := newStream(&known{left: 10_000, each: []time.Duration{30 * us, 20 * us}}, 2)
	if n := s.blockCores(st); n != 15 {
		t.Errorf("%d threads beside a device that is about to begin", n)
	}
	s.cores.deviceBatches = 1
	many := s.blockSize(st, s.processors[0])
	s.cores.hostCores = 13
	if few := s.blockSize(st, s.processors[0]); s.blockCores(st) != 2 || few < many/10 || few > many/5 {
		t.Errorf("a block of %d queries for 15 threads, of %d for %d threads", many, few, s.blockCores(st))
	}
}
