package cl

import (
	"fmt"
	"unsafe"

	ocl "github.com/jgillich/go-opencl/cl"
)

// lookBack is the state of kernels that look back (kernels/group.cl), for launches
// in one queue, one after the other. It belongs to whoever owns the queue.
type lookBack struct {
	state  *ocl.MemObject
	memory *budget
	bytes  uint64
	ticket uint32 // that the next launch begins with
	epoch  uint32 // of the last launch; 0: the state must be cleared
}

const (
	lastEpoch  = 1<<14 - 1 // epochs have 14 bits
	stateWords = 4         // STATE_TILES in kernels/group.cl
)

// newLookBack makes a state for launches of at most `tiles` groups.
func (b *Backend) newLookBack(memory *budget, tiles int) (*lookBack, error) {
	l := &lookBack{memory: memory, bytes: 4 * (stateWords + 2*uint64(tiles))}
	if err := memory.reserve(l.bytes, "states of tiles"); err != nil {
		return nil, err
	}
	var err error
	if l.state, err = b.buffer(ocl.MemReadWrite, l.bytes, "states of tiles"); err != nil {
		memory.unreserve(l.bytes)
		return nil, err
	}
	return l, nil
}

// begin gives a launch of `groups` groups its first ticket and its epoch. It
// clears the state first where epochs come again.
func (l *lookBack) begin(q *ocl.CommandQueue, groups int) (ticket, epoch uint32, err error) {
	if l.epoch == 0 || l.epoch == lastEpoch {
		zero := make([]byte, l.bytes) // a fill would do, but Oclgrind takes what it wrote for uninitialised
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

// gaveUp says whether a group has ever stopped to wait. It blocks.
func (l *lookBack) gaveUp(q *ocl.CommandQueue) (bool, error) {
	var failed uint32
	e, err := q.EnqueueReadBuffer(l.state, true, 4, 4, unsafe.Pointer(&failed), nil)
	if err != nil {
		return false, err
	}
	e.Release()
	return failed != 0, nil
}

func (l *lookBack) release() {
	l.state.Release()
	l.memory.unreserve(l.bytes)
}

// looksBack says whether kernels may look back: the tuning row allows it, and a
// launch of far more groups than the device holds at a time has shown, once for
// all, that every group gets the sum of those before it.
func (b *Backend) looksBack() bool {
	if !b.tuning.LookBack {
		return false
	}
	b.progress.Do(func() {
		err := b.testProgress(max(2048, 64*b.dev.info.ComputeUnits))
		b.progresses = err == nil
		if err != nil && b.opt.Log != nil {
			b.opt.Log.Warn().Err(err).Str("device", b.dev.String()).Msg("kernels that look back are not used")
		}
	})
	return b.progresses
}

func (b *Backend) testProgress(groups int) error {
	if err := b.checkScan(); err != nil {
		return err
	}
	p := &primitive{b: b}
	defer p.release()
	err := func() (err error) {
		if p.program, err = b.programOf(scanProgram); err != nil {
			return err
		}
		if p.queue, err = b.newQueue(); err != nil {
			return err
		}
		if p.look, err = b.newLookBack(&b.budget, groups); err != nil {
			return err
		}
		if err = b.reserve(4*uint64(groups), "a test"); err != nil {
			return err
		}
		p.bytes = 4 * uint64(groups)
		if p.out, err = b.buffer(ocl.MemReadWrite, p.bytes, "a test"); err != nil {
			return err
		}
		return b.do(func() error {
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
		return b.fail("testing whether work-groups make progress", err)
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
