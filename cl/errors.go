package cl

import (
	"errors"
	"fmt"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/engine/plan"
)

// fail wraps an error of the driver. Memory errors are ErrOutOfMemory; out of
// resources is too while buffers are made, later it is what drivers answer when
// a kernel has crashed. Everything else during work means that the device
// cannot be relied on any more.
func (b *Backend) fail(op string, err error) error {
	if err == nil {
		return nil
	}
	var typed *plan.DeviceError
	if errors.As(err, &typed) {
		return err
	}
	kind := plan.ErrDeviceLost
	if errors.Is(err, ocl.ErrMemObjectAllocationFailure) || errors.Is(err, ocl.ErrOutOfHostMemory) ||
		errors.Is(err, ocl.ErrInvalidBufferSize) {
		kind = plan.ErrOutOfMemory
	}
	return &plan.DeviceError{Kind: kind, Device: b.dev.String(), Op: op, Err: err}
}

// outOfMemory is an error of too much that was asked for.
func (b *Backend) outOfMemory(op string, err error) error {
	return &plan.DeviceError{Kind: plan.ErrOutOfMemory, Device: b.dev.String(), Op: op, Err: err}
}

// fits reports what does not go into one buffer.
func (b *Backend) fits(bytes uint64, what, op string) error {
	if bytes <= b.dev.info.MaxAlloc {
		return nil
	}
	return b.outOfMemory(op, fmt.Errorf("%s take %d bytes, the largest buffer has %d", what, bytes, b.dev.info.MaxAlloc))
}

func (b *Backend) failAlloc(op string, err error) error {
	if errors.Is(err, ocl.ErrOutOfResources) {
		return b.outOfMemory(op, err)
	}
	return b.fail(op, err)
}
