package cl

import (
	"fmt"
	"time"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/engine/plan"
)

// formulaSlot is what one batch of formulas in flight needs, as slot is for
// conjunctions. It belongs to the goroutine that took it from Store.freeFormulas.
type formulaSlot struct {
	store *Store
	shape formulaShape
	bytes uint64

	queue    *ocl.CommandQueue // in order
	up, down *pinned
	batch    *ocl.MemObject // what was uploaded
	decoded  *ocl.MemObject
	sets     *ocl.MemObject // bits, group after group
	counts   *ocl.MemObject // documents of each group
	docs     *ocl.MemObject

	kernels map[kernelID]*ocl.Kernel
	events  []timed
	done    chan error // capacity 1: what was waited for has come
	waiting bool       // nobody has read done since
}

// timed is a command on its way and the counter that its time goes to.
type timed struct {
	event *ocl.Event
	to    func(*plan.Stats) *time.Duration
}

func uploadTime(s *plan.Stats) *time.Duration   { return &s.Upload }
func decodeTime(s *plan.Stats) *time.Duration   { return &s.Decode }
func probeTime(s *plan.Stats) *time.Duration    { return &s.Probe }
func compactTime(s *plan.Stats) *time.Duration  { return &s.Compact }
func downloadTime(s *plan.Stats) *time.Duration { return &s.Download }

// formulaProgram holds both kernels of formula.cl.
var formulaProgram = kernelID{name: "formula"}

func (s *Store) newFormulaSlot() (*formulaSlot, error) {
	b := s.backend
	shape := formulaShapeFor(b.tuning, b.dev.info.Memory)
	x := &formulaSlot{store: s, shape: shape, bytes: shape.bytes(), kernels: map[kernelID]*ocl.Kernel{}, done: make(chan error, 1)}
	if err := b.reserve(x.bytes, "scratch of formulas"); err != nil {
		return nil, err
	}
	if err := x.fill(); err != nil {
		x.release()
		return nil, err
	}
	return x, nil
}

// fill makes what a slot has.
func (x *formulaSlot) fill() (err error) {
	b, shape := x.store.backend, x.shape
	if x.queue, err = b.newQueue(); err != nil {
		return err
	}
	for _, m := range []struct {
		to    **ocl.MemObject
		words int
		what  string
	}{
		{&x.batch, formulaUpload, "formulas"}, {&x.decoded, shape.decoded, "decoded lists"},
		{&x.sets, shape.groups * formulaRange / 32, "sets"}, {&x.counts, shape.groups, "counts"}, {&x.docs, shape.docs, "docIDs"},
	} {
		if *m.to, err = b.buffer(ocl.MemReadWrite, 4*uint64(m.words), m.what); err != nil {
			return err
		}
	}
	if x.up, err = b.newPinned(4 * formulaUpload); err != nil {
		return err
	}
	if x.down, err = b.newPinned(4 * max(shape.docs, shape.groups)); err != nil {
		return err
	}
	// Built here, not on the owner, which others wait for.
	p, err := b.programOf(formulaProgram)
	if err != nil {
		return err
	}
	return b.do(func() error {
		for _, name := range []string{"formula", "expand"} {
			k, err := p.CreateKernel(name)
			if err != nil {
				return b.fail("creating kernel "+name, err)
			}
			x.kernels[kernelID{name: name}] = k
		}
		return nil
	})
}

// grow makes room for so many decoded words.
func (x *formulaSlot) grow(words int) error {
	b := x.store.backend
	more := 4 * uint64(words-x.shape.decoded)
	if 4*uint64(words) > b.dev.info.MaxAlloc {
		return &plan.DeviceError{Kind: plan.ErrOutOfMemory, Device: b.dev.String(), Op: "decoding the lists of a formula",
			Err: fmt.Errorf("they take %d bytes, the largest buffer has %d", 4*words, b.dev.info.MaxAlloc)}
	}
	if err := b.reserve(more, "decoded lists of a formula"); err != nil {
		return err
	}
	m, err := b.buffer(ocl.MemReadWrite, 4*uint64(words), "decoded lists of a formula")
	if err != nil {
		b.unreserve(more)
		return err
	}
	x.bytes += more
	x.store.formulaBytes.Add(more)
	x.decoded.Release()
	x.decoded, x.shape.decoded = m, words
	return nil
}

// releaseEvents does nothing while one of them is waited for.
func (x *formulaSlot) releaseEvents() {
	if x.waiting {
		return
	}
	for _, t := range x.events {
		t.event.Release()
	}
	x.events = x.events[:0]
}

// giveBack waits until nothing is under way and lets others have the slot.
func (x *formulaSlot) giveBack() {
	if x.waiting {
		<-x.done
		x.waiting = false
	}
	x.releaseEvents()
	_ = x.queue.Finish() // after a failure commands may be under way
	x.store.freeFormulas <- x
}

func (x *formulaSlot) release() {
	b := x.store.backend
	if x.queue != nil {
		x.queue.Release()
	}
	for _, k := range x.kernels {
		k.Release()
	}
	for _, p := range []*pinned{x.up, x.down} {
		if p != nil {
			p.release(b)
		}
	}
	for _, m := range []*ocl.MemObject{x.batch, x.decoded, x.sets, x.counts, x.docs} {
		if m != nil {
			m.Release()
		}
	}
	b.unreserve(x.bytes)
}
