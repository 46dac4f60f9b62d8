package expression

import (
	"context"
	"fmt"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/device"
	"heddle/engine/plan"
)

// slot holds the buffers of one batch of expressions under way. It belongs to the
// goroutine that took it.
type slot struct {
	device.Flight
	eval  *Evaluator
	shape shape
	bytes uint64
	kept  uint64 // part of bytes that the store keeps for the slot

	batch   *ocl.MemObject // the upload
	decoded *ocl.MemObject
	sets    *ocl.MemObject // bits, group after group
	counts  *ocl.MemObject // documents of each group
	docs    *ocl.MemObject

	more      *ocl.MemObject // in place of decoded if one range needs more
	moreWords int
	growing   bool // it has the token of the evaluator
}

// newSlot makes a slot of the shape for which there is memory. The first slot can always
// have the smallest shape. Callers wait for it if there is no memory for another one.
func (e *Evaluator) newSlot() (*slot, error) {
	shape, slots := e.shape()
	for {
		kept := e.kept.Swap(0)
		if kept == 0 && slots == 1 {
			return nil, plan.ErrOutOfMemory
		}
		x, err := e.openSlot(shape, kept)
		if kept == 0 || !device.IsExceeded(err) || !shape.halve() {
			return x, err
		}
	}
}

// shape returns the shape of a slot that is made now, and the number of such slots.
func (e *Evaluator) shape() (shape, int) {
	most := mostBytes(e.set.Device, e.set.Memory.Size())
	if e.set.Cache == nil { // the device's budget has more users
		most = min(most, e.set.Memory.Left()/2)
	}
	return shapeFor(e.set.Device.Tuning, most)
}

// openSlot makes a slot for which the store has kept some bytes.
func (e *Evaluator) openSlot(shape shape, kept uint64) (*slot, error) {
	x := &slot{eval: e, shape: shape, bytes: kept, kept: kept, Flight: device.NewFlight(e.set.Device, e.set.Memory)}
	more := shape.bytes() - kept
	err := x.Memory.Reserve(more, "scratch of boolean expressions")
	if err == nil {
		x.bytes += more
		e.bytes.Add(more)
		err = x.make()
	}
	if err != nil {
		x.release()
		return nil, err
	}
	return x, nil
}

// lengthened returns x, or in its place a slot with longer rounds, if memory was short when
// x was made and no longer is.
func (x *slot) lengthened() *slot {
	shape, _ := x.eval.shape()
	if x.kept == 0 || x.shape.groups >= fewGroups || x.shape.groups >= shape.groups {
		return x
	}
	longer, err := x.eval.openSlot(shape, 0)
	if err != nil {
		return x
	}
	longer.kept, x.kept = x.kept, 0
	x.release()
	return longer
}

// make makes the buffers and kernels of a slot.
func (x *slot) make() (err error) {
	shape := x.shape
	for _, m := range []struct {
		to    **ocl.MemObject
		words int
		what  string
	}{
		{&x.batch, uploadWords, "boolean expressions"}, {&x.decoded, shape.decoded, "decoded lists"},
		{&x.sets, shape.groups * rangeLen / 32, "sets"}, {&x.counts, shape.groups, "counts"}, {&x.docs, shape.docs, "docIDs"},
	} {
		if *m.to, err = x.Device.Buffer(ocl.MemReadWrite, 4*uint64(m.words), m.what); err != nil {
			return err
		}
	}
	if err = x.Open(uploadWords, max(shape.docs, shape.groups)); err != nil {
		return err
	}
	return x.Prepare(evaluate.KernelID)
}

// room is the number of decoded words that the slot has room for.
func (x *slot) room() int { return max(x.shape.decoded, x.moreWords) }

// grow makes room for the given number of decoded words, until the slot is given back. One
// slot at a time has more than its shape, so that concurrent callers do not each hold a
// part of the free memory. The decoded lists are lost. No command may be under way.
func (x *slot) grow(ctx context.Context, words int) error {
	if !x.growing {
		select {
		case <-x.eval.growing:
		case <-ctx.Done():
			return ctx.Err()
		case <-x.eval.set.Closing:
			return plan.ErrClosed
		}
		x.growing = true
	}
	x.shrink()
	err := x.Device.Fits(4*uint64(words), "they", "decoding the lists of a boolean expression")
	bytes, never := beyondKept(words), err != nil
	if err == nil {
		err = x.Memory.Reserve(bytes, "decoded lists of a boolean expression")
		never = device.IsExceeded(err) && bytes+x.eval.set.Total() > x.Memory.Size() // not even without other users
	}
	if never {
		return x.Device.OutOfMemory("evaluating a boolean expression", fmt.Errorf("%w: %w", plan.ErrTooLarge, err))
	}
	if err != nil {
		return err
	}
	if x.more, err = x.Device.Buffer(ocl.MemReadWrite, 4*uint64(words), "decoded lists of a boolean expression"); err != nil {
		x.Memory.Unreserve(bytes)
		return err
	}
	x.moreWords = words
	x.eval.bytes.Add(bytes)
	return nil
}

// beyondKept is the number of bytes of some words beyond the bytes that the store keeps.
func beyondKept(words int) uint64 { return max(4*uint64(words), growth) - growth }

// shrink frees the memory of grow.
func (x *slot) shrink() {
	if x.more != nil {
		bytes := beyondKept(x.moreWords)
		x.more.Release()
		x.Memory.Unreserve(bytes)
		x.eval.bytes.Add(-bytes)
		x.more, x.moreWords = nil, 0
	}
}

// giveBack waits until no command is under way and returns the slot to the pool.
func (x *slot) giveBack() {
	x.Land()
	x.shrink()
	if x.growing {
		x.growing = false
		x.eval.growing <- struct{}{}
	}
	x.eval.free.Give(x.lengthened())
}

// release frees the slot, except for the bytes that the store keeps.
func (x *slot) release() {
	x.Flight.Release()
	device.ReleaseBuffers(x.batch, x.decoded, x.sets, x.counts, x.docs)
	more := x.bytes - x.kept
	x.Memory.Unreserve(more)
	x.eval.bytes.Add(-more)
	x.eval.kept.Add(x.kept)
}
