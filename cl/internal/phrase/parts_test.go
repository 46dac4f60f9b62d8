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

// TestPartsTogether waits for the rounds of two parts at the same time.
func TestPartsTogether(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	d := devicetest.Find(t, ops)
	row, met := d.Tuning(), make(chan struct{})
	row.Slots = 2
	var armed atomic.Bool
	var waits atomic.Int32
	meet := func(step string) error {
		if step != "wait" || !armed.Load() {
			return nil
		}
		if waits.Add(1) == 2 {
			close(met)
		}
		select {
		case <-met:
			return nil
		case <-time.After(10 * time.Second):
			return errors.New("no other part is under way")
		}
	}
	rt, err := device.Open(t.Context(), d, device.Options{Tuning: &row, SkipSelfTest: true, Fault: meet})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	m, err := openOn(t.Context(), rt, sourceOf(t, positionsOf(generators["one"])))
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	all := drawn(partLen + 1)
	if _, err := m.run(t.Context(), all[:1], new(plan.Stats)); err != nil {
		t.Fatal(err)
	}
	armed.Store(true)
	if _, err := m.run(t.Context(), all, new(plan.Stats)); err != nil {
		t.Error(err)
	}
}
