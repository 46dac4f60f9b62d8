package phrase

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"heddle/cl/internal/device"
	"heddle/cl/internal/device/devicetest"
	"heddle/engine/plan"
)

// TestParts makes the lists of a batch of several parts: alone, for two callers at a time, with a failure in each round, and for a caller that does
// not wait. The slots stay whole. The statistics are the sums of the parts'.
func TestParts(t *testing.T) {
	d := devicetest.Find(t, ops)
	rt, faults := devicetest.OpenFaulty(t, d, d.Tuning())
	at, all := positionsOf(generators["one"]), drawn(partLen+1)
	m, err := openOn(t.Context(), rt, sourceOf(t, at))
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	var sum plan.Stats
	for part := range slices.Chunk(all, partLen) {
		if _, err := m.run(t.Context(), part, &sum); err != nil {
			t.Fatal(err)
		}
	}
	both := func() {
		var callers sync.WaitGroup
		var made [2][]*plan.Made
		for i := range made {
			callers.Go(func() {
				var st plan.Stats
				var err error
				if made[i], err = m.run(t.Context(), all, &st); err != nil {
					t.Error(err)
				}
				if st.Wall = sum.Wall; st != sum {
					t.Errorf("statistics %+v, of the parts %+v", st, sum)
				}
			})
		}
		callers.Wait()
		for _, some := range made {
			makesAll(t, at, all, func(i int) *plan.Made { return some[i] })
		}
	}
	both()
	for n := 1; n <= 2; n++ {
		faults.Arm("enqueue", n, errors.New("no place"))
		_, err := m.run(t.Context(), all, new(plan.Stats))
		faults.Met(t, "enqueue", n, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.run(ctx, all, new(plan.Stats)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	both()
}

// TestPartsTogether makes three parts with three slots: the rounds of two at the same time, and the third slot is left to other callers.
func TestPartsTogether(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	d := devicetest.Find(t, ops)
	row, met, left := d.Tuning(), make(chan struct{}), make(chan struct{})
	row.Slots = 3
	var armed atomic.Bool
	var waits atomic.Int32
	hold := func(step string) error {
		if step == "wait" && armed.Load() {
			if waits.Add(1) == 2 {
				close(met)
			}
			<-left
		}
		return nil
	}
	rt, err := device.Open(t.Context(), d, device.Options{Tuning: &row, SkipSelfTest: true, Fault: hold})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	m, err := openOn(t.Context(), rt, sourceOf(t, positionsOf(generators["one"])))
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	all := drawn(2*partLen + 1)
	if _, err := m.run(t.Context(), all[:1], new(plan.Stats)); err != nil {
		t.Fatal(err)
	}
	armed.Store(true)
	var batch sync.WaitGroup
	batch.Go(func() {
		if _, err := m.run(t.Context(), all, new(plan.Stats)); err != nil {
			t.Error(err)
		}
	})
	select {
	case <-met:
		time.Sleep(50 * time.Millisecond) // in which the third part would take the last slot
	case <-time.After(20 * time.Second):
		t.Error("no two parts are under way")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	x, err := m.free.Take(ctx, m.set.Closing, m.newSlot)
	if err != nil {
		t.Errorf("no slot is left: %v", err)
	} else {
		x.giveBack()
	}
	close(left)
	batch.Wait()
}
