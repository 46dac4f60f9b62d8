package device

import (
	"context"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/engine/file/mapped"
)

// A device may hang. Callers wait for it on other goroutines, so that they can return when their context ends.

// Detached returns the result of f, or the error of ctx if that ends first, as on a device that hangs: then f runs on to
// its end, and keep gets its result, if that is no error. The device is not closed before, unless rt is nil. The fault of a
// mapped file is an error.
func Detached[T any](ctx context.Context, rt *Runtime, f func() (T, error), keep func(T)) (T, error) {
	if ctx.Done() == nil {
		return caught(f)
	}
	type result struct {
		value T
		err   error
	}
	end, left := make(chan result), make(chan struct{})
	rt.detach(func() {
		value, err := caught(f)
		select {
		case end <- result{value, err}:
		case <-left:
			if err == nil {
				keep(value)
			}
		}
	})
	select {
	case r := <-end:
		return r.value, r.err
	case <-ctx.Done():
		close(left)
		var none T
		return none, ctx.Err()
	}
}

// detach calls f on a goroutine, whose end Close waits for.
func (rt *Runtime) detach(f func()) {
	if rt == nil {
		go f()
	} else {
		rt.detached.Go(f)
	}
}

// caught calls f. The fault of a mapped file is an error.
func caught[T any](f func() (T, error)) (t T, err error) {
	defer mapped.Catch(mapped.Watch(), &err)
	return f()
}

// wait waits for a command, or until ctx ends, and releases its event. free, which may be nil, is called once the command has
// ended.
func wait(ctx context.Context, e *ocl.Event, free func()) error {
	_, err := Detached(ctx, nil, func() (struct{}, error) {
		if free != nil {
			defer free()
		}
		defer e.Release()
		return struct{}{}, ocl.WaitForEvents([]*ocl.Event{e})
	}, func(struct{}) {})
	return err
}

// Free calls free, which may wait for the device: on a goroutine if ctx has ended.
func Free(ctx context.Context, rt *Runtime, free func()) {
	if ctx.Err() != nil {
		rt.detach(free)
		return
	}
	free()
}

// ReadOnly makes a buffer that kernels only read, as Buffer does.
func (rt *Runtime) ReadOnly(ctx context.Context, bytes uint64, what string) (*ocl.MemObject, error) {
	return Detached(ctx, rt, func() (*ocl.MemObject, error) { return rt.Buffer(ocl.MemReadOnly, bytes, what) }, (*ocl.MemObject).Release)
}

// Staging makes pinned memory, as NewPinned does.
func (rt *Runtime) Staging(ctx context.Context, bytes int) (*Pinned, error) {
	return Detached(ctx, rt, func() (*Pinned, error) { return rt.NewPinned(bytes) }, func(p *Pinned) { p.Release(rt) })
}
