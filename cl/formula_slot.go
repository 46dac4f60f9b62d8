package cl

import (
	"context"
	"fmt"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/engine/plan"
)

// formulaSlot is what one batch of formulas in flight needs, as slot is for
// conjunctions. It belongs to the goroutine that took it from Store.freeFormulas.
type formulaSlot struct {
	store *Store
	shape formulaShape
	bytes uint64
	kept  uint64 // of those, what the store has kept for it

	flight
	batch   *ocl.MemObject // what was uploaded
	decoded *ocl.MemObject
	sets    *ocl.MemObject // bits, group after group
	counts  *ocl.MemObject // documents of each group
	docs    *ocl.MemObject

	more      *ocl.MemObject // in place of decoded, where one range takes more than that has
	moreWords int
	growing   bool // it has the token of the store
}

// formulaProgram holds both kernels of formula.cl.
var formulaProgram = kernelID{name: "formula"}

// newFormulaSlot makes a slot of the shape that there is memory for. The first one can
// always have the smallest; for others callers wait until it is given back.
func (s *Store) newFormulaSlot() (*formulaSlot, error) {
	shape, slots := s.formulaShape()
	for {
		kept := s.formulasKept.Swap(0)
		if kept == 0 && slots == 1 {
			return nil, plan.ErrOutOfMemory
		}
		x, err := s.openFormulaSlot(shape, kept)
		if kept == 0 || !isReserved(err) || !shape.halve() {
			return x, err
		}
	}
}

// formulaShape is what a slot has if it is made now, and how many of that shape there
// may be.
func (s *Store) formulaShape() (formulaShape, int) {
	most := s.backend.formulasMost(s.memory.limit)
	if s.cache == nil { // others come out of what is left, too
		most = min(most, s.memory.left()/2)
	}
	return formulaShapeFor(s.backend.tuning, most)
}

// openFormulaSlot makes a slot, for which the store has kept so many bytes.
func (s *Store) openFormulaSlot(shape formulaShape, kept uint64) (*formulaSlot, error) {
	x := &formulaSlot{store: s, shape: shape, bytes: kept, kept: kept, flight: newFlight(s.backend, s.memory)}
	more := shape.bytes() - kept
	err := s.memory.reserve(more, "scratch of formulas")
	if err == nil {
		x.bytes += more
		s.formulaBytes.Add(more)
		err = x.fill()
	}
	if err != nil {
		x.release()
		return nil, err
	}
	return x, nil
}

// lengthened is x, or in its place a slot of longer rounds, where those of x are short
// because there was no memory when it was made, and there is by now.
func (x *formulaSlot) lengthened() *formulaSlot {
	shape, _ := x.store.formulaShape()
	if x.kept == 0 || x.shape.groups >= formulaGroups || x.shape.groups >= shape.groups {
		return x
	}
	longer, err := x.store.openFormulaSlot(shape, 0)
	if err != nil {
		return x
	}
	longer.kept, x.kept = x.kept, 0
	x.release()
	return longer
}

// fill makes what a slot has.
func (x *formulaSlot) fill() (err error) {
	shape := x.shape
	for _, m := range []struct {
		to    **ocl.MemObject
		words int
		what  string
	}{
		{&x.batch, formulaUpload, "formulas"}, {&x.decoded, shape.decoded, "decoded lists"},
		{&x.sets, shape.groups * formulaRange / 32, "sets"}, {&x.counts, shape.groups, "counts"}, {&x.docs, shape.docs, "docIDs"},
	} {
		if *m.to, err = x.backend.buffer(ocl.MemReadWrite, 4*uint64(m.words), m.what); err != nil {
			return err
		}
	}
	return x.open(formulaUpload, max(shape.docs, shape.groups), formulaProgram, "formula", "expand")
}

// room is how many decoded words the slot has room for.
func (x *formulaSlot) room() int { return max(x.shape.decoded, x.moreWords) }

// grow makes room for so many decoded words, until the slot is given back. One slot at a
// time has more than its shape, so that callers do not each have a part of what is left.
// What was there is lost. Nothing may be under way.
func (x *formulaSlot) grow(ctx context.Context, words int) error {
	s, b := x.store, x.store.backend
	if !x.growing {
		select {
		case <-s.growing:
		case <-ctx.Done():
			return ctx.Err()
		case <-s.closing:
			return plan.ErrClosed
		}
		x.growing = true
	}
	x.shrink()
	err := b.fits(4*uint64(words), "they", "decoding the lists of a formula")
	bytes, never := beyondKept(words), err != nil
	if err == nil {
		err = x.memory.reserve(bytes, "decoded lists of a formula")
		never = isReserved(err) && bytes+s.Memory() > x.memory.limit // not even if others had nothing
	}
	if never {
		return b.outOfMemory("evaluating a formula", fmt.Errorf("%w: %w", plan.ErrTooLarge, err))
	}
	if err != nil {
		return err
	}
	if x.more, err = b.buffer(ocl.MemReadWrite, 4*uint64(words), "decoded lists of a formula"); err != nil {
		x.memory.unreserve(bytes)
		return err
	}
	x.moreWords = words
	s.formulaBytes.Add(bytes)
	return nil
}

// beyondKept is what so many words take beyond what the store keeps for them, in bytes.
func beyondKept(words int) uint64 { return max(4*uint64(words), formulaGrowth) - formulaGrowth }

// shrink frees what grow has made.
func (x *formulaSlot) shrink() {
	if x.more != nil {
		bytes := beyondKept(x.moreWords)
		x.more.Release()
		x.memory.unreserve(bytes)
		x.store.formulaBytes.Add(-bytes)
		x.more, x.moreWords = nil, 0
	}
}

// giveBack waits until nothing is under way and lets others have the slot.
func (x *formulaSlot) giveBack() {
	x.land()
	x.shrink()
	if x.growing {
		x.growing = false
		x.store.growing <- struct{}{}
	}
	x.store.freeFormulas.give(x.lengthened())
}

// release frees the slot, but for the bytes that the store keeps for one.
func (x *formulaSlot) release() {
	x.flight.release()
	for _, m := range []*ocl.MemObject{x.batch, x.decoded, x.sets, x.counts, x.docs} {
		if m != nil {
			m.Release()
		}
	}
	more := x.bytes - x.kept
	x.memory.unreserve(more)
	x.store.formulaBytes.Add(-more)
	x.store.formulasKept.Add(x.kept)
}
