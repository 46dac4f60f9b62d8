package cl

import (
	"errors"
	"strings"
	"testing"
	"unsafe"
)

func TestProfiling(t *testing.T) {
	r := newRig(t, CommandQueueProfilingEnable)
	b := r.buffer(1 << 20)
	zero := uint32(0)
	e, err := r.queue.EnqueueFillBuffer(b, unsafe.Pointer(&zero), 4, 0, 1<<20, nil)
	r.must(err)
	defer e.Release()
	r.must(WaitForEvents([]*Event{e}))
	if end, err := e.GetEventProfilingInfo(ProfilingInfoCommandEnd); end == 0 && err == nil {
		t.Skip("the driver's timer stands still")
	}
	last := int64(0) // rusticl knows the later moments only
	for _, info := range []ProfilingInfo{ProfilingInfoCommandQueued, ProfilingInfoCommandSubmit, ProfilingInfoCommandStart, ProfilingInfoCommandEnd} {
		ns, err := e.GetEventProfilingInfo(info)
		if err != nil || ns < last {
			t.Errorf("moment %#x is %d after %d, %v", int(info), ns, last, err)
		}
		last = ns
	}
	if _, err := e.GetEventProfilingInfo(1); !errors.Is(err, ErrInvalidValue) {
		t.Errorf("a moment that is not there: %v", err)
	}
	plain := newRig(t, 0)
	e, err = plain.queue.EnqueueMarkerWithWaitList(nil)
	plain.must(err)
	defer e.Release()
	plain.must(plain.queue.Finish())
	// Some drivers give a time here too.
	if _, err := e.GetEventProfilingInfo(ProfilingInfoCommandEnd); err != nil && !errors.Is(err, ErrProfilingInfoNotAvailable) {
		t.Errorf("a queue without profiling: %v", err)
	}
}

// TestOrder holds commands of two queues back with a user event and checks that
// Flush does not wait for them.
func TestOrder(t *testing.T) {
	r := newRig(t, 0)
	if strings.Contains(r.device.Name(), "Oclgrind") {
		t.Skip("Oclgrind runs the commands inside Flush")
	}
	other, err := r.ctx.CreateCommandQueue(r.device, 0)
	r.must(err)
	defer other.Release()
	gate, err := r.ctx.CreateUserEvent()
	r.must(err)
	defer gate.Release()
	a, b := r.buffer(64), r.buffer(64)
	r.write(a, make([]byte, 64))
	r.write(b, make([]byte, 64))
	pattern := uint32(77)
	fill, err := r.queue.EnqueueFillBuffer(a, unsafe.Pointer(&pattern), 4, 0, 64, []*Event{gate})
	r.must(err)
	defer fill.Release()
	marker, err := r.queue.EnqueueMarkerWithWaitList([]*Event{fill, gate})
	r.must(err)
	defer marker.Release()
	barrier, err := other.EnqueueBarrierWithWaitList([]*Event{marker})
	r.must(err)
	defer barrier.Release()
	copied, err := other.EnqueueCopyBuffer(a, b, 0, 0, 64, []*Event{})
	r.must(err)
	defer copied.Release()

	flushed := make(chan error, 2)
	go func() {
		flushed <- r.queue.Flush()
		flushed <- other.Flush()
	}()
	for range 2 {
		r.must(<-flushed) // unless Flush waits for the commands: up to the time-out of the test
	}
	r.must(gate.SetUserEventStatus(int(CommmandExecStatusComplete)))
	r.must(WaitForEvents([]*Event{fill, copied}))
	if got := words(r.read(b, 64))[15]; got != 77 {
		t.Errorf("the copy ran too early: %d", got)
	}
	if err := gate.SetUserEventStatus(0); !errors.Is(err, ErrInvalidOperation) {
		t.Errorf("the second status: %v", err)
	}
}

func TestWaitLists(t *testing.T) {
	r := newRig(t, 0)
	user := func(status int) *Event {
		e, err := r.ctx.CreateUserEvent()
		r.must(err)
		t.Cleanup(e.Release)
		r.must(e.SetUserEventStatus(status))
		return e
	}
	good, failed, released := user(0), user(-5), user(0)
	released.Release()
	for name, c := range map[string]struct {
		list []*Event
		want error
	}{
		"nil":             {nil, ErrInvalidValue},
		"empty":           {[]*Event{}, ErrInvalidValue},
		"nil event":       {[]*Event{nil}, ErrInvalidEventWaitList},
		"released event":  {[]*Event{good, released}, ErrInvalidEventWaitList},
		"complete events": {[]*Event{good, good}, nil},
		"failed event":    {[]*Event{failed}, ErrExecStatusErrorForEventsInWaitList},
	} {
		if err := WaitForEvents(c.list); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if _, err := r.queue.EnqueueMarkerWithWaitList([]*Event{good, released}); !errors.Is(err, ErrInvalidEventWaitList) {
		t.Errorf("a released event in a wait list: %v", err)
	}
	r.done(r.queue.EnqueueMarkerWithWaitList([]*Event{}))
	r.done(r.queue.EnqueueBarrierWithWaitList(nil))
}

// TestKernelEvents uses the event of a kernel, which the driver makes at its first use: in another
// queue, and not at all after its release or that of its queue.
func TestKernelEvents(t *testing.T) {
	r := newRig(t, 0)
	k := r.kernel("kernel void f(global uint *p) { p[get_global_id(0)] = get_global_id(0) + 7; }", "f")
	other, err := r.ctx.CreateCommandQueue(r.device, 0)
	r.must(err)
	defer other.Release()
	a, b := r.buffer(64), r.buffer(64)
	r.must(k.SetArgs(a))
	launch := func() *Event {
		e, err := r.queue.EnqueueNDRangeKernel(k, nil, []int{16}, []int{16}, nil)
		r.must(err)
		return e
	}
	e := launch()
	r.done(other.EnqueueCopyBuffer(a, b, 0, 0, 64, []*Event{e}))
	if got := words(r.read(b, 64)); got[0] != 7 || got[15] != 22 {
		t.Errorf("the other queue copied %d", got)
	}
	if first, again := e.handle(), e.handle(); first == 0 || first != again {
		t.Errorf("the handle is %#x, then %#x", first, again)
	}
	e.Release()
	released, orphan := launch(), launch()
	released.Release()
	r.must(r.queue.Finish())
	r.queue.Release()
	for _, e := range []*Event{e, released, orphan} {
		if err := WaitForEvents([]*Event{e}); !errors.Is(err, ErrInvalidEventWaitList) {
			t.Errorf("an event that is gone: %v", err)
		}
	}
}
