//go:build !noopencl && !android && ((linux && (amd64 || arm64 || loong64 || ppc64le || riscv64)) || (darwin && (amd64 || arm64)))

package cl

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Only 64-bit architectures: OpenCL passes 64-bit flags by value, which take two argument
// slots on 32-bit architectures.

// function is one function of libOpenCL.
type function struct {
	name  string
	addr  uintptr
	setup bool // its calls keep the floating-point mode of the thread
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

// load loads libOpenCL and resolves all functions at its first call; later calls
// return the same result.
var load = sync.OnceValue(func() error {
	lib, err := open()
	if err != nil {
		return fmt.Errorf("%w: cannot load OpenCL: %w", ErrUnsupported, err)
	}
	for _, f := range functions {
		if f.addr, err = purego.Dlsym(lib, f.name); err != nil {
			return fmt.Errorf("%w: the OpenCL library is older than 1.2: %w", ErrUnsupported, err)
		}
	}
	if os.Getenv("PATH") == "" {
		if err := setPath(); err != nil {
			return fmt.Errorf("%w: PATH is empty, and drivers look for a linker there: %w", ErrUnsupported, err)
		}
	}
	if os.Getenv("HEDDLE_OPENCL_SERIAL") == "1" {
		serial = make(chan *request)
		go serve(serial)
	}
	return nil
})

func open() (uintptr, error) {
	paths := []string{"libOpenCL.so.1", "libOpenCL.so"}
	if runtime.GOOS == "darwin" {
		paths = []string{"/System/Library/Frameworks/OpenCL.framework/OpenCL"}
	}
	if path := os.Getenv("HEDDLE_OPENCL_LIBRARY"); path != "" {
		paths = []string{path}
	}
	// dlerror, which Dlopen asks for the text, knows only its own thread's errors.
	defer keepFloatMode()()
	var failed []error
	for _, path := range paths {
		lib, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
		if err == nil {
			return lib, nil
		}
		failed = append(failed, err)
	}
	return 0, errors.Join(failed...)
}

// setPath gives drivers a PATH where there is none: PoCL starts the linker ld and aborts the
// process if it does not find it. os.Setenv does not reach C without cgo.
func setPath() error {
	setenv, err := purego.Dlsym(purego.RTLD_DEFAULT, "setenv")
	if err != nil {
		return err
	}
	name, path := []byte("PATH\x00"), []byte("/usr/local/bin:/usr/bin:/bin\x00")
	purego.SyscallN(setenv, uintptr(unsafe.Pointer(&name[0])), uintptr(unsafe.Pointer(&path[0])), 1)
	return nil
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
