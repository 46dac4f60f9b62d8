package cl

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"
)

// BuildError is the compiler's log, one part for each device that failed.
type BuildError string

func (e BuildError) Error() string {
	return fmt.Sprintf("cl: build error (%s)", string(e))
}

// Program is a program with the results of its builds.
type Program struct {
	id      uintptr
	devices []*Device
}

// BuildProgram compiles the program for the devices, or for all devices of its
// context when there are none. When the source is at fault, the error is a BuildError.
func (p *Program) BuildProgram(devices []*Device, options string) error {
	if p.handle() == 0 {
		return ErrInvalidProgram
	}
	ids, err := handles(devices)
	if err != nil {
		return err
	}
	err = status(clBuildProgram.call(p.id, uintptr(len(ids)), uintptr(unsafe.Pointer(first(ids))), uintptr(unsafe.Pointer(cString(options))), 0, 0))
	if !errors.Is(err, ErrBuildProgramFailure) {
		return err
	}
	if len(devices) == 0 {
		devices = p.devices
	}
	var logs []string
	for _, d := range devices {
		if log, failed := p.buildLog(d); failed {
			logs = append(logs, d.Name()+": "+log)
		}
	}
	return BuildError(strings.Join(logs, "\n"))
}

// buildLog returns the log of the last build for the device and whether it failed.
func (p *Program) buildLog(d *Device) (log string, failed bool) {
	const (
		buildStatus  = 0x1181
		buildLog     = 0x1183
		buildSuccess = 0
	)
	var code int32
	err := status(clGetProgramBuildInfo.call(p.id, d.id, buildStatus, unsafe.Sizeof(code), uintptr(unsafe.Pointer(&code)), 0))
	if err == nil && code == buildSuccess {
		return "", false
	}
	var size uintptr
	err = status(clGetProgramBuildInfo.call(p.id, d.id, buildLog, 0, 0, uintptr(unsafe.Pointer(&size))))
	if err == nil && size > 0 {
		text := make([]byte, size)
		err = status(clGetProgramBuildInfo.call(p.id, d.id, buildLog, size, uintptr(unsafe.Pointer(&text[0])), 0))
		log = strings.TrimRight(string(text), "\x00\n ")
	}
	if err != nil {
		return fmt.Sprintf("no build log: %v", err), true
	}
	return log, true
}

// CreateKernel makes a kernel of the built program's function of that name.
func (p *Program) CreateKernel(name string) (*Kernel, error) {
	if p.handle() == 0 {
		return nil, ErrInvalidProgram
	}
	var code int32
	id := clCreateKernel.call(p.id, uintptr(unsafe.Pointer(cString(name))), uintptr(unsafe.Pointer(&code)))
	if err := created(id, code); err != nil {
		return nil, err
	}
	return &Kernel{id: id}, nil
}

// Release gives the program back.
func (p *Program) Release() {
	if p != nil {
		release(clReleaseProgram, &p.id)
	}
}

func (p *Program) handle() uintptr {
	if p == nil {
		return 0
	}
	return p.id
}

// first returns the address of the first element, nil for an empty slice: OpenCL accepts
// NULL alone as an empty list.
func first[T any](s []T) *T {
	if len(s) == 0 {
		return nil
	}
	return &s[0]
}
