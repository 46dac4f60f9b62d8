package device

import (
	"context"
	"errors"
	"fmt"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/engine/file/mapped"
	"heddle/engine/plan"
)

// Fail wraps an error of the driver as *plan.DeviceError: memory errors as
// plan.ErrOutOfMemory, the rest as plan.ErrDeviceLost. A wrapped error, the fault of a
// file and the error of a context stay as they are, nil stays nil. "Out of resources" counts as lost here because drivers report it when a
// kernel has crashed; failAlloc counts it as a memory error.
func (rt *Runtime) Fail(op string, err error) error {
	if err == nil {
		return nil
	}
	var typed *plan.DeviceError
	if errors.As(err, &typed) || mapped.IsFault(err) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	kind := plan.ErrDeviceLost
	if errors.Is(err, ocl.ErrMemObjectAllocationFailure) || errors.Is(err, ocl.ErrOutOfHostMemory) ||
		errors.Is(err, ocl.ErrInvalidBufferSize) {
		kind = plan.ErrOutOfMemory
	}
	return &plan.DeviceError{Kind: kind, Device: rt.Name(), Op: op, Err: err}
}

// failAlloc is fail for steps that create objects.
func (rt *Runtime) failAlloc(op string, err error) error {
	if errors.Is(err, ocl.ErrOutOfResources) {
		return rt.OutOfMemory(op, err)
	}
	return rt.Fail(op, err)
}

// isShortage tells whether a driver that made an object lacked memory on the device.
func isShortage(err error) bool {
	return errors.Is(err, ocl.ErrMemObjectAllocationFailure) || errors.Is(err, ocl.ErrOutOfResources)
}

// OutOfMemory returns a *plan.DeviceError of kind plan.ErrOutOfMemory.
func (rt *Runtime) OutOfMemory(op string, err error) error {
	return &plan.DeviceError{Kind: plan.ErrOutOfMemory, Device: rt.Name(), Op: op, Err: err}
}

// Impossible returns an error about results that no correct kernel gives.
func (rt *Runtime) Impossible(format string, args ...any) error {
	return &plan.DeviceError{Kind: plan.ErrDeviceLost, Device: rt.Name(), Op: "reading results", Err: fmt.Errorf(format, args...)}
}

// Unfit returns an error about a limit of the device.
func (rt *Runtime) Unfit(why string) error {
	return &plan.DeviceError{Kind: plan.ErrNoDevice, Device: rt.Name(), Op: "checking limits", Err: errors.New(why)}
}

// FailedTest returns an error of a self-test.
func (rt *Runtime) FailedTest(format string, args ...any) error {
	return &plan.DeviceError{Kind: plan.ErrSelfTest, Device: rt.Name(), Op: "self-test", Err: fmt.Errorf(format, args...)}
}

// Fits refuses a buffer above the largest allocation of the device.
func (rt *Runtime) Fits(bytes uint64, what, op string) error {
	if bytes <= rt.Info.MaxAlloc {
		return nil
	}
	return rt.OutOfMemory(op, fmt.Errorf("%s take %d bytes, the largest buffer has %d", what, bytes, rt.Info.MaxAlloc))
}
