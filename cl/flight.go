package cl

import (
	"cmp"
	"context"
	"time"
	"unsafe"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/engine/plan"
)

// flight holds the objects that commands under way need: an in-order queue, staging
// memory, kernel objects of its own, since a kernel object holds its arguments, and the
// events that report the end and the duration of commands. A slot embeds it. It belongs to
// the goroutine that took the slot.
type flight struct {
	rt     *opened
	memory *budget // of its buffers

	queue    *ocl.CommandQueue
	up, down *pinned

	kernels map[kernelID]*kernel
	after   []*ocl.Event // the upload and all later commands wait for them
	events  []timed
	done    chan error // capacity 1: the result of a wait
	waiting bool       // a wait has not been received from done
	// Sizes of a launch, which OpenCL takes by pointer.
	global, local [1]int
}

// timed is a command under way and the counter for its duration.
type timed struct {
	event *ocl.Event
	to    counter
}

// counter selects a duration of plan.Stats.
type counter = func(*plan.Stats) *time.Duration

func uploadTime(s *plan.Stats) *time.Duration   { return &s.Upload }
func decodeTime(s *plan.Stats) *time.Duration   { return &s.Decode }
func probeTime(s *plan.Stats) *time.Duration    { return &s.Probe }
func compactTime(s *plan.Stats) *time.Duration  { return &s.Compact }
func scoreTime(s *plan.Stats) *time.Duration    { return &s.Score }
func selectTime(s *plan.Stats) *time.Duration   { return &s.Select }
func downloadTime(s *plan.Stats) *time.Duration { return &s.Download }

// newFlight makes a flight without queue and staging memory.
func newFlight(rt *opened, memory *budget) flight {
	return flight{rt: rt, memory: memory, kernels: map[kernelID]*kernel{}, done: make(chan error, 1)}
}

// open makes the queue and pinned memory of the given numbers of words.
func (x *flight) open(upWords, downWords int) (err error) {
	if x.queue, err = x.rt.newQueue(); err != nil {
		return err
	}
	if x.up, err = x.rt.newPinned(4 * upWords); err != nil {
		return err
	}
	x.down, err = x.rt.newPinned(4 * downWords)
	return err
}

// create makes kernels of the program of id. method kernel finds them by name. It
// builds the program here and not in opened.do, where other goroutines would wait.
func (x *flight) create(id kernelID, names ...string) error {
	p, err := x.rt.programOf(id)
	if err != nil {
		return err
	}
	return x.rt.do(func() error {
		for _, name := range names {
			k, err := p.CreateKernel(name)
			if err != nil {
				return x.rt.fail("creating kernel "+name, err)
			}
			x.kernels[kernelID{name: name}] = &kernel{Kernel: k}
		}
		return nil
	})
}

// kernel returns a kernel that create has made, or nil.
func (x *flight) kernel(name string) *kernel { return x.kernels[kernelID{name: name}] }

// kernelOf returns the flight's kernel object for id and makes it on first use. It may run
// in opened.do if the program is built already.
func (x *flight) kernelOf(id kernelID) (*kernel, error) {
	if k := x.kernels[id]; k != nil {
		return k, nil
	}
	p, err := x.rt.programOf(id)
	if err != nil {
		return nil, err
	}
	k, err := p.CreateKernel(id.name)
	if err != nil {
		return nil, x.rt.fail("creating kernel "+id.name, err)
	}
	x.kernels[id] = &kernel{Kernel: k}
	return x.kernels[id], nil
}

// write enqueues the upload of the first n words of the staging memory to m.
func (x *flight) write(m *ocl.MemObject, n int) error {
	e, err := x.queue.EnqueueWriteBuffer(m, false, 0, 4*n, unsafe.Pointer(&x.up.words[0]), x.after)
	return x.sent(e, err, uploadTime)
}

// launch enqueues a kernel of one dimension, whose duration goes to a counter.
func (x *flight) launch(k *kernel, groups, local int, to counter) error {
	x.global[0], x.local[0] = groups*local, local
	e, err := x.queue.EnqueueNDRangeKernel(k.Kernel, nil, x.global[:], x.local[:], nil)
	return x.sent(e, err, to)
}

// read enqueues the download of the first n words of m and flushes the queue. The command
// is the one that wait waits for.
func (x *flight) read(m *ocl.MemObject, n int) error {
	if err := x.readAt(m, 0, 0, n); err != nil {
		return err
	}
	return x.queue.Flush()
}

// readAt enqueues the download of n words of m, from one word on, to a word of the staging
// memory.
func (x *flight) readAt(m *ocl.MemObject, from, to, n int) error {
	e, err := x.queue.EnqueueReadBuffer(m, false, 4*from, 4*n, unsafe.Pointer(&x.down.words[to]), nil)
	return x.sent(e, err, downloadTime)
}

// sent notes the event of a command. It returns the error of the call that enqueued it.
func (x *flight) sent(e *ocl.Event, err error, to counter) error {
	if err == nil {
		x.events = append(x.events, timed{e, to})
	}
	return err
}

// last returns the event of the last command.
func (x *flight) last() *ocl.Event { return x.events[len(x.events)-1].event }

// wait waits for the last command, or until ctx ends.
func (x *flight) wait(ctx context.Context) error { return x.waitFor(ctx, x.last()) }

// waitFor waits for a command, or until ctx ends.
func (x *flight) waitFor(ctx context.Context, e *ocl.Event) error {
	if ctx.Done() == nil { // it never ends: no other goroutine is needed
		return x.waitHere(e)
	}
	if err := x.rt.fault("wait"); err != nil {
		return err
	}
	x.waiting = true
	go func() { x.done <- ocl.WaitForEvents([]*ocl.Event{e}) }()
	select {
	case err := <-x.done:
		x.waiting = false
		return x.rt.fail("waiting for a batch", err)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// waitHere waits for a command and ignores the caller's context.
func (x *flight) waitHere(e *ocl.Event) error {
	if err := x.rt.fault("wait"); err != nil {
		return err
	}
	return x.rt.fail("waiting for a batch", ocl.WaitForEvents([]*ocl.Event{e}))
}

// addTimes adds the durations of the commands if the device profiles.
func (x *flight) addTimes(st *plan.Stats) error {
	if !x.rt.profiling {
		return nil
	}
	for _, t := range x.events {
		from, err1 := t.event.GetEventProfilingInfo(ocl.ProfilingInfoCommandStart)
		to, err2 := t.event.GetEventProfilingInfo(ocl.ProfilingInfoCommandEnd)
		if err := cmp.Or(err1, err2); err != nil {
			return x.rt.fail("reading device times", err)
		}
		*t.to(st) += time.Duration(to - from)
	}
	return nil
}

// releaseEvents releases the events, unless a wait is under way.
func (x *flight) releaseEvents() {
	if x.waiting {
		return
	}
	for _, t := range x.events {
		t.event.Release()
	}
	x.events = x.events[:0]
}

// land waits until no command is under way.
func (x *flight) land() {
	if x.waiting {
		<-x.done
		x.waiting = false
	}
	x.releaseEvents()
	_ = x.queue.Finish() // after a failure commands may be under way
}

// release frees all objects. No command may be under way.
func (x *flight) release() {
	if x.queue != nil {
		x.queue.Release()
	}
	for _, k := range x.kernels {
		k.Release()
	}
	for _, p := range []*pinned{x.up, x.down} {
		if p != nil {
			p.release(x.rt)
		}
	}
}
