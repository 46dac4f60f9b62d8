package cl

import (
	"cmp"
	"context"
	"time"
	"unsafe"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/engine/plan"
)

// flight is what commands on their way to one device need: a queue, staging, kernel
// objects of its own, since a kernel object holds its arguments, and the events that
// tell when commands ended and what they took. Slots embed it; it belongs to the
// goroutine that took the slot.
type flight struct {
	backend *Backend
	memory  *budget // that its buffers come out of

	queue    *ocl.CommandQueue // in order
	up, down *pinned

	kernels map[kernelID]*kernel
	after   []*ocl.Event // what an upload waits for, and all that follows it
	events  []timed
	done    chan error // capacity 1: what was waited for has come
	waiting bool       // nobody has read done since
	// Sizes of a launch, which OpenCL takes by pointer.
	global, local [1]int
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
func scoreTime(s *plan.Stats) *time.Duration    { return &s.Score }
func selectTime(s *plan.Stats) *time.Duration   { return &s.Select }
func downloadTime(s *plan.Stats) *time.Duration { return &s.Download }

// newFlight is a flight without queue and staging.
func newFlight(b *Backend, memory *budget) flight {
	return flight{backend: b, memory: memory, kernels: map[kernelID]*kernel{}, done: make(chan error, 1)}
}

// open makes the queue and pinned memory of so many words, and the kernels `names`
// of the program of id.
func (x *flight) open(upWords, downWords int, id kernelID, names ...string) (err error) {
	b := x.backend
	if x.queue, err = b.newQueue(); err != nil {
		return err
	}
	if x.up, err = b.newPinned(4 * upWords); err != nil {
		return err
	}
	if x.down, err = b.newPinned(4 * downWords); err != nil {
		return err
	}
	return x.create(id, names...)
}

// create makes the kernels `names` of the program of id. The program is built here,
// not in Backend.do, which others wait for.
func (x *flight) create(id kernelID, names ...string) error {
	p, err := x.backend.programOf(id)
	if err != nil {
		return err
	}
	return x.backend.do(func() error {
		for _, name := range names {
			k, err := p.CreateKernel(name)
			if err != nil {
				return x.backend.fail("creating kernel "+name, err)
			}
			x.kernels[kernelID{name: name}] = &kernel{Kernel: k}
		}
		return nil
	})
}

// decoder is the flight's own kernel object for a decoder.
func (x *flight) decoder(d int) (*kernel, error) {
	id := decoders[d]
	if k := x.kernels[id]; k != nil {
		return k, nil
	}
	p, err := x.backend.programOf(id)
	if err != nil {
		return nil, err
	}
	k, err := p.CreateKernel(id.name)
	if err != nil {
		return nil, err
	}
	x.kernels[id] = &kernel{Kernel: k}
	return x.kernels[id], nil
}

// write enqueues the upload of the first n words of up.
func (x *flight) write(m *ocl.MemObject, n int) error {
	e, err := x.queue.EnqueueWriteBuffer(m, false, 0, 4*n, unsafe.Pointer(&x.up.words[0]), x.after)
	return x.sent(e, err, uploadTime)
}

func (x *flight) launch(k *kernel, groups, local int, to func(*plan.Stats) *time.Duration) error {
	x.global[0], x.local[0] = groups*local, local
	e, err := x.queue.EnqueueNDRangeKernel(k.Kernel, nil, x.global[:], x.local[:], nil)
	return x.sent(e, err, to)
}

// read enqueues a download of n words, which is what wait waits for.
func (x *flight) read(m *ocl.MemObject, n int) error {
	e, err := x.queue.EnqueueReadBuffer(m, false, 0, 4*n, unsafe.Pointer(&x.down.words[0]), nil)
	if err = x.sent(e, err, downloadTime); err != nil {
		return err
	}
	return x.queue.Flush()
}

func (x *flight) sent(e *ocl.Event, err error, to func(*plan.Stats) *time.Duration) error {
	if err == nil {
		x.events = append(x.events, timed{e, to})
	}
	return err
}

// wait waits for the command sent last, or until ctx ends.
func (x *flight) wait(ctx context.Context) error {
	return x.waitFor(ctx, x.events[len(x.events)-1].event)
}

// waitFor waits for a command, or until ctx ends.
func (x *flight) waitFor(ctx context.Context, e *ocl.Event) error {
	b := x.backend
	if ctx.Done() == nil { // it never ends: no other goroutine is needed
		return x.waitHere(e)
	}
	if err := b.fault("wait"); err != nil {
		return err
	}
	x.waiting = true
	go func() { x.done <- ocl.WaitForEvents([]*ocl.Event{e}) }()
	select {
	case err := <-x.done:
		x.waiting = false
		return b.fail("waiting for a batch", err)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// waitHere waits for a command, whatever becomes of the caller's context.
func (x *flight) waitHere(e *ocl.Event) error {
	if err := x.backend.fault("wait"); err != nil {
		return err
	}
	return x.backend.fail("waiting for a batch", ocl.WaitForEvents([]*ocl.Event{e}))
}

// addTimes adds device times where the backend profiles.
func (x *flight) addTimes(st *plan.Stats) error {
	if !x.backend.opt.Profiling {
		return nil
	}
	for _, t := range x.events {
		from, err1 := t.event.GetEventProfilingInfo(ocl.ProfilingInfoCommandStart)
		to, err2 := t.event.GetEventProfilingInfo(ocl.ProfilingInfoCommandEnd)
		if err := cmp.Or(err1, err2); err != nil {
			return x.backend.fail("reading device times", err)
		}
		*t.to(st) += time.Duration(to - from)
	}
	return nil
}

// releaseEvents does nothing while one of them is waited for.
func (x *flight) releaseEvents() {
	if x.waiting {
		return
	}
	for _, t := range x.events {
		t.event.Release()
	}
	x.events = x.events[:0]
}

// land waits until nothing is under way.
func (x *flight) land() {
	if x.waiting {
		<-x.done
		x.waiting = false
	}
	x.releaseEvents()
	_ = x.queue.Finish() // after a failure commands may be under way
}

func (x *flight) release() {
	if x.queue != nil {
		x.queue.Release()
	}
	for _, k := range x.kernels {
		k.Release()
	}
	for _, p := range []*pinned{x.up, x.down} {
		if p != nil {
			p.release(x.backend)
		}
	}
}
