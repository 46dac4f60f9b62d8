// Package cl is a binding to OpenCL 1.2 with the API of
// github.com/jgillich/go-opencl/cl as of 2018-06-08, written from the Khronos
// specification. It covers platforms, devices, contexts, queues, buffers, mapped
// buffers, programs, kernels and events. The README beside the module lists its
// corrections and its environment variables.
//
// # The library
//
// libOpenCL is loaded at the first call, without cgo. On a machine without it,
// and in a build without OpenCL (build tag noopencl, an operating system or an
// architecture that the loader does not know), [GetPlatforms], [GetDevices] and
// [CreateContext] return an error that wraps [ErrUnsupported] and names the cause.
//
// # Ownership
//
// Objects live until Release. There are no finalizers: a driver would be called
// from whatever thread the collector runs on, and some drivers do not bear that.
// Release may be called again, and on nil. A method of a nil or released object
// returns the error for an invalid object (ErrInvalidKernel for a Kernel, and so on).
//
// Every Enqueue method returns an Event that the caller has to release.
//
// # Concurrency
//
// As in OpenCL: all calls are safe from any goroutine, except that one kernel's
// arguments are state (a Kernel belongs to one goroutine) and that an object must
// not be released while another goroutine uses it.
//
// # Memory
//
// A driver keeps the pointer of a non-blocking transfer until its command is
// complete, which Go does not see. Such transfers are for memory of the driver
// (a mapped buffer) or for memory that the caller has pinned with [runtime.Pinner].
package cl

import "errors"

// ErrUnsupported says that this machine or this build has no OpenCL. The text of
// the errors that wrap it gives the reason.
var ErrUnsupported = errors.New("cl: unsupported")
