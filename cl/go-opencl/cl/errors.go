package cl

import (
	"errors"
	"fmt"
)

// ErrUnknown is the error of a call that reports success without an object.
var ErrUnknown = errors.New("cl: unknown error")

// ErrOther is an error code that has no variable of its own.
type ErrOther int

// noPlatform is CL_PLATFORM_NOT_FOUND_KHR: the ICD loader found no driver.
const noPlatform = ErrOther(-1001)

func (e ErrOther) Error() string {
	if e == noPlatform {
		return "cl: error -1001 (no OpenCL platform is installed)"
	}
	return fmt.Sprintf("cl: error %d", int(e))
}

// The error codes of OpenCL 1.2.
var (
	ErrDeviceNotFound                     = errors.New("cl: device not found")
	ErrDeviceNotAvailable                 = errors.New("cl: device not available")
	ErrCompilerNotAvailable               = errors.New("cl: compiler not available")
	ErrMemObjectAllocationFailure         = errors.New("cl: mem object allocation failure")
	ErrOutOfResources                     = errors.New("cl: out of resources")
	ErrOutOfHostMemory                    = errors.New("cl: out of host memory")
	ErrProfilingInfoNotAvailable          = errors.New("cl: profiling info not available")
	ErrMemCopyOverlap                     = errors.New("cl: mem copy overlap")
	ErrImageFormatMismatch                = errors.New("cl: image format mismatch")
	ErrImageFormatNotSupported            = errors.New("cl: image format not supported")
	ErrBuildProgramFailure                = errors.New("cl: build program failure")
	ErrMapFailure                         = errors.New("cl: map failure")
	ErrMisalignedSubBufferOffset          = errors.New("cl: misaligned sub buffer offset")
	ErrExecStatusErrorForEventsInWaitList = errors.New("cl: exec status error for events in wait list")
	ErrCompileProgramFailure              = errors.New("cl: compile program failure")
	ErrLinkerNotAvailable                 = errors.New("cl: linker not available")
	ErrLinkProgramFailure                 = errors.New("cl: link program failure")
	ErrDevicePartitionFailed              = errors.New("cl: device partition failed")
	ErrKernelArgInfoNotAvailable          = errors.New("cl: kernel arg info not available")
	ErrInvalidValue                       = errors.New("cl: invalid value")
	ErrInvalidDeviceType                  = errors.New("cl: invalid device type")
	ErrInvalidPlatform                    = errors.New("cl: invalid platform")
	ErrInvalidDevice                      = errors.New("cl: invalid device")
	ErrInvalidContext                     = errors.New("cl: invalid context")
	ErrInvalidQueueProperties             = errors.New("cl: invalid queue properties")
	ErrInvalidCommandQueue                = errors.New("cl: invalid command queue")
	ErrInvalidHostPtr                     = errors.New("cl: invalid host ptr")
	ErrInvalidMemObject                   = errors.New("cl: invalid mem object")
	ErrInvalidImageFormatDescriptor       = errors.New("cl: invalid image format descriptor")
	ErrInvalidImageSize                   = errors.New("cl: invalid image size")
	ErrInvalidSampler                     = errors.New("cl: invalid sampler")
	ErrInvalidBinary                      = errors.New("cl: invalid binary")
	ErrInvalidBuildOptions                = errors.New("cl: invalid build options")
	ErrInvalidProgram                     = errors.New("cl: invalid program")
	ErrInvalidProgramExecutable           = errors.New("cl: invalid program executable")
	ErrInvalidKernelName                  = errors.New("cl: invalid kernel name")
	ErrInvalidKernelDefinition            = errors.New("cl: invalid kernel definition")
	ErrInvalidKernel                      = errors.New("cl: invalid kernel")
	ErrInvalidArgIndex                    = errors.New("cl: invalid arg index")
	ErrInvalidArgValue                    = errors.New("cl: invalid arg value")
	ErrInvalidArgSize                     = errors.New("cl: invalid arg size")
	ErrInvalidKernelArgs                  = errors.New("cl: invalid kernel args")
	ErrInvalidWorkDimension               = errors.New("cl: invalid work dimension")
	ErrInvalidWorkGroupSize               = errors.New("cl: invalid work group size")
	ErrInvalidWorkItemSize                = errors.New("cl: invalid work item size")
	ErrInvalidGlobalOffset                = errors.New("cl: invalid global offset")
	ErrInvalidEventWaitList               = errors.New("cl: invalid event wait list")
	ErrInvalidEvent                       = errors.New("cl: invalid event")
	ErrInvalidOperation                   = errors.New("cl: invalid operation")
	ErrInvalidGlObject                    = errors.New("cl: invalid gl object")
	ErrInvalidBufferSize                  = errors.New("cl: invalid buffer size")
	ErrInvalidMipLevel                    = errors.New("cl: invalid mip level")
	ErrInvalidGlobalWorkSize              = errors.New("cl: invalid global work size")
	ErrInvalidProperty                    = errors.New("cl: invalid property")
	ErrInvalidImageDescriptor             = errors.New("cl: invalid image descriptor")
	ErrInvalidCompilerOptions             = errors.New("cl: invalid compiler options")
	ErrInvalidLinkerOptions               = errors.New("cl: invalid linker options")
	ErrInvalidDevicePartitionCount        = errors.New("cl: invalid device partition count")
)

var errorCodes = map[int32]error{
	-1:  ErrDeviceNotFound,
	-2:  ErrDeviceNotAvailable,
	-3:  ErrCompilerNotAvailable,
	-4:  ErrMemObjectAllocationFailure,
	-5:  ErrOutOfResources,
	-6:  ErrOutOfHostMemory,
	-7:  ErrProfilingInfoNotAvailable,
	-8:  ErrMemCopyOverlap,
	-9:  ErrImageFormatMismatch,
	-10: ErrImageFormatNotSupported,
	-11: ErrBuildProgramFailure,
	-12: ErrMapFailure,
	-13: ErrMisalignedSubBufferOffset,
	-14: ErrExecStatusErrorForEventsInWaitList,
	-15: ErrCompileProgramFailure,
	-16: ErrLinkerNotAvailable,
	-17: ErrLinkProgramFailure,
	-18: ErrDevicePartitionFailed,
	-19: ErrKernelArgInfoNotAvailable,
	-30: ErrInvalidValue,
	-31: ErrInvalidDeviceType,
	-32: ErrInvalidPlatform,
	-33: ErrInvalidDevice,
	-34: ErrInvalidContext,
	-35: ErrInvalidQueueProperties,
	-36: ErrInvalidCommandQueue,
	-37: ErrInvalidHostPtr,
	-38: ErrInvalidMemObject,
	-39: ErrInvalidImageFormatDescriptor,
	-40: ErrInvalidImageSize,
	-41: ErrInvalidSampler,
	-42: ErrInvalidBinary,
	-43: ErrInvalidBuildOptions,
	-44: ErrInvalidProgram,
	-45: ErrInvalidProgramExecutable,
	-46: ErrInvalidKernelName,
	-47: ErrInvalidKernelDefinition,
	-48: ErrInvalidKernel,
	-49: ErrInvalidArgIndex,
	-50: ErrInvalidArgValue,
	-51: ErrInvalidArgSize,
	-52: ErrInvalidKernelArgs,
	-53: ErrInvalidWorkDimension,
	-54: ErrInvalidWorkGroupSize,
	-55: ErrInvalidWorkItemSize,
	-56: ErrInvalidGlobalOffset,
	-57: ErrInvalidEventWaitList,
	-58: ErrInvalidEvent,
	-59: ErrInvalidOperation,
	-60: ErrInvalidGlObject,
	-61: ErrInvalidBufferSize,
	-62: ErrInvalidMipLevel,
	-63: ErrInvalidGlobalWorkSize,
	-64: ErrInvalidProperty,
	-65: ErrInvalidImageDescriptor,
	-66: ErrInvalidCompilerOptions,
	-67: ErrInvalidLinkerOptions,
	-68: ErrInvalidDevicePartitionCount,
}

// status turns the cl_int that a call returns into an error.
func status(result uintptr) error { return toError(int32(result)) }

func toError(code int32) error {
	if code == 0 {
		return nil
	}
	if err, ok := errorCodes[code]; ok {
		return err
	}
	return ErrOther(code)
}
