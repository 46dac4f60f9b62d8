package primitive

import (
	"context"
	"fmt"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/device"
)

// LookBack is the state of kernels with decoupled look-back (kernels/group.cl), for launches
// in one queue, one after the other. It belongs to the owner of the queue.
type LookBack struct {
	State  *ocl.MemObject
	memory *device.Budget
	Bytes  uint64
	ticket uint32 // first ticket of the next launch
	epoch  uint32 // epoch of the last launch; 0: the state must be cleared
}

const (
	lastEpoch  = 1<<14 - 1 // epochs have 14 bits
	stateWords = 4         // STATE_TILES in kernels/group.cl
)

// NewLookBack makes a state for launches of at most the given number of groups.
func NewLookBack(rt *device.Runtime, memory *device.Budget, groups int) (*LookBack, error) {
	l := &LookBack{memory: memory, Bytes: 4 * (stateWords + 2*uint64(groups))}
	if err := memory.Reserve(l.Bytes, "states of tiles"); err != nil {
		return nil, err
	}
	var err error
	if l.State, err = rt.Buffer(ocl.MemReadWrite, l.Bytes, "states of tiles"); err != nil {
		memory.Unreserve(l.Bytes)
		return nil, err
	}
	return l, nil
}

// Fits tells whether the state has room for a launch of the given number of groups.
func (l *LookBack) Fits(groups int) bool { return l.Bytes >= 4*(stateWords+2*uint64(groups)) }

// Begin returns the first ticket and the epoch of a launch. It clears the state before
// epochs repeat. It runs in Runtime.Do.
func (l *LookBack) Begin(x *device.Flight, groups int) (ticket, epoch uint32, err error) {
	if l.epoch == 0 || l.epoch == lastEpoch {
		if err := x.Clear(l.State, int(l.Bytes/4)); err != nil {
			return 0, 0, err
		}
		l.ticket, l.epoch = 0, 0
	}
	ticket = l.ticket
	l.epoch++
	l.ticket += uint32(groups)
	return ticket, l.epoch, nil
}

// Reset clears the state before the next launch, after one that may not have drawn its
// tickets.
func (l *LookBack) Reset() { l.epoch = 0 }

// Fresh tells whether no launch has used the state since it was cleared.
func (l *LookBack) Fresh() bool { return l.epoch == 0 }

// GaveUp tells whether a group has ever stopped to wait. It waits for all commands of x, or until ctx ends.
func (l *LookBack) GaveUp(ctx context.Context, x *device.Flight) (bool, error) {
	var head [2]uint32
	err := x.ReadNow(ctx, l.State, head[:])
	return head[1] != 0, err
}

// Release frees the state.
func (l *LookBack) Release() {
	l.State.Release()
	l.memory.Unreserve(l.Bytes)
}

// progressKey is the key of the progress test of a device.
type progressKey struct{}

// LooksBack tells whether kernels may look back: the tuning row allows it, and one launch of
// far more groups than the device runs at a time has shown that every group gets the sum of
// the groups before it. The launch runs once per device.
func LooksBack(rt *device.Runtime) bool {
	if !rt.Tuning.LookBack {
		return false
	}
	return rt.Remember(progressKey{}, func() bool {
		err := testProgress(rt, max(2048, 64*rt.Info.ComputeUnits))
		if err != nil && rt.Log != nil {
			rt.Log.Warn().Err(err).Str("device", rt.Name()).Msg("kernels that look back are not used")
		}
		return err == nil
	})
}

// testProgress launches the kernel progress with the given number of groups.
func testProgress(rt *device.Runtime, groups int) error {
	if err := CheckScan(rt); err != nil {
		return err
	}
	p := &call{Flight: device.NewFlight(rt, rt.Memory)}
	defer p.release()
	err := func() (err error) {
		if err = p.Prepare(progress.KernelID); err != nil {
			return err
		}
		if p.Queue, err = rt.NewQueue(); err != nil {
			return err
		}
		if p.scan.Look, err = NewLookBack(rt, rt.Memory, groups); err != nil {
			return err
		}
		if err = rt.Memory.Reserve(4*uint64(groups), "a test"); err != nil {
			return err
		}
		p.bytes = 4 * uint64(groups)
		if p.scan.Out, err = rt.Buffer(ocl.MemReadWrite, p.bytes, "a test"); err != nil {
			return err
		}
		return rt.Do(func() error {
			ticket, epoch, err := p.scan.Look.Begin(&p.Flight, groups)
			if err != nil {
				return err
			}
			args := progressArguments{out: p.scan.Out, state: p.scan.Look.State, ticket: int(ticket), epoch: int(epoch)}
			return p.timed(func() error {
				return progress.LaunchWhole(&p.Flight, args, groups, scanLocal(rt.Tuning), device.CompactTime)
			})
		})
	}()
	if err != nil {
		return rt.Fail("testing whether work-groups make progress", err)
	}
	before := make([]uint32, groups)
	if err := p.ReadNow(context.Background(), p.scan.Out, before); err != nil {
		return err
	}
	for i, v := range before {
		if v != uint32(i) {
			return fmt.Errorf("%d groups before group %d", v, i)
		}
	}
	return nil
}
