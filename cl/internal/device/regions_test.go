package device

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/engine/plan"
)

// TestRegions takes and gives regions in random order. They never overlap, keep their content while the buffer grows, and
// all memory is one free region at the end.
func TestRegions(t *testing.T) {
	d := newLateDevice(t)
	r, random := &d.Regions, rand.New(rand.NewPCG(4, 4))
	var taken []Region
	send := func(write bool, x Region, words []uint32) {
		t.Helper()
		if err := r.Fill(func(m *ocl.MemObject) (err error) {
			var e *ocl.Event
			if at, p := unitBytes*x.At, unsafe.Pointer(&words[0]); write {
				e, err = d.Transfer.EnqueueWriteBuffer(m, true, at, 4*len(words), p, nil)
			} else {
				e, err = d.Transfer.EnqueueReadBuffer(m, true, at, 4*len(words), p, nil)
			}
			if err == nil {
				e.Release()
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	content := func(x Region) []uint32 { return slices.Repeat([]uint32{uint32(x.At), uint32(x.Units)}, 2*x.Units) }
	give := func(i int) {
		got := make([]uint32, 4*taken[i].Units)
		if send(false, taken[i], got); !slices.Equal(got, content(taken[i])) {
			t.Fatalf("region %v has %v", taken[i], got)
		}
		r.Give(taken[i])
		taken = slices.Delete(taken, i, i+1)
	}
	for range 300 {
		if len(taken) > 0 && random.IntN(5) < 2 {
			give(random.IntN(len(taken)))
			continue
		}
		x, err := r.Take(1 + random.IntN(9))
		if err != nil {
			t.Fatal(err)
		}
		taken = append(taken, x)
		send(true, x, content(x))
		if bytes := unitBytes * uint64(r.units); d.Memory.InUse() != bytes {
			t.Fatalf("%d bytes are reserved for %d", d.Memory.InUse(), bytes)
		}
	}
	if r.Give(Region{}); r.drop() {
		t.Fatal("a buffer with regions was freed")
	}
	for len(taken) > 0 {
		give(random.IntN(len(taken)))
	}
	if !slices.Equal(r.free, []Region{{0, r.units}}) {
		t.Errorf("of %d units %v are free", r.units, r.free)
	}
	if !r.drop() || r.Buffer() != nil {
		t.Error("a buffer without regions stays")
	}
}

// TestRegionsEnd takes regions where the buffer cannot move, and where all of it is free.
func TestRegionsEnd(t *testing.T) {
	d := newLateDevice(t)
	r := &d.Regions
	d.ended = true
	if _, err := r.Take(5); !errors.Is(err, plan.ErrClosed) || d.Memory.InUse() != 0 {
		t.Errorf("%d bytes stay after %v", d.Memory.InUse(), err)
	}
	d.ended = false
	first, err := r.Take(5)
	if err != nil {
		t.Fatal(err)
	}
	if r.drop() {
		t.Error("a buffer with a region was freed")
	}
	all := r.units
	rest, err := r.Take(all - 5)
	if err != nil || rest != (Region{5, all - 5}) || r.units != all {
		t.Errorf("%v is taken of %d units, which were %d: %v", rest, r.units, all, err)
	}
	r.Give(first)
	r.Give(rest)
	r.drop()
}

// TestRegionsYield moves the buffer while a function of Do waits, which may go on with the former buffer.
func TestRegionsYield(t *testing.T) {
	d := newLateDevice(t)
	r := &d.Regions
	first, err := r.Take(5)
	if err != nil {
		t.Fatal(err)
	}
	var rest Region
	was, during := d.Memory.InUse(), uint64(0)
	err = d.Do(func() error {
		return d.yield(func() (err error) {
			rest, err = r.Take(r.units)
			during = d.Memory.InUse()
			return err
		})
	})
	if now := d.Memory.InUse(); err != nil || now != unitBytes*uint64(r.units) || during != was+now {
		t.Errorf("%d bytes before, %d until the function went on, %d now: %v", was, during, now, err)
	}
	r.Give(first)
	r.Give(rest)
	r.drop()
}
