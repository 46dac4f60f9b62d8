package cl

import (
	"errors"
	"fmt"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/engine/plan"
)

// fail wraps an error of the driver as *plan.DeviceError: memory errors as
// plan.ErrOutOfMemory, the rest as plan.ErrDeviceLost. A wrapped error stays as it is, nil
// stays nil. "Out of resources" counts as lost here because drivers report it when a
// kernel has crashed; failAlloc counts it as a memory error.
func (rt *opened) fail(op string, err error) error {
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
	return &plan.DeviceError{Kind: kind, Device: rt.name(), Op: op, Err: err}
}

// failAlloc is fail for steps that create objects.
func (rt *opened) failAlloc(op string, err error) error {
	if errors.Is(err, ocl.ErrOutOfResources) {
		return rt.outOfMemory(op, err)
	}
	return rt.fail(op, err)
}

// outOfMemory returns a *plan.DeviceError of kind plan.ErrOutOfMemory.
func (rt *opened) outOfMemory(op string, err error) error {
	return &plan.DeviceError{Kind: plan.ErrOutOfMemory, Device: rt.name(), Op: op, Err: err}
}

// impossible returns an error about results that no correct kernel gives.
func (rt *opened) impossible(format string, args ...any) error {
	return &plan.DeviceError{Kind: plan.ErrDeviceLost, Device: rt.name(), Op: "reading results", Err: fmt.Errorf(format, args...)}
}

// unfit returns an error about a limit of the device.
func (rt *opened) unfit(why string) error {
	return &plan.DeviceError{Kind: plan.ErrNoDevice, Device: rt.name(), Op: "checking limits", Err: errors.New(why)}
}

// failedTest returns an error of a self-test.
func (rt *opened) failedTest(format string, args ...any) error {
	return &plan.DeviceError{Kind: plan.ErrSelfTest, Device: rt.name(), Op: "self-test", Err: fmt.Errorf(format, args...)}
}

// fits refuses a buffer above the largest allocation of the device.
func (rt *opened) fits(bytes uint64, what, op string) error {
	if bytes <= rt.info.MaxAlloc {
		return nil
	}
	return rt.outOfMemory(op, fmt.Errorf("%s take %d bytes, the largest buffer has %d", what, bytes, rt.info.MaxAlloc))
}
