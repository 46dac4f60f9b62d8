package cl

import (
	"context"
	"fmt"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/engine/plan"
)

// exprSlot holds the buffers of one batch of expressions under way. It belongs to the
// goroutine that took it.
type exprSlot struct {
	flight
	eval  *evaluator
	shape exprShape
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
func (e *evaluator) newSlot() (*exprSlot, error) {
	shape, slots := e.shape()
	for {
		kept := e.kept.Swap(0)
		if kept == 0 && slots == 1 {
			return nil, plan.ErrOutOfMemory
		}
		x, err := e.openSlot(shape, kept)
		if kept == 0 || !isExceeded(err) || !shape.halve() {
			return x, err
		}
	}
}

// shape returns the shape of a slot that is made now, and the number of such slots.
func (e *evaluator) shape() (exprShape, int) {
	most := mostExprBytes(e.set.rt, e.set.memory.size())
	if e.set.cache == nil { // the device's budget has more users
		most = min(most, e.set.memory.left()/2)
	}
	return exprShapeFor(e.set.rt.tuning, most)
}

// openSlot makes a slot for which the store has kept some bytes.
func (e *evaluator) openSlot(shape exprShape, kept uint64) (*exprSlot, error) {
	x := &exprSlot{eval: e, shape: shape, bytes: kept, kept: kept, flight: newFlight(e.set.rt, e.set.memory)}
	more := shape.bytes() - kept
	err := x.memory.reserve(more, "scratch of boolean expressions")
	if err == nil {
		x.bytes += more
		e.bytes.Add(more)
		err = x.fill()
	}
	if err != nil {
		x.release()
		return nil, err
	}
	return x, nil
}

// lengthened returns x, or in its place a slot with longer rounds, if memory was short when
// x was made and no longer is.
func (x *exprSlot) lengthened() *exprSlot {
	shape, _ := x.eval.shape()
	if x.kept == 0 || x.shape.groups >= exprGroups || x.shape.groups >= shape.groups {
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

// fill makes the buffers and kernels of a slot.
func (x *exprSlot) fill() (err error) {
	shape := x.shape
	for _, m := range []struct {
		to    **ocl.MemObject
		words int
		what  string
	}{
		{&x.batch, exprUpload, "boolean expressions"}, {&x.decoded, shape.decoded, "decoded lists"},
		{&x.sets, shape.groups * exprRange / 32, "sets"}, {&x.counts, shape.groups, "counts"}, {&x.docs, shape.docs, "docIDs"},
	} {
		if *m.to, err = x.rt.buffer(ocl.MemReadWrite, 4*uint64(m.words), m.what); err != nil {
			return err
		}
	}
	if err = x.open(exprUpload, max(shape.docs, shape.groups)); err != nil {
		return err
	}
	return x.create(kernelID{name: "evaluate"}, "evaluate", "expand")
}

// room is the number of decoded words that the slot has room for.
func (x *exprSlot) room() int { return max(x.shape.decoded, x.moreWords) }

// grow makes room for the given number of decoded words, until the slot is given back. One
// slot at a time has more than its shape, so that concurrent callers do not each hold a
// part of the free memory. The decoded lists are lost. No command may be under way.
func (x *exprSlot) grow(ctx context.Context, words int) error {
	if !x.growing {
		select {
		case <-x.eval.growing:
		case <-ctx.Done():
			return ctx.Err()
		case <-x.eval.set.closing:
			return plan.ErrClosed
		}
		x.growing = true
	}
	x.shrink()
	err := x.rt.fits(4*uint64(words), "they", "decoding the lists of a boolean expression")
	bytes, never := beyondKept(words), err != nil
	if err == nil {
		err = x.memory.reserve(bytes, "decoded lists of a boolean expression")
		never = isExceeded(err) && bytes+x.eval.set.total() > x.memory.size() // not even without other users
	}
	if never {
		return x.rt.outOfMemory("evaluating a boolean expression", fmt.Errorf("%w: %w", plan.ErrTooLarge, err))
	}
	if err != nil {
		return err
	}
	if x.more, err = x.rt.buffer(ocl.MemReadWrite, 4*uint64(words), "decoded lists of a boolean expression"); err != nil {
		x.memory.unreserve(bytes)
		return err
	}
	x.moreWords = words
	x.eval.bytes.Add(bytes)
	return nil
}

// beyondKept is the number of bytes of some words beyond the bytes that the store keeps.
func beyondKept(words int) uint64 { return max(4*uint64(words), exprGrowth) - exprGrowth }

// shrink frees the memory of grow.
func (x *exprSlot) shrink() {
	if x.more != nil {
		bytes := beyondKept(x.moreWords)
		x.more.Release()
		x.memory.unreserve(bytes)
		x.eval.bytes.Add(-bytes)
		x.more, x.moreWords = nil, 0
	}
}

// giveBack waits until no command is under way and returns the slot to the pool.
func (x *exprSlot) giveBack() {
	x.land()
	x.shrink()
	if x.growing {
		x.growing = false
		x.eval.growing <- struct{}{}
	}
	x.eval.free.give(x.lengthened())
}

// release frees the slot, except for the bytes that the store keeps.
func (x *exprSlot) release() {
	x.flight.release()
	for _, m := range []*ocl.MemObject{x.batch, x.decoded, x.sets, x.counts, x.docs} {
		if m != nil {
			m.Release()
		}
	}
	more := x.bytes - x.kept
	x.memory.unreserve(more)
	x.eval.bytes.Add(-more)
	x.eval.kept.Add(x.kept)
}
