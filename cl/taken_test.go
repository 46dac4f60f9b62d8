package cl

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/device"
	"heddle/cl/internal/device/devicetest"
	"heddle/engine/plan"
)

// takenDevice is a device with 1 GiB for stores, of which other processes take all but room: its driver
// refuses buffers beyond that.
type takenDevice struct {
	*device.Runtime
	room    atomic.Uint64 // bytes
	refused atomic.Uint64 // attempts
}

func newTakenDevice(t *testing.T) *takenDevice {
	t.Helper()
	d := devicetest.Find(t, everything)
	row := devicetest.FewTiles(d)
	row.Slots = 2
	var x takenDevice
	x.room.Store(1 << 30)
	rt, err := device.Open(t.Context(), d, device.Options{Tuning: &row, SkipSelfTest: true, MemoryLimit: 1 << 30, Fault: func(step string) error {
		if strings.HasPrefix(step, "allocate") && x.Memory.InUse() > x.room.Load() {
			x.refused.Add(1)
			return ocl.ErrMemObjectAllocationFailure
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	x.Runtime = rt
	t.Cleanup(func() {
		if n := rt.Memory.InUse(); n != 0 {
			t.Errorf("%d bytes are still reserved", n)
		}
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	})
	rt.Memory.Calm = time.Hour
	return &x
}

// TestTakenMemoryOfCache makes a cache on a device with less memory than expected, and then with none left. All
// answers are exact. The budget rises again with the memory.
func TestTakenMemoryOfCache(t *testing.T) {
	d, l := newTakenDevice(t), newLoad(t, 20, 20)
	load := func() (s plan.CachedStore) {
		t.Helper()
		s, err := loadCached(t.Context(), d.Runtime, l.src, 0)
		if err != nil {
			t.Fatal(err)
		}
		for kind := range 3 {
			if err := l.ask(devicetest.Limited(t), t, s, kind); err != nil {
				t.Errorf("kind %d: %v", kind, err)
			}
		}
		return s
	}
	large := load()
	whole := large.Memory()
	if err := large.Close(); err != nil {
		t.Fatal(err)
	}
	d.room.Store(whole / 3)
	s := load()
	if n, limit := s.Memory(), d.Memory.Size(); d.refused.Load() == 0 || n > whole/3 || n < whole/8 || limit < n || limit > whole {
		t.Errorf("%d bytes of %d, a limit of %d, %d buffers were refused", n, whole, limit, d.refused.Load())
	}
	d.room.Store(0) // the cache has its memory
	if _, err := d.LoadWords(t.Context(), make([]uint32, 100), "words"); !errors.Is(err, plan.ErrOutOfMemory) {
		t.Errorf("a buffer on a full device: %v", err)
	}
	for kind := range 3 {
		if err := l.ask(devicetest.Limited(t), t, s, kind); err != nil {
			t.Errorf("kind %d on a full device: %v", kind, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	d.room.Store(1 << 30)
	d.Memory.Calm = time.Millisecond
	for d.Memory.Size() < 1<<30 { // up to the time-out of the test
		time.Sleep(time.Millisecond)
	}
	again := load()
	if n := again.Memory(); n != whole {
		t.Errorf("%d bytes of %d when the memory is back", n, whole)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

// TestTakenMemoryOfStore ranks on a store that can have less and less scratch memory: rounds get shorter, until no
// memory is left for the shortest ones. All answers are exact.
func TestTakenMemoryOfStore(t *testing.T) {
	d, l := newTakenDevice(t), newLoad(t, 20, 20)
	shorter, failed := 0, 0
	for room := uint64(96 << 20); failed == 0 && room > 8<<20; room = room / 50 * 49 {
		d.Memory.Resize(1 << 30)
		d.room.Store(1 << 30)
		s, err := load(t.Context(), d.Runtime, l.src)
		if err != nil {
			t.Fatal(err)
		}
		d.room.Store(d.Memory.InUse() + room)
		d.refused.Store(0)
		err = l.ask(devicetest.Limited(t), t, s, 2)
		switch {
		case err != nil && !errors.Is(err, plan.ErrOutOfMemory):
			t.Error(err)
		case err != nil:
			failed++
		case d.refused.Load() > 0:
			shorter++
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if shorter == 0 || failed == 0 {
		t.Errorf("%d stores had shorter rounds, %d none", shorter, failed)
	}
}
