package cl

import (
	"sync"
	"testing"

	"heddle/cl/internal/device"
	"heddle/cl/internal/device/devicetest"
	"heddle/engine/plan"
)

// TestLittleOfALargeDevice limits the memory of a device that reports the memory and the slots
// of a large GPU. Concurrent callers with queries of every kind all get answers.
func TestLittleOfALargeDevice(t *testing.T) {
	d, tuning := devicetest.Find(t, everything), devicetest.FewTiles(devicetest.Find(t, everything))
	d = d.With(func(i *plan.Info, _ *device.Tuning) { i.Memory, i.MaxAlloc = 141<<30, 35<<30 })
	tuning.Slots = 16
	l := newLoad(t, 60, 80)
	for _, c := range []struct {
		mib    uint64
		cached bool
	}{{300, false}, {50, false}, {46, false}, {300, true}, {150, true}} {
		limit := c.mib << 20
		b, err := device.Open(t.Context(), d, device.Options{Tuning: &tuning, SkipSelfTest: true, MemoryLimit: limit})
		if err != nil {
			t.Fatal(err)
		}
		var s plan.Store
		if c.cached {
			s, err = loadCached(t.Context(), b, l.src, limit)
		} else {
			s, err = load(t.Context(), b, l.src)
		}
		if err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		var wg sync.WaitGroup
		for caller := range 6 {
			wg.Go(func() {
				for round := range 3 {
					if err := l.ask(devicetest.Limited(t), t, s, caller+round); err != nil {
						t.Errorf("%+v, caller %d, round %d: %v", c, caller, round, err)
					}
				}
			})
		}
		wg.Wait()
		if n := s.Memory(); n > limit || n != b.Memory.InUse() {
			t.Errorf("%+v: memory of %d bytes, %d are reserved", c, n, b.Memory.InUse())
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if n := b.Memory.InUse(); n != 0 {
			t.Errorf("%+v: %d bytes are still reserved", c, n)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}
