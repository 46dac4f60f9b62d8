package device

import (
	"cmp"
	"context"
	"errors"
	"time"
	"unsafe"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/engine/plan"
)

// Flight holds the objects that commands under way need: an in-order queue, staging
// memory, kernel objects of its own, since a kernel object holds its arguments, and the
// events that report the end and the duration of commands. A slot embeds it. It belongs to
// the goroutine that took the slot.
type Flight struct {
	Device *Runtime
	Memory *Budget // budget of its buffers

	Queue    *ocl.CommandQueue
	Up, Down *Pinned

	kernels map[KernelID]*kernel
	ctx     context.Context // of Enqueue
	After   []*ocl.Event    // the upload and all later commands wait for them
	Events  []timed
	Done    chan error // capacity 1: the result of a wait
	waiting bool       // a wait has not been received from done
	landed  bool       // the last command is complete
	// Sizes of a launch, which OpenCL takes by pointer.
	global, local, offset [2]int
}

// timed is a command under way and the counter for its duration.
type timed struct {
	Event *ocl.Event
	to    Counter
}

// Counter selects a duration of plan.Stats.
type Counter = func(*plan.Stats) *time.Duration

func UploadTime(s *plan.Stats) *time.Duration   { return &s.Upload }
func DecodeTime(s *plan.Stats) *time.Duration   { return &s.Decode }
func ProbeTime(s *plan.Stats) *time.Duration    { return &s.Probe }
func CompactTime(s *plan.Stats) *time.Duration  { return &s.Compact }
func ClearTime(s *plan.Stats) *time.Duration    { return &s.Clear }
func ScoreTime(s *plan.Stats) *time.Duration    { return &s.Score }
func SelectTime(s *plan.Stats) *time.Duration   { return &s.Select }
func downloadTime(s *plan.Stats) *time.Duration { return &s.Download }

// NewFlight makes a flight without queue and staging memory.
func NewFlight(rt *Runtime, memory *Budget) Flight {
	return Flight{Device: rt, Memory: memory, kernels: map[KernelID]*kernel{}, ctx: context.Background(), Done: make(chan error, 1)}
}

// Open makes the queue and pinned memory of the given numbers of words.
func (x *Flight) Open(upWords, downWords int) (err error) {
	if x.Queue, err = x.Device.NewQueue(); err != nil {
		return err
	}
	if x.Up, err = x.Device.NewPinned(4 * upWords); err != nil {
		return err
	}
	x.Down, err = x.Device.NewPinned(4 * downWords)
	return err
}

// Prepare builds the programs of kernels that later rounds launch. It does not run in Runtime.Do,
// where other goroutines would wait for the compiler.
func (x *Flight) Prepare(ids ...KernelID) error {
	for _, id := range ids {
		if _, err := x.Device.ProgramOf(id); err != nil {
			return err
		}
	}
	return nil
}

// Write enqueues the upload of the first n words of the staging memory to m.
func (x *Flight) Write(m *ocl.MemObject, n int) error {
	e, err := x.Queue.EnqueueWriteBuffer(m, false, 0, 4*n, unsafe.Pointer(&x.Up.Words[0]), x.After)
	return x.Sent(e, err, UploadTime)
}

// Read enqueues the download of the first n words of m and flushes the queue. The command
// is the one that wait waits for.
func (x *Flight) Read(m *ocl.MemObject, n int) error {
	if err := x.ReadAt(m, 0, 0, n); err != nil {
		return err
	}
	return x.Queue.Flush()
}

// ReadAt enqueues the download of n words of m, from one word on, to a word of the staging
// memory.
func (x *Flight) ReadAt(m *ocl.MemObject, from, to, n int) error {
	return x.ReadTo(x.Down, m, from, to, n)
}

// ReadTo is ReadAt with other staging memory.
func (x *Flight) ReadTo(p *Pinned, m *ocl.MemObject, from, to, n int) error {
	e, err := x.Queue.EnqueueReadBuffer(m, false, 4*from, 4*n, unsafe.Pointer(&p.Words[to]), nil)
	return x.Sent(e, err, downloadTime)
}

// ReadNow downloads the first words of m and waits for them, or until ctx ends. The device writes nothing to the words of
// a caller whose ctx has ended.
func (x *Flight) ReadNow(ctx context.Context, m *ocl.MemObject, to []uint32) error {
	if len(to) == 0 {
		return nil
	}
	words := to
	if ctx.Done() != nil {
		words = make([]uint32, len(to))
	}
	err := x.Device.await(ctx, x.Queue, words, func() (*ocl.Event, error) {
		return x.Queue.EnqueueReadBuffer(m, false, 0, 4*len(words), unsafe.Pointer(&words[0]), nil)
	})
	if err != nil {
		x.landed = false
		return x.Device.Fail("downloading results", err)
	}
	copy(to, words)
	return nil
}

// Sent notes the event of a command. It returns the error of the call that enqueued it.
func (x *Flight) Sent(e *ocl.Event, err error, to Counter) error {
	x.landed = false
	if err == nil {
		x.Events = append(x.Events, timed{e, to})
	}
	return err
}

// Last returns the event of the last command.
func (x *Flight) Last() *ocl.Event { return x.Events[len(x.Events)-1].Event }

// Run enqueues the commands of f and waits for the last one, or until ctx ends. op names the work in
// errors.
func (x *Flight) Run(ctx context.Context, op string, f func() error) error {
	err := x.Enqueue(ctx, func() error {
		if err := x.Device.Fault("enqueue"); err != nil {
			return err
		}
		return f()
	})
	if err != nil {
		return x.Device.Fail(op, err)
	}
	return x.Wait(ctx)
}

// Enqueue calls f in Runtime.Do. Where f waits, it does so until ctx ends.
func (x *Flight) Enqueue(ctx context.Context, f func() error) error {
	x.ctx = ctx
	defer func() { x.ctx = context.Background() }()
	return x.Device.Do(f)
}

// Pause waits, in Runtime.Do, for the commands so far. Others enqueue meanwhile.
func (x *Flight) Pause() error {
	if len(x.Events) == 0 {
		return nil
	}
	if err := x.Queue.Flush(); err != nil {
		return err
	}
	return x.Device.yield(func() error { return x.WaitFor(x.ctx, x.Last()) })
}

// zeros are the words that Clear sends. A driver may read them at any time.
var zeros [1 << 14]uint32

// Clear enqueues zeros for the first words of m. A fill would be shorter, but Oclgrind takes its result for
// uninitialised.
func (x *Flight) Clear(m *ocl.MemObject, words int) error {
	for at := 0; at < words; at += len(zeros) {
		e, err := x.Queue.EnqueueWriteBuffer(m, false, 4*at, 4*min(words-at, len(zeros)), unsafe.Pointer(&zeros), nil)
		if err != nil {
			return err
		}
		e.Release()
	}
	x.landed = false
	return nil
}

// Wait sheds events and waits for the last command, or until ctx ends.
func (x *Flight) Wait(ctx context.Context) error {
	x.Shed()
	return x.WaitFor(ctx, x.Last())
}

// WaitFor waits for a command, or until ctx ends.
func (x *Flight) WaitFor(ctx context.Context, e *ocl.Event) error {
	if ctx.Done() == nil { // it never ends: no other goroutine is needed
		return x.WaitHere(e)
	}
	if err := x.Device.Fault("wait"); err != nil {
		return err
	}
	err := x.leave(ctx, func() error { return ocl.WaitForEvents([]*ocl.Event{e}) })
	if x.waiting {
		return err
	}
	return x.waited(e, err)
}

// leave calls f, which waits for the device, on a goroutine. It returns when ctx ends: Land waits for f then.
func (x *Flight) leave(ctx context.Context, f func() error) error {
	x.waiting = true
	go func() { x.Done <- f() }()
	select {
	case err := <-x.Done:
		x.waiting = false
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Grow is Runtime.Grow for memory of the flight, without a copy, until ctx ends.
func (x *Flight) Grow(ctx context.Context, p **Pinned, words int) error {
	if (*p).has(words) {
		return nil
	}
	return x.leave(ctx, func() error { return x.Device.Grow(p, words, 0) })
}

// WaitHere waits for a command and ignores the caller's context.
func (x *Flight) WaitHere(e *ocl.Event) error {
	if err := x.Device.Fault("wait"); err != nil {
		return err
	}
	return x.waited(e, ocl.WaitForEvents([]*ocl.Event{e}))
}

// waited notes the end of a wait for a command. It returns the error of the wait.
func (x *Flight) waited(e *ocl.Event, err error) error {
	x.landed = err == nil && e == x.Last()
	return x.Device.Fail("waiting for a batch", err)
}

// AddTimes adds the durations of the commands if the device profiles.
func (x *Flight) AddTimes(st *plan.Stats) error {
	if !x.Device.Profiling {
		return nil
	}
	for _, t := range x.Events {
		took, err := x.Device.Took(t.Event, t.Event)
		if err != nil {
			return err
		}
		*t.to(st) += took
	}
	return nil
}

// Took is the time from the start of a command to the end of another one, both complete, by the device's clock. A driver may not
// have noticed their end: NVIDIA's then says that no times are available, if several queues are at work.
func (rt *Runtime) Took(first, last *ocl.Event) (time.Duration, error) {
	read := func() (time.Duration, error) {
		from, err1 := first.GetEventProfilingInfo(ocl.ProfilingInfoCommandStart)
		to, err2 := last.GetEventProfilingInfo(ocl.ProfilingInfoCommandEnd)
		return time.Duration(to - from), cmp.Or(rt.Fault("profile"), err1, err2)
	}
	took, err := read()
	if errors.Is(err, ocl.ErrProfilingInfoNotAvailable) {
		if err = ocl.WaitForEvents([]*ocl.Event{first, last}); err == nil {
			took, err = read()
		}
	}
	return took, rt.Fail("reading device times", err)
}

// ReleaseEvents releases the events, unless a wait is under way.
func (x *Flight) ReleaseEvents() {
	if x.waiting {
		return
	}
	for _, t := range x.Events {
		t.Event.Release()
	}
	x.Events = x.Events[:0]
}

// Shed releases the events of all commands but the last, unless their durations are to be read. Drivers take about
// a microsecond for each: it passes while the commands run.
func (x *Flight) Shed() {
	last := len(x.Events) - 1
	if x.Device.Profiling || last < 1 {
		return
	}
	for _, t := range x.Events[:last] {
		t.Event.Release()
	}
	x.Events = append(x.Events[:0], x.Events[last])
}

// Land waits until no command is under way.
func (x *Flight) Land() {
	if x.waiting {
		<-x.Done
		x.waiting = false
	}
	x.ReleaseEvents()
	if !x.landed {
		_ = x.Queue.Finish() // after a failure commands may be under way
	}
}

// Release frees all objects. No command may be under way.
func (x *Flight) Release() {
	if x.Queue != nil {
		x.Queue.Release()
	}
	for _, k := range x.kernels {
		k.Release()
	}
	for _, p := range []*Pinned{x.Up, x.Down} {
		if p != nil {
			p.Release(x.Device)
		}
	}
}
