package device

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	ocl "github.com/jgillich/go-opencl/cl"
)

// Regions is a device buffer that all stores of a device share, in regions that come and go. The
// buffer grows with them. It takes memory of the device's budget, and gives it back where memory
// is short and no region exists. Sizes and places are in units of four words. It is safe for
// concurrent use.
type Regions struct {
	rt *Runtime

	// filling is held for reading while commands write to a region, and for writing while the buffer
	// moves.
	filling sync.RWMutex

	// buffer changes in Runtime.Do alone while there are regions, so that commands that read one
	// are enqueued with the present buffer.
	buffer atomic.Pointer[ocl.MemObject]

	mu     sync.Mutex // guards the fields below; held while the buffer is made
	units  int        // units of the buffer
	free   []Region   // ascending, never side by side
	remove func()     // result of Budget.OnShortage
}

// Region is a part of the buffer.
type Region struct{ At, Units int }

// unitBytes is the size of a unit.
const unitBytes = 4 * pad

// firstRegions is the number of regions of the size of the first one that the buffer has room for
// at first. Growing stops the work of all queues for a moment.
const firstRegions = 4

// Buffer returns the present buffer, for commands that use a region and are enqueued in the same
// call of Runtime.Do.
func (r *Regions) Buffer() *ocl.MemObject { return r.buffer.Load() }

// Take makes a region. The error is plan.ErrOutOfMemory if there is no memory for it.
func (r *Regions) Take(units int) (Region, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := r.room(units); i < 0 {
		if err := r.grow(units); err != nil {
			return Region{}, err
		}
	}
	i := r.room(units)
	at := &r.free[i]
	taken := Region{at.At, units}
	if *at = (Region{at.At + units, at.Units - units}); at.Units == 0 {
		r.free = slices.Delete(r.free, i, i+1)
	}
	return taken, nil
}

// room returns the index of the first free region with so many units, or -1.
func (r *Regions) room(units int) int {
	return slices.IndexFunc(r.free, func(f Region) bool { return f.Units >= units })
}

// Give gives a region back, or a part of one.
func (r *Regions) Give(x Region) {
	if x.Units == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.give(x)
}

func (r *Regions) give(x Region) {
	i, _ := slices.BinarySearchFunc(r.free, x, func(f, x Region) int { return cmp.Compare(f.At, x.At) })
	r.free = slices.Insert(r.free, i, x)
	for _, k := range []int{i + 1, i} { // join with the neighbours
		if k > 0 && k < len(r.free) && r.free[k-1].At+r.free[k-1].Units == r.free[k].At {
			r.free[k-1].Units += r.free[k].Units
			r.free = slices.Delete(r.free, k, k+1)
		}
	}
}

// grow makes the buffer larger, so that it has a free region of so many units. Its caller holds
// r.mu.
func (r *Regions) grow(units int) error {
	want := max(2*r.units, firstRegions*units)
	if least := r.units + units; want > least && unitBytes*uint64(want) <= r.rt.Memory.Left() { // others keep their memory
		if r.move(want) == nil {
			return nil
		}
	}
	return r.move(r.units + units)
}

// move replaces the buffer by one of so many units with the same content.
func (r *Regions) move(units int) error {
	bytes := unitBytes * uint64(units)
	if most := min(r.rt.Info.MaxAlloc, unitBytes*(1<<32-1)); bytes > most {
		return r.rt.OutOfMemory("making room for filters", fmt.Errorf("they take %d bytes, a buffer has at most %d", bytes, most))
	}
	if err := r.rt.Memory.Reserve(bytes, "filters"); err != nil {
		return err
	}
	larger, err := r.rt.Buffer(ocl.MemReadWrite, bytes, "filters")
	if err != nil {
		r.rt.Memory.Unreserve(bytes)
		return err
	}
	r.filling.Lock()
	defer r.filling.Unlock()
	old, was := r.buffer.Load(), r.units
	if old != nil {
		err = r.rt.await(context.Background(), r.rt.Transfer, nil, func() (*ocl.Event, error) {
			return r.rt.Transfer.EnqueueCopyBuffer(old, larger, 0, 0, unitBytes*was, nil)
		})
	}
	if err == nil {
		err = r.rt.Do(func() error {
			r.buffer.Store(larger)
			return nil
		})
	}
	if err != nil {
		larger.Release()
		r.rt.Memory.Unreserve(bytes)
		return r.rt.Fail("moving filters", err)
	}
	if r.units = units; old != nil {
		r.rt.retire(func() {
			old.Release()
			r.rt.Memory.Unreserve(unitBytes * uint64(was))
		})
	}
	r.give(Region{was, units - was})
	if r.remove == nil {
		r.remove = r.rt.Memory.OnShortage(r.drop)
	}
	return nil
}

// drop frees the buffer if there are no regions, and tells whether it did.
func (r *Regions) drop() bool {
	if !r.mu.TryLock() { // the buffer grows
		return false
	}
	defer r.mu.Unlock()
	if len(r.free) != 1 || r.free[0].Units != r.units {
		return false
	}
	r.release()
	return true
}

// release frees the buffer.
func (r *Regions) release() {
	if old := r.buffer.Swap(nil); old != nil {
		old.Release()
		r.rt.Memory.Unreserve(unitBytes * uint64(r.units))
		r.units, r.free = 0, nil
	}
}

// Fill calls f with the buffer, which does not move until f returns. f waits for its commands,
// and neither takes nor gives regions.
func (r *Regions) Fill(f func(buffer *ocl.MemObject) error) error {
	r.filling.RLock()
	defer r.filling.RUnlock()
	return f(r.Buffer())
}
