package device

import (
	"errors"
	"testing"
	"time"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
)

// TestBudgetFallsAndRises lowers a limit to the memory in use and half of a refused buffer. Without
// further refusals it rises by a sixteenth of the first limit each time, and no further than that.
func TestBudgetFallsAndRises(t *testing.T) {
	testneeds.VirtualTime(t, func(t *testing.T) {
		const first = 1600
		b := NewBudget("a device", first)
		size := func(want uint64) {
			t.Helper()
			if n, left := b.Size(), b.Left(); n != want || left != want-min(b.InUse(), want) {
				t.Errorf("a limit of %d bytes, %d are left, %d in use, want a limit of %d", n, left, b.InUse(), want)
			}
		}
		if err := b.Reserve(500, "a buffer"); err != nil {
			t.Fatal(err)
		}
		if !b.Lower(200) || b.Lower(200) || b.Lower(100) {
			t.Error("the limit falls with the first refusal alone")
		}
		size(400)
		if err := b.Reserve(1, "a buffer"); !IsExceeded(err) {
			t.Errorf("above the limit: %v", err)
		}
		b.Unreserve(200) // the refused buffer
		size(400)
		time.Sleep(raiseAfter - 1)
		size(400)
		time.Sleep(time.Nanosecond)
		size(501)
		time.Sleep(raiseAfter / 2)
		if !b.Lower(0) {
			t.Error("the limit stays")
		}
		size(300)
		time.Sleep(raiseAfter / 2)
		size(300)
		time.Sleep(2 * raiseAfter)
		size(502)
		time.Sleep(time.Hour)
		size(first)
		if b.Lower(4000); b.Size() != 0 || b.Left() != 0 {
			t.Errorf("a limit of %d bytes, %d are left", b.Size(), b.Left())
		}
	})
}

// TestRefusedBuffer: a buffer that the driver refuses once costs spare memory alone. If it refuses twice,
// the error says that the memory is exceeded, and the limit falls below both. Staging memory and other
// errors leave the limit.
func TestRefusedBuffer(t *testing.T) {
	d := newLateDevice(t)
	first := d.Memory.Size()
	freed := 0
	d.Memory.OnShortage(func() bool { freed++; return false })
	const bytes = 1 << 20
	if err := d.Memory.Reserve(bytes, "a buffer"); err != nil {
		t.Fatal(err)
	}
	defer d.Memory.Unreserve(bytes)
	for _, c := range []struct {
		flags   ocl.MemFlag
		err     error
		refused int // attempts
		spare   int
		limit   uint64
	}{
		{ocl.MemReadWrite, nil, 0, 0, first},
		{ocl.MemReadWrite, ocl.ErrInvalidBufferSize, 1, 0, first},
		{ocl.MemReadWrite | ocl.MemAllocHostPtr, ocl.ErrMemObjectAllocationFailure, 1, 0, first},
		{ocl.MemReadWrite, ocl.ErrMemObjectAllocationFailure, 1, 1, bytes},
		{ocl.MemReadOnly, ocl.ErrOutOfResources, 1, 1, bytes},
		{ocl.MemReadOnly, ocl.ErrOutOfResources, 2, 1, bytes / 2},
		{ocl.MemReadWrite, ocl.ErrMemObjectAllocationFailure, 2, 1, bytes / 2},
	} {
		attempts := 0
		d.faulty = func(string) error {
			if attempts++; attempts > c.refused {
				return nil
			}
			return c.err
		}
		freed = 0
		m, err := d.Buffer(c.flags, bytes, "a buffer")
		ReleaseBuffers(m)
		if fails := c.refused > c.spare; (m == nil) != fails || fails != errors.Is(err, plan.ErrOutOfMemory) || (c.refused == 2) != IsExceeded(err) || fails && !errors.Is(err, c.err) {
			t.Errorf("%+v: %v", c, err)
		}
		if n := d.Memory.Size(); n != c.limit || freed != c.spare {
			t.Errorf("%+v: the limit is %d bytes, spare memory was asked for %d times", c, n, freed)
		}
	}
	d.faulty = nil
}
