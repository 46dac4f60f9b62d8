package cl

import ocl "github.com/jgillich/go-opencl/cl"

// formulaSlot is what one batch of formulas in flight needs, as slot is for
// conjunctions. It belongs to the goroutine that took it from Store.freeFormulas.
type formulaSlot struct {
	store *Store
	shape formulaShape
	bytes uint64

	flight
	batch   *ocl.MemObject // what was uploaded
	decoded *ocl.MemObject
	sets    *ocl.MemObject // bits, group after group
	counts  *ocl.MemObject // documents of each group
	docs    *ocl.MemObject
}

// formulaProgram holds both kernels of formula.cl.
var formulaProgram = kernelID{name: "formula"}

func (s *Store) newFormulaSlot() (*formulaSlot, error) {
	b := s.backend
	shape := formulaShapeFor(b.tuning, b.dev.info.Memory)
	x := &formulaSlot{store: s, shape: shape, bytes: shape.bytes(), flight: newFlight(b, s.memory)}
	if err := s.memory.reserve(x.bytes, "scratch of formulas"); err != nil {
		return nil, err
	}
	if err := x.fill(); err != nil {
		x.release()
		return nil, err
	}
	s.formulaBytes.Add(x.bytes)
	return x, nil
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

// grow makes room for so many decoded words.
func (x *formulaSlot) grow(words int) error {
	b := x.store.backend
	more := 4 * uint64(words-x.shape.decoded)
	if err := b.fits(4*uint64(words), "they", "decoding the lists of a formula"); err != nil {
		return err
	}
	if err := x.memory.reserve(more, "decoded lists of a formula"); err != nil {
		return err
	}
	m, err := b.buffer(ocl.MemReadWrite, 4*uint64(words), "decoded lists of a formula")
	if err != nil {
		x.memory.unreserve(more)
		return err
	}
	x.bytes += more
	x.store.formulaBytes.Add(more)
	x.decoded.Release()
	x.decoded, x.shape.decoded = m, words
	return nil
}

// giveBack waits until nothing is under way and lets others have the slot.
func (x *formulaSlot) giveBack() {
	x.land()
	x.store.freeFormulas.give(x)
}

func (x *formulaSlot) release() {
	x.flight.release()
	for _, m := range []*ocl.MemObject{x.batch, x.decoded, x.sets, x.counts, x.docs} {
		if m != nil {
			m.Release()
		}
	}
	x.memory.unreserve(x.bytes)
}
