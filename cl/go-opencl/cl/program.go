package cl

import (
	"errors"
	"fmt"
	"runtime"
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
	kept    uintptr // the program of a binary that takes the place of a build, or 0
	context uintptr
	sources []string
	devices []*Device
}

// BuildProgram compiles the program for the devices, or for all devices of its
// context when there are none. When the source is at fault, the error is a BuildError.
// Compiled programs for one device are kept on disk, see the README beside the module.
func (p *Program) BuildProgram(devices []*Device, options string) error {
	if p.handle() == 0 {
		return ErrInvalidProgram
	}
	ids, err := handles(devices)
	if err != nil {
		return err
	}
	release(clReleaseProgram, &p.kept)
	targets := devices
	if len(devices) == 0 {
		targets = p.devices
	}
	if len(targets) != 1 || len(p.devices) != 1 {
		return p.compile(devices, ids, options)
	}
	key, ok := binaryKey(p.sources, options, targets[0])
	folder, found := openBinaries()
	if !ok || !found {
		return p.compile(devices, ids, options)
	}
	if binary := folder.read(key); binary != nil {
		if p.kept = p.restore(targets[0], binary, options); p.kept != 0 {
			return nil
		}
		folder.drop(key)
	}
	if err := p.compile(devices, ids, options); err != nil {
		return err
	}
	folder.write(key, p.binary())
	return nil
}

// compile builds the program from its source.
func (p *Program) compile(devices []*Device, ids []uintptr, options string) error {
	err := status(clBuildProgram.call(p.id, uintptr(len(ids)), uintptr(unsafe.Pointer(first(ids))), uintptr(unsafe.Pointer(cString(options))), 0, 0))
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

// restore returns a program that is built of a binary, or 0 if the driver refuses it.
func (p *Program) restore(d *Device, binary []byte, options string) uintptr {
	var pinner runtime.Pinner
	defer pinner.Unpin()
	data, size := &binary[0], uintptr(len(binary))
	pinner.Pin(data)
	var loaded, code int32
	id := clCreateProgramWithBinary.call(p.context, 1, uintptr(unsafe.Pointer(&d.id)), uintptr(unsafe.Pointer(&size)),
		uintptr(unsafe.Pointer(&data)), uintptr(unsafe.Pointer(&loaded)), uintptr(unsafe.Pointer(&code)))
	if created(id, code) != nil {
		return 0
	}
	if loaded != 0 || status(clBuildProgram.call(id, 1, uintptr(unsafe.Pointer(&d.id)), uintptr(unsafe.Pointer(cString(options))), 0, 0)) != nil {
		release(clReleaseProgram, &id)
		return 0
	}
	return id
}

// binary returns the binary of a program that is built for one device, nil if the driver has none.
func (p *Program) binary() []byte {
	const (
		binarySizes = 0x1165
		binaries    = 0x1166
	)
	var size uintptr
	if status(clGetProgramInfo.call(p.id, binarySizes, unsafe.Sizeof(size), uintptr(unsafe.Pointer(&size)), 0)) != nil || size == 0 || size > binaryLargest {
		return nil
	}
	binary := make([]byte, size)
	data := &binary[0]
	var pinner runtime.Pinner
	defer pinner.Unpin()
	pinner.Pin(data)
	if status(clGetProgramInfo.call(p.id, binaries, unsafe.Sizeof(data), uintptr(unsafe.Pointer(&data)), 0)) != nil {
		return nil
	}
	return binary
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
	built := p.id
	if p.kept != 0 {
		built = p.kept
	}
	id := clCreateKernel.call(built, uintptr(unsafe.Pointer(cString(name))), uintptr(unsafe.Pointer(&code)))
	if err := created(id, code); err != nil {
		return nil, err
	}
	return &Kernel{id: id}, nil
}

// Release gives the program back.
func (p *Program) Release() {
	if p != nil {
		release(clReleaseProgram, &p.kept)
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
