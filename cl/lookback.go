package cl

import (
	"fmt"
	"unsafe"

	ocl "github.com/jgillich/go-opencl/cl"
)

// lookBack is the state of kernels with decoupled look-back (kernels/group.cl), for launches
// in one queue, one after the other. It belongs to the owner of the queue.
type lookBack struct {
	state  *ocl.MemObject
	memory *budget
	bytes  uint64
	ticket uint32 // first ticket of the next launch
	epoch  uint32 // of the last launch; 0: the state must be cleared
}

const (
	lastEpoch  = 1<<14 - 1 // epochs have 14 bits
	stateWords = 4         // STATE_TILES in kernels/group.cl
)

// newLookBack makes a state for launches of at most the given number of groups.
func newLookBack(rt *opened, memory *budget, groups int) (*lookBack, error) {
	l := &lookBack{memory: memory, bytes: 4 * (stateWords + 2*uint64(groups))}
	if err := memory.reserve(l.bytes, "states of tiles"); err != nil {
		return nil, err
	}
	var err error
	if l.state, err = rt.buffer(ocl.MemReadWrite, l.bytes, "states of tiles"); err != nil {
		memory.unreserve(l.bytes)
		return nil, err
	}
	return l, nil
}

// fits tells whether the state has room for a launch of the given number of groups.
func (l *lookBack) fits(groups int) bool { return l.bytes >= 4*(stateWords+2*uint64(groups)) }

// begin returns the first ticket and the epoch of a launch. It clears the state before
// epochs repeat. It runs in opened.do.
func (l *lookBack) begin(q *ocl.CommandQueue, groups int) (ticket, epoch uint32, err error) {
	if l.epoch == 0 || l.epoch == lastEpoch {
		zero := make([]byte, l.bytes) // Oclgrind takes the result of a fill for uninitialised
		e, err := q.EnqueueWriteBuffer(l.state, true, 0, len(zero), unsafe.Pointer(&zero[0]), nil)
		if err != nil {
			return 0, 0, err
		}
		e.Release()
		l.ticket, l.epoch = 0, 0
	}
	ticket = l.ticket
	l.epoch++
	l.ticket += uint32(groups)
	return ticket, l.epoch, nil
}

// reset clears the state before the next launch, after one that may not have drawn its
// tickets.
func (l *lookBack) reset() { l.epoch = 0 }

// fresh tells whether no launch has used the state since it was cleared.
func (l *lookBack) fresh() bool { return l.epoch == 0 }

// gaveUp tells whether a group has ever stopped to wait. It blocks and runs in opened.do.
func (l *lookBack) gaveUp(q *ocl.CommandQueue) (bool, error) {
	var failed uint32
	e, err := q.EnqueueReadBuffer(l.state, true, 4, 4, unsafe.Pointer(&failed), nil)
	if err != nil {
		return false, err
	}
	e.Release()
	return failed != 0, nil
}

// release frees the state.
func (l *lookBack) release() {
	l.state.Release()
	l.memory.unreserve(l.bytes)
}

// progressKey is the key of the progress test of a device.
type progressKey struct{}

// looksBack tells whether kernels may look back: the tuning row allows it, and one launch of
// far more groups than the device runs at a time has shown that every group gets the sum of
// the groups before it. The launch runs once per device.
func looksBack(rt *opened) bool {
	if !rt.tuning.LookBack {
		return false
	}
	return rt.remember(progressKey{}, func() bool {
		err := testProgress(rt, max(2048, 64*rt.info.ComputeUnits))
		if err != nil && rt.log != nil {
			rt.log.Warn().Err(err).Str("device", rt.name()).Msg("kernels that look back are not used")
		}
		return err == nil
	})
}

// testProgress launches the kernel progress with the given number of groups.
func testProgress(rt *opened, groups int) error {
	if err := checkScan(rt); err != nil {
		return err
	}
	p := &call{rt: rt}
	defer p.release()
	err := func() (err error) {
		if p.program, err = rt.programOf(kernelID{name: "scan_sums"}); err != nil {
			return err
		}
		if p.queue, err = rt.newQueue(); err != nil {
			return err
		}
		if p.look, err = newLookBack(rt, rt.memory, groups); err != nil {
			return err
		}
		if err = rt.memory.reserve(4*uint64(groups), "a test"); err != nil {
			return err
		}
		p.bytes = 4 * uint64(groups)
		if p.out, err = rt.buffer(ocl.MemReadWrite, p.bytes, "a test"); err != nil {
			return err
		}
		return rt.do(func() error {
			ticket, epoch, err := p.look.begin(p.queue, groups)
			if err != nil {
				return err
			}
			k, err := p.kernel("progress", p.out, p.look.state, ticket, epoch)
			if err != nil {
				return err
			}
			defer k.Release()
			r := p.begin()
			r.launch(k, groups)
			return r.end()
		})
	}()
	if err != nil {
		return rt.fail("testing whether work-groups make progress", err)
	}
	before := make([]uint32, groups)
	if err := p.read(p.out, before); err != nil {
		return err
	}
	for i, v := range before {
		if v != uint32(i) {
			return fmt.Errorf("%d groups before group %d", v, i)
		}
	}
	return nil
}
