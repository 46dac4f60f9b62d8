package cl

import (
	"errors"
	"testing"
)

// TestReleased uses objects that were released twice. Later calls must return an
// error and must not reach the driver.
func TestReleased(t *testing.T) {
	r := newRig(t, 0)
	k := r.kernel("kernel void f(uint n) {}", "f")
	p, err := r.ctx.CreateProgramWithSource([]string{"kernel void f(uint n) {}"})
	r.must(err)
	e, err := r.queue.EnqueueMarkerWithWaitList(nil)
	r.must(err)
	b := r.buffer(64)
	r.must(r.queue.Finish())
	for range 2 {
		k.Release()
		p.Release()
		e.Release()
		b.Release()
		r.queue.Release()
		r.ctx.Release()
	}
	if b.handle() != 0 {
		t.Error("the buffer has a handle")
	}
	checkInvalid(t, r.ctx, r.queue, p, k, e)
}

func TestNil(t *testing.T) {
	checkInvalid(t, nil, nil, nil, nil, nil)
	checkInvalid(t, &Context{}, &CommandQueue{}, &Program{}, &Kernel{}, &Event{})
	for _, d := range []*Device{nil, {}} {
		if d.Name() != "" || d.Type() != 0 || d.MaxWorkItemSizes() != nil || d.GlobalMemSize() != 0 || d.Available() {
			t.Error("no device has properties")
		}
	}
	for _, p := range []*Platform{nil, {}} {
		if p.Name()+p.Vendor()+p.Version()+p.Profile()+p.Extensions() != "" {
			t.Error("no platform has properties")
		}
		if _, err := p.GetDevices(DeviceTypeAll); !errors.Is(err, ErrInvalidPlatform) {
			t.Errorf("no platform has devices: %v", err)
		}
	}
	if load() == nil {
		for _, devices := range [][]*Device{nil, {}, {nil}, {{}}} {
			if _, err := CreateContext(devices); err == nil {
				t.Errorf("a context of %v", devices)
			}
		}
	}
	(*MemObject)(nil).Release()
	new(MemObject).Release()
}

func checkInvalid(t *testing.T, ctx *Context, q *CommandQueue, p *Program, k *Kernel, e *Event) {
	t.Helper()
	_, queue := ctx.CreateCommandQueue(nil, 0)
	_, program := ctx.CreateProgramWithSource([]string{"x"})
	_, user := ctx.CreateUserEvent()
	_, buffer := ctx.CreateEmptyBuffer(MemReadWrite, 8)
	_, data := ctx.CreateBuffer(MemReadWrite, []byte{1})
	_, write := q.EnqueueWriteBuffer(nil, true, 0, 0, nil, nil)
	_, read := q.EnqueueReadBuffer(nil, true, 0, 0, nil, nil)
	_, copied := q.EnqueueCopyBuffer(nil, nil, 0, 0, 0, nil)
	_, fill := q.EnqueueFillBuffer(nil, nil, 0, 0, 0, nil)
	_, _, mapped := q.EnqueueMapBuffer(nil, true, 0, 0, 0, nil)
	_, unmap := q.EnqueueUnmapMemObject(nil, nil, nil)
	_, launch := q.EnqueueNDRangeKernel(nil, nil, nil, nil, nil)
	_, marker := q.EnqueueMarkerWithWaitList(nil)
	_, barrier := q.EnqueueBarrierWithWaitList(nil)
	_, kernel := p.CreateKernel("f")
	_, args := k.NumArgs()
	_, size := k.WorkGroupSize(nil)
	_, multiple := k.PreferredWorkGroupSizeMultiple(nil)
	_, profile := e.GetEventProfilingInfo(ProfilingInfoCommandEnd)
	for want, errs := range map[error][]error{
		ErrInvalidContext:       {queue, program, user, buffer, data},
		ErrInvalidCommandQueue:  {write, read, copied, fill, mapped, unmap, launch, marker, barrier, q.Flush(), q.Finish()},
		ErrInvalidProgram:       {kernel, p.BuildProgram(nil, "")},
		ErrInvalidKernel:        {args, size, multiple, k.SetArgs(uint32(1)), k.SetArgLocal(0, 4)},
		ErrInvalidEvent:         {profile, e.SetUserEventStatus(0)},
		ErrInvalidEventWaitList: {WaitForEvents([]*Event{e})},
	} {
		for i, err := range errs {
			if !errors.Is(err, want) {
				t.Errorf("call %d gave %v, want %v", i, err, want)
			}
		}
	}
	k.Release()
	p.Release()
	e.Release()
	q.Release()
	ctx.Release()
}
