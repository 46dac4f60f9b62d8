//go:build cgo

package main

// #include <stdlib.h>
// #include "types.h"
// #include "const.h"
import "C"

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"time"
	"unsafe"

	"heddle/engine"
	"heddle/engine/capi/handle"
	"heddle/engine/failure"
)

// version is the version of a release, which the linker sets (.ci/dist).
var version = "0.0.0"

// open has the values of all handles.
var open handle.Table

// problem is an error of a call with a code that the engine does not have.
type problem struct {
	code C.int32_t
	text string
}

func (p *problem) Error() string { return p.text }

// invalid is the error of an argument.
func invalid(format string, args ...any) error {
	return &problem{C.HEDDLE_INVALID_ARGUMENT, fmt.Sprintf(format, args...)}
}

// short is the error of a buffer without room.
func short(format string, args ...any) error {
	return &problem{C.HEDDLE_SHORT_BUFFER, fmt.Sprintf(format, args...)}
}

// codes are the numbers of the engine's codes in C, which stay as they are.
var codes = map[failure.Code]C.int32_t{
	failure.OK:              C.HEDDLE_OK,
	failure.InvalidQuery:    C.HEDDLE_INVALID_QUERY,
	failure.InvalidOption:   C.HEDDLE_INVALID_OPTION,
	failure.NotFound:        C.HEDDLE_NOT_FOUND,
	failure.NoDevice:        C.HEDDLE_NO_DEVICE,
	failure.Overloaded:      C.HEDDLE_OVERLOADED,
	failure.Deadline:        C.HEDDLE_DEADLINE,
	failure.Canceled:        C.HEDDLE_CANCELED,
	failure.OutOfMemory:     C.HEDDLE_OUT_OF_MEMORY,
	failure.Corrupt:         C.HEDDLE_CORRUPT,
	failure.Unsupported:     C.HEDDLE_UNSUPPORTED,
	failure.Closed:          C.HEDDLE_CLOSED,
	failure.Unauthenticated: C.HEDDLE_UNAUTHENTICATED,
	failure.Forbidden:       C.HEDDLE_FORBIDDEN,
	failure.Gone:            C.HEDDLE_GONE,
	failure.DiskFull:        C.HEDDLE_DISK_FULL,
	failure.Unavailable:     C.HEDDLE_UNAVAILABLE,
	failure.Internal:        C.HEDDLE_INTERNAL,
}

// codeOf is the code of an error for C.
func codeOf(err error) C.int32_t {
	var p *problem
	switch {
	case errors.As(err, &p):
		return p.code
	case errors.Is(err, handle.ErrUnknown):
		return C.HEDDLE_INVALID_HANDLE
	case errors.Is(err, handle.ErrClosed):
		return C.HEDDLE_CLOSED
	default:
		return codes[engine.CodeOf(err)]
	}
}

// call runs the work of a function of the library and reports its error. A panic is an error: it must not end the
// program of the caller.
func call(e *C.heddle_error, work func() error) (code C.int32_t) {
	defer func() {
		if r := recover(); r != nil {
			code = report(e, fmt.Errorf("panic: %v\n%s", r, debug.Stack()))
		}
	}()
	return report(e, work())
}

func report(e *C.heddle_error, err error) C.int32_t {
	code := codeOf(err)
	if e == nil {
		return code
	}
	e.code, e.text[0] = code, 0
	if err != nil {
		to := unsafe.Slice((*byte)(unsafe.Pointer(&e.text[0])), len(e.text))
		to[copy(to[:len(to)-1], err.Error())] = 0
	}
	return code
}

// text is the string of C; empty for NULL.
func text(s *C.const_char) string { return C.GoString((*C.char)(s)) }

// array views memory of the caller.
func array[V, P any](p *P, n uint64) []V {
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*V)(unsafe.Pointer(p)), n)
}

// give copies bytes to memory of C.
func give(to *C.heddle_bytes, from []byte) {
	to.data, to.size = nil, C.uint64_t(len(from))
	if len(from) > 0 {
		to.data = (*C.uint8_t)(C.CBytes(from))
	}
}

// stopper ends calls: the value behind a token.
type stopper struct {
	context.Context
	cancel context.CancelFunc
}

func (t *stopper) Close() error {
	t.cancel()
	return nil
}

// limits returns the context of a call. The caller calls done at the end.
func limits(c *C.const_control) (ctx context.Context, done func(), err error) {
	ctx, done = context.Background(), func() {}
	if c == nil {
		return ctx, done, nil
	}
	if c.token != 0 {
		// Close of a token cancels its calls, so it must not wait for them: the handle is not kept in use.
		t, release, err := handle.Use[*stopper](&open, uint64(c.token))
		if err != nil {
			return nil, nil, fmt.Errorf("token: %w", err)
		}
		release()
		ctx = t
	}
	if c.timeout_ns < 0 {
		return nil, nil, invalid("timeout_ns is %d, less than 0", int64(c.timeout_ns))
	}
	if c.timeout_ns > 0 {
		ctx, done = context.WithTimeout(ctx, time.Duration(c.timeout_ns))
	}
	return ctx, done, nil
}

// use runs work with the value of a handle, within the limits of the call.
func use[V any](h C.heddle_handle, c *C.const_control, e *C.heddle_error, work func(ctx context.Context, value V) error) C.int32_t {
	return call(e, func() error {
		value, release, err := handle.Use[V](&open, uint64(h))
		if err != nil {
			return err
		}
		defer release()
		ctx, done, err := limits(c)
		if err != nil {
			return err
		}
		defer done()
		return work(ctx, value)
	})
}

// opened opens a value that an owner owns, and stores its handle.
func opened[V any](owner C.heddle_handle, to *C.heddle_handle, c *C.const_control, e *C.heddle_error, work func(context.Context, V) (io.Closer, error)) C.int32_t {
	return use(owner, c, e, func(ctx context.Context, v V) error {
		if to == nil {
			return invalid("the pointer to the new handle is NULL")
		}
		value, err := work(ctx, v)
		if err == nil {
			*to = C.heddle_handle(open.Add(uint64(owner), value))
		}
		return err
	})
}

func init() {
	for code, number := range codes {
		C.heddle_texts[number] = C.CString(code.String())
	}
	C.heddle_texts[C.HEDDLE_INVALID_HANDLE] = C.CString("invalid_handle")
	C.heddle_texts[C.HEDDLE_INVALID_ARGUMENT] = C.CString("invalid_argument")
	C.heddle_texts[C.HEDDLE_SHORT_BUFFER] = C.CString("short_buffer")
	C.heddle_texts[C.heddle_texts_version] = C.CString(version)
}
