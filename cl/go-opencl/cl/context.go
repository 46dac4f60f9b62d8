package cl

import (
	"runtime"
	"slices"
	"unsafe"
)

// Context holds the objects that a set of devices shares.
type Context struct {
	id      uintptr
	devices []*Device
}

// CreateContext makes a context of devices of one platform.
func CreateContext(devices []*Device) (*Context, error) {
	if err := load(); err != nil {
		return nil, err
	}
	if len(devices) == 0 {
		return nil, ErrInvalidValue
	}
	ids, err := handles(devices)
	if err != nil {
		return nil, err
	}
	var code int32
	id := clCreateContext.call(0, uintptr(len(ids)), uintptr(unsafe.Pointer(&ids[0])), 0, 0, uintptr(unsafe.Pointer(&code)))
	if err := created(id, code); err != nil {
		return nil, err
	}
	return &Context{id: id, devices: slices.Clone(devices)}, nil
}

// CreateCommandQueue makes a queue on one of the context's devices.
func (ctx *Context) CreateCommandQueue(device *Device, properties CommandQueueProperty) (*CommandQueue, error) {
	if ctx.handle() == 0 {
		return nil, ErrInvalidContext
	}
	var code int32
	id := clCreateCommandQueue.call(ctx.id, device.handle(), uintptr(properties), uintptr(unsafe.Pointer(&code)))
	if err := created(id, code); err != nil {
		return nil, err
	}
	return &CommandQueue{id: id, inOrder: properties == 0}, nil
}

// CreateProgramWithSource makes a program of the concatenated sources.
func (ctx *Context) CreateProgramWithSource(sources []string) (*Program, error) {
	if ctx.handle() == 0 {
		return nil, ErrInvalidContext
	}
	if len(sources) == 0 {
		return nil, ErrInvalidValue
	}
	var pinner runtime.Pinner
	defer pinner.Unpin()
	texts := make([]*byte, len(sources))
	for i, source := range sources {
		texts[i] = cString(source)
		pinner.Pin(texts[i])
	}
	var code int32
	id := clCreateProgramWithSource.call(ctx.id, uintptr(len(texts)), uintptr(unsafe.Pointer(&texts[0])), 0, uintptr(unsafe.Pointer(&code)))
	if err := created(id, code); err != nil {
		return nil, err
	}
	return &Program{id: id, context: ctx.id, sources: slices.Clone(sources), devices: ctx.devices}, nil
}

// CreateUserEvent makes an event that SetUserEventStatus completes.
func (ctx *Context) CreateUserEvent() (*Event, error) {
	if ctx.handle() == 0 {
		return nil, ErrInvalidContext
	}
	var code int32
	id := clCreateUserEvent.call(ctx.id, uintptr(unsafe.Pointer(&code)))
	if err := created(id, code); err != nil {
		return nil, err
	}
	return &Event{id: id}, nil
}

// Release gives the context back.
func (ctx *Context) Release() {
	if ctx != nil {
		release(clReleaseContext, &ctx.id)
	}
}

func (ctx *Context) handle() uintptr {
	if ctx == nil {
		return 0
	}
	return ctx.id
}

// created judges the result of a function that makes an object.
func created(id uintptr, code int32) error {
	if code == 0 && id == 0 {
		return ErrUnknown
	}
	return toError(code)
}

// cString returns a copy of s with a zero byte behind it.
func cString(s string) *byte {
	return unsafe.SliceData(append([]byte(s), 0))
}
