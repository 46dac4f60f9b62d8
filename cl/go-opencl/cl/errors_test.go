package cl

import (
	"errors"
	"testing"
)

func TestToError(t *testing.T) {
	if err := toError(0); err != nil {
		t.Errorf("code 0 is %v", err)
	}
	seen := map[error]int32{}
	for code := int32(-68); code < 0; code++ {
		err := toError(code)
		if code > -30 && code < -19 { // not assigned
			if !errors.Is(err, ErrOther(code)) {
				t.Errorf("code %d is %v", code, err)
			}
			continue
		}
		if _, other := errors.AsType[ErrOther](err); other {
			t.Errorf("code %d has no variable", code)
		}
		if first, twice := seen[err]; twice {
			t.Errorf("codes %d and %d are both %v", first, code, err)
		}
		seen[err] = code
	}
	// From the table of cl.h, one at each end of the blocks.
	for code, want := range map[int32]error{
		-1: ErrDeviceNotFound, -11: ErrBuildProgramFailure, -19: ErrKernelArgInfoNotAvailable,
		-30: ErrInvalidValue, -38: ErrInvalidMemObject, -48: ErrInvalidKernel, -54: ErrInvalidWorkGroupSize,
		-57: ErrInvalidEventWaitList, -61: ErrInvalidBufferSize, -68: ErrInvalidDevicePartitionCount,
		-1001: noPlatform, -9999: ErrOther(-9999),
	} {
		if err := toError(code); !errors.Is(err, want) {
			t.Errorf("code %d is %v, want %v", code, err, want)
		}
	}
	if err := status(uintptr(0xFFFFFFC4)); !errors.Is(err, ErrInvalidGlObject) {
		t.Errorf("the low half of a register is %v", err)
	}
	if got, want := ErrOther(-9999).Error(), "cl: error -9999"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := noPlatform.Error(), "cl: error -1001 (no OpenCL platform is installed)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
