// Package cl is a binding to OpenCL 1.2 with the API of
// github.com/jgillich/go-opencl/cl as of 2018-06-08, written from the Khronos
// specification. It covers platforms, devices, contexts, queues, buffers, mapped
// buffers, programs, kernels and events. The README beside the module lists its
// corrections and its environment variables.
//
// # The library
//
// The first call loads libOpenCL, without cgo. Without the library, and in a build
// without OpenCL (build tag noopencl, an operating system or an architecture that the
// loader does not support), [GetPlatforms], [GetDevices] and [CreateContext] return an
// error that wraps [ErrUnsupported] and names the cause.
//
// # Ownership
//
// Objects live until Release. There are no finalizers: they would call a driver from an
// arbitrary thread of the collector, and some drivers do not support that. Release may be
// called again, and on nil. A method of a nil or released object returns the error for an
// invalid object (ErrInvalidKernel for a Kernel, and so on).
//
// Every Enqueue method returns an Event that the caller has to release.
//
// # Concurrency
//
// As in OpenCL, all calls are safe from any goroutine, with two exceptions: the arguments
// of a kernel are state, so a Kernel belongs to one goroutine; and an object must not be
// released while another goroutine uses it.
//
// # Memory
//
// A driver keeps the pointer of a non-blocking transfer until its command is complete.
// Go does not know this pointer. Use such transfers for memory of the driver (a mapped
// buffer) or for memory that the caller has pinned with [runtime.Pinner].
package cl

import "errors"

// ErrUnsupported is the cause of errors on a machine or in a build without OpenCL. The
// text of the error gives the reason.
var ErrUnsupported = errors.New("cl: unsupported")
