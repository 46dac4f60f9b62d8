//go:build !noopencl && !android && ((linux && (amd64 || arm64 || loong64 || ppc64le || riscv64)) || ((darwin || windows) && (amd64 || arm64)))

package cl

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"

	"github.com/ebitengine/purego"
)

// Only 64-bit architectures: OpenCL passes 64-bit flags by value, which take two argument
// slots on 32-bit architectures.

// function is one function of the OpenCL library.
type function struct {
	name  string
	addr  uintptr
	setup bool // its calls keep the floating-point mode and the handlers of memory faults
}

// serial takes every call to one locked OS thread when HEDDLE_OPENCL_SERIAL is 1.
// It is nil otherwise.
var serial chan *request

type request struct {
	addr   uintptr
	args   []uintptr
	result uintptr
	done   chan struct{}
}

// load loads the OpenCL library and resolves all functions at its first call; later calls
// return the same result.
var load = sync.OnceValue(func() error {
	lib, err := open()
	if err != nil {
		return fmt.Errorf("%w: cannot load OpenCL: %w", ErrUnsupported, err)
	}
	for _, f := range functions {
		if f.addr, err = symbol(lib, f.name); err != nil {
			return fmt.Errorf("%w: the OpenCL library is older than 1.2: %w", ErrUnsupported, err)
		}
	}
	if err := setPath(); err != nil {
		return fmt.Errorf("%w: PATH is empty, and drivers look for a linker there: %w", ErrUnsupported, err)
	}
	if os.Getenv("HEDDLE_OPENCL_SERIAL") == "1" {
		serial = make(chan *request)
		go serve(serial)
	}
	return nil
})

// open loads the library of HEDDLE_OPENCL_LIBRARY, or the first of libraries that loads.
func open() (uintptr, error) {
	paths := libraries()
	if path := os.Getenv("HEDDLE_OPENCL_LIBRARY"); path != "" {
		paths = []string{path}
	}
	defer keepFaults()()
	defer keepFloatMode()() // and the thread: dlerror knows only the errors of its own
	var failed []error
	for _, path := range paths {
		lib, err := openLibrary(path)
		if err == nil {
			return lib, nil
		}
		failed = append(failed, err)
	}
	return 0, errors.Join(failed...)
}

func serve(requests <-chan *request) {
	runtime.LockOSThread()
	for r := range requests {
		r.result, _, _ = purego.SyscallN(r.addr, r.args...)
		close(r.done)
	}
}

// call calls the function and returns its raw result. A pointer argument has to be
// converted to uintptr in the argument list itself: the directive then moves its
// object to the heap and keeps it alive until call returns.
//
//go:uintptrescapes
func (f *function) call(args ...uintptr) uintptr {
	if f.setup {
		defer keepFaults()()
		defer keepFloatMode()()
	}
	if serial == nil {
		result, _, _ := purego.SyscallN(f.addr, args...)
		return result
	}
	r := &request{addr: f.addr, args: args, done: make(chan struct{})}
	serial <- r
	<-r.done
	return r.result
}
